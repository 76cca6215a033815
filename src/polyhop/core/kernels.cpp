// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/kernels.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "polyhop/core/rows.hpp"

// One source, three instruction sets, chosen at load time. The arithmetic is the same fused multiply-add in
// each, so the bits are too. Sanitizers run before the choice can be made, other compilers lack the attribute.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(POLYHOP_NO_CLONES)
#define POLYHOP_HAS_CLONES
#define POLYHOP_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define POLYHOP_CLONES
#endif
// Pieces of a cloned function must be compiled for the clone's instruction set: never called, always inlined.
#define POLYHOP_INLINE inline __attribute__((always_inline))
// No vector crosses a real function call, so that its calling convention does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace polyhop::kernels {
namespace {

// Some lanes in one register. The compiler's own vectors, because plain loops over an array of lanes end up in memory
// or in scalar code as soon as they stand inside other loops (g++ 12).
constexpr int vector_bytes = 32;
template <class T>
constexpr int width = vector_bytes / static_cast<int>(sizeof(T));
template <class T>
struct VectorOf;
template <>
struct VectorOf<double> {
  using Type = double __attribute__((vector_size(vector_bytes)));
};
template <>
struct VectorOf<float> {
  using Type = float __attribute__((vector_size(vector_bytes)));
};
template <class T>
using Vector = typename VectorOf<T>::Type;
using Quad = Vector<double>;
using Oct = Vector<float>;
using Pair = double __attribute__((vector_size(2 * sizeof(double))));
static_assert(4 * width<double> == lanes && 2 * width<double> == Rows::line);
static_assert(2 * width<float> == lanes && lanes == Rows::line_of(Element::float32));

template <class T>
POLYHOP_INLINE Vector<T> load(const T* x) {
  Vector<T> out;
  std::memcpy(&out, x, sizeof out);
  return out;
}

template <class T>
POLYHOP_INLINE void store(const Vector<T>& vector, T* x) {
  std::memcpy(x, &vector, sizeof vector);
}

POLYHOP_INLINE Quad fma(const Quad& a, const Quad& b, const Quad& c) {
  Quad out;
  for (int l = 0; l < width<double>; ++l) out[l] = std::fma(a[l], b[l], c[l]);
  return out;
}

POLYHOP_INLINE Oct fma(const Oct& a, const Oct& b, const Oct& c) {
  Oct out;
  for (int l = 0; l < width<float>; ++l) out[l] = std::fma(a[l], b[l], c[l]);
  return out;
}

POLYHOP_INLINE Quad all(double x) { return Quad{x, x, x, x}; }
POLYHOP_INLINE Oct all(float x) { return Oct{x, x, x, x, x, x, x, x}; }

// The partial sums of a reduction: lanes 0-3, 4-7, 8-11, 12-15.
struct WideLanes {
  Quad a = {};
  Quad b = {};
  Quad c = {};
  Quad d = {};

  // By the fixed tree.
  [[nodiscard]] POLYHOP_INLINE double total() const {
    const Quad s = (a + c) + (b + d);
    const Pair p = __builtin_shufflevector(s, s, 0, 1) + __builtin_shufflevector(s, s, 2, 3);
    return p[0] + p[1];
  }
};

// What a reduction adds up, `lanes` numbers at a time (`add`); of float, at most float_run of them before a `pause`.
// And `add_half`, for the last line of a row whose number of lines is odd.
template <class T>
struct Lanes;

template <>
struct Lanes<double> : WideLanes {
  POLYHOP_INLINE void add(const double* x, const double* y) {
    a = fma(load(x), load(y), a);
    b = fma(load(x + 4), load(y + 4), b);
    c = fma(load(x + 8), load(y + 8), c);
    d = fma(load(x + 12), load(y + 12), d);
  }
  POLYHOP_INLINE void add_half(const double* x, const double* y) {
    a = fma(load(x), load(y), a);
    b = fma(load(x + 4), load(y + 4), b);
  }
  POLYHOP_INLINE void pause() {}
};

template <>
struct Lanes<float> {
  Oct low = {};   // lanes 0-7
  Oct high = {};  // lanes 8-15
  WideLanes sum;

  POLYHOP_INLINE void add(const float* x, const float* y) {
    low = fma(load(x), load(y), low);
    high = fma(load(x + 8), load(y + 8), high);
  }
  POLYHOP_INLINE void add_half(const float*, const float*) {}  // a line is all lanes
  POLYHOP_INLINE void pause() {
    sum.a += Quad{low[0], low[1], low[2], low[3]};
    sum.b += Quad{low[4], low[5], low[6], low[7]};
    sum.c += Quad{high[0], high[1], high[2], high[3]};
    sum.d += Quad{high[4], high[5], high[6], high[7]};
    low = Oct{};
    high = Oct{};
  }
  [[nodiscard]] POLYHOP_INLINE double total() {
    pause();
    return sum.total();
  }
};

// add(j) for j = 0, lanes, ... as long as whole lanes lie before `end`, with a pause after every run where there is
// one; returns where it stopped.
template <class T, class Add, class Pause>
POLYHOP_INLINE Index in_runs(Index end, Add add, Pause pause) {
  Index j = 0;
  if constexpr (std::is_same_v<T, double>) {
    for (; j + lanes <= end; j += lanes) add(j);
  } else {
    while (j < end) {
      const Index stop = end - j > float_run ? j + float_run : end;
      for (; j < stop; j += lanes) add(j);
      pause();
    }
  }
  return j;
}

template <class T>
POLYHOP_INLINE double row_dot(const T* x, const T* y, Index n) {
  const Index end = Rows::padded(n, element_of<T>);
  Lanes<T> sum;
  const Index j = in_runs<T>(
      end, [&](Index at) __attribute__((always_inline)) { sum.add(x + at, y + at); },
      [&]() __attribute__((always_inline)) { sum.pause(); });
  if (j < end) sum.add_half(x + j, y + j);
  return sum.total();
}

template <class T>
POLYHOP_INLINE double row_distance(const T* x, const T* y, Index n) {
  const Index end = Rows::padded(n, element_of<T>);
  Lanes<T> sum;
  T difference[lanes];
  const auto subtract = [&](Index j, int count) __attribute__((always_inline)) {
    for (int l = 0; l < count; l += width<T>) store<T>(load(x + j + l) - load(y + j + l), difference + l);
  };
  const Index j = in_runs<T>(
      end,
      [&](Index at) __attribute__((always_inline)) {
        subtract(at, lanes);
        sum.add(difference, difference);
      },
      [&]() __attribute__((always_inline)) { sum.pause(); });
  if (j < end) {
    subtract(j, lanes / 2);
    sum.add_half(difference, difference);
  }
  return sum.total();
}

}  // namespace

const char* instruction_set() {
#ifdef POLYHOP_HAS_CLONES
  // As the loader's own choice between the clones.
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
#endif
  return "default";
}

POLYHOP_CLONES double dot(const double* x, const double* y, Index n) { return row_dot(x, y, n); }
POLYHOP_CLONES double dot(const float* x, const float* y, Index n) { return row_dot(x, y, n); }

POLYHOP_CLONES double squared_distance(const double* x, const double* y, Index n) { return row_distance(x, y, n); }
POLYHOP_CLONES double squared_distance(const float* x, const float* y, Index n) { return row_distance(x, y, n); }

POLYHOP_CLONES void scale(double a, const double* x, double* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = a * x[j];
}
POLYHOP_CLONES void scale(double factor, const float* x, float* out, Index n) {
  const auto a = static_cast<float>(factor);
  for (Index j = 0; j < n; ++j) out[j] = a * x[j];
}

POLYHOP_CLONES void add_scaled(double a, const double* x, const double* y, double* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, x[j], y[j]);
}
POLYHOP_CLONES void add_scaled(double factor, const float* x, const float* y, float* out, Index n) {
  const auto a = static_cast<float>(factor);
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, x[j], y[j]);
}
POLYHOP_CLONES void add_scaled(double a, const float* x, const double* y, double* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, static_cast<double>(x[j]), y[j]);
}

POLYHOP_CLONES void add_difference(double a, const double* x, const double* y, double* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, x[j] - y[j], out[j]);
}
POLYHOP_CLONES void add_difference(double factor, const float* x, const float* y, float* out, Index n) {
  const auto a = static_cast<float>(factor);
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, x[j] - y[j], out[j]);
}

namespace {

template <class T>
POLYHOP_INLINE void moments_of(double b1, double b2, double s, const T* h, T* m, T* v, Index n) {
  for (Index j = 0; j < n; ++j) {
    const double g = s * static_cast<double>(h[j]);
    m[j] = static_cast<T>(std::fma(1 - b1, g, b1 * static_cast<double>(m[j])));
    v[j] = static_cast<T>(std::fma((1 - b2) * g, g, b2 * static_cast<double>(v[j])));
  }
}

template <class T>
POLYHOP_INLINE void raise_to(double b, const T* v, T* u, Index n) {
  for (Index j = 0; j < n; ++j) {
    u[j] =
        static_cast<T>(std::fma(1 - b, static_cast<double>(u[j] < v[j] ? v[j] : u[j]), b * static_cast<double>(u[j])));
  }
}

template <class T>
POLYHOP_INLINE void fold_to(const T* x, const T* s, Index n, double* out) {
  double sum[folds] = {};
  const Index whole = n / folds * folds;
  for (Index m = 0; m < whole; m += folds) {
    for (Index j = 0; j < folds; ++j) sum[j] += static_cast<double>(x[m + j]) * static_cast<double>(s[m + j]);
  }
  for (Index m = whole; m < n; ++m) sum[m - whole] += static_cast<double>(x[m]) * static_cast<double>(s[m]);
  for (Index j = 0; j < folds; ++j) out[j] = sum[j];
}

template <class T>
POLYHOP_INLINE void take_scaled_step(double a, const T* m, const T* u, double floor, double shift, const T* x, T* out,
                                     Index n) {
  for (Index j = 0; j < n; ++j) {
    const auto square = static_cast<double>(u[j]);
    out[j] = static_cast<T>(static_cast<double>(x[j]) -
                            a * static_cast<double>(m[j]) / (std::sqrt(square < floor ? floor : square) + shift));
  }
}

}  // namespace

POLYHOP_CLONES void moments(double b1, double b2, double s, const double* h, double* m, double* v, Index n) {
  moments_of(b1, b2, s, h, m, v, n);
}
POLYHOP_CLONES void moments(double b1, double b2, double s, const float* h, float* m, float* v, Index n) {
  moments_of(b1, b2, s, h, m, v, n);
}

POLYHOP_CLONES void raise(double b, const double* v, double* u, Index n) { raise_to(b, v, u, n); }
POLYHOP_CLONES void raise(double b, const float* v, float* u, Index n) { raise_to(b, v, u, n); }

POLYHOP_CLONES void fold(const double* x, const double* s, Index n, double* out) { fold_to(x, s, n, out); }
POLYHOP_CLONES void fold(const float* x, const float* s, Index n, double* out) { fold_to(x, s, n, out); }

POLYHOP_CLONES void scaled_step(double a, const double* m, const double* u, double floor, double shift, const double* x,
                                double* out, Index n) {
  take_scaled_step(a, m, u, floor, shift, x, out, n);
}
POLYHOP_CLONES void scaled_step(double a, const float* m, const float* u, double floor, double shift, const float* x,
                                float* out, Index n) {
  take_scaled_step(a, m, u, floor, shift, x, out, n);
}

namespace {

// `vectors` * width columns of one row of out, kept in registers over all entries.
template <int vectors, class T>
POLYHOP_INLINE void combine_columns(const SparseView& a, Index begin, Index end, const T* x, Index x_stride, T* out) {
  Vector<T> sum[vectors] = {};
  for (Index e = begin; e < end; ++e) {
    const Vector<T> weight = all(static_cast<T>(a.weight[e]));
    const T* source = x + a.slot[e] * x_stride;
#pragma GCC unroll 8
    for (int q = 0; q < vectors; ++q) sum[q] = fma(weight, load(source + q * width<T>), sum[q]);
  }
#pragma GCC unroll 8
  for (int q = 0; q < vectors; ++q) store<T>(sum[q], out + q * width<T>);
}

template <class T>
POLYHOP_INLINE void combine_rows(const SparseView& a, const std::int32_t* rows, Index count, const T* x, Index x_stride,
                                 Index columns, T* out, Index out_stride) {
  constexpr int vectors = 8;
  const Index right = Rows::padded(columns, element_of<T>);
  for (Index n = 0; n < count; ++n) {
    const Index r = rows[n];
    const Index begin = a.offset[r];
    const Index end = a.offset[r + 1];
    T* to = out + r * out_stride;
    Index j = 0;
    for (; j + vectors * width<T> <= right; j += vectors * width<T>) {
      combine_columns<vectors>(a, begin, end, x + j, x_stride, to + j);
    }
    for (; j < right; j += 2 * width<T>) combine_columns<2>(a, begin, end, x + j, x_stride, to + j);
  }
}

template <class T>
POLYHOP_INLINE void pairwise_dots(const SparseView& pattern, Index rows, const void* const* x, const T* y,
                                  Index y_stride, Index columns, const Index* mirror, double* out) {
  for (Index r = 0; r < rows; ++r) {
    for (Index e = pattern.offset[r]; e < pattern.offset[r + 1]; ++e) {
      const bool known = mirror != nullptr && mirror[e] >= 0;
      out[e] = known ? out[mirror[e]] : row_dot(static_cast<const T*>(x[r]), y + pattern.slot[e] * y_stride, columns);
    }
  }
}

}  // namespace

POLYHOP_CLONES void combine(const SparseView& a, const std::int32_t* rows, Index count, const double* x, Index x_stride,
                            Index columns, double* out, Index out_stride) {
  combine_rows(a, rows, count, x, x_stride, columns, out, out_stride);
}
POLYHOP_CLONES void combine(const SparseView& a, const std::int32_t* rows, Index count, const float* x, Index x_stride,
                            Index columns, float* out, Index out_stride) {
  combine_rows(a, rows, count, x, x_stride, columns, out, out_stride);
}

POLYHOP_CLONES void pairwise(const SparseView& pattern, Index rows, const void* const* x, const double* y,
                             Index y_stride, Index columns, const Index* mirror, double* out) {
  pairwise_dots(pattern, rows, x, y, y_stride, columns, mirror, out);
}
POLYHOP_CLONES void pairwise(const SparseView& pattern, Index rows, const void* const* x, const float* y,
                             Index y_stride, Index columns, const Index* mirror, double* out) {
  pairwise_dots(pattern, rows, x, y, y_stride, columns, mirror, out);
}

namespace {

// A tile of `height` rows and product_tile points.
template <int height, class T>
POLYHOP_INLINE void product_tile_of(const T* h, Index h_stride, const double* wt, Index wt_stride, Index columns,
                                    double* out, Index out_stride) {
  constexpr int quads = product_tile / width<double>;
  Quad sum[height][quads] = {};
  for (Index j = 0; j < columns; ++j) {
#pragma GCC unroll 8
    for (int r = 0; r < height; ++r) {
      const Quad feature = all(static_cast<double>(h[r * h_stride + j]));
#pragma GCC unroll 8
      for (int q = 0; q < quads; ++q) {
        sum[r][q] = fma(feature, load(wt + j * wt_stride + q * width<double>), sum[r][q]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < height; ++r) {
#pragma GCC unroll 8
    for (int q = 0; q < quads; ++q) store<double>(sum[r][q], out + r * out_stride + q * width<double>);
  }
}

template <class T>
POLYHOP_INLINE void tiled_products(const T* h, Index h_stride, Index rows, const double* wt, Index wt_stride,
                                   Index points, Index columns, double* out, Index out_stride) {
  constexpr int height = 3;
  for (Index p = 0; p < points; p += product_tile) {
    Index r = 0;
    for (; r + height <= rows; r += height) {
      product_tile_of<height>(h + r * h_stride, h_stride, wt + p, wt_stride, columns, out + r * out_stride + p,
                              out_stride);
    }
    for (; r < rows; ++r) {
      product_tile_of<1>(h + r * h_stride, h_stride, wt + p, wt_stride, columns, out + r * out_stride + p, out_stride);
    }
  }
}

// `height` rows against one block.
template <int height, class T>
POLYHOP_INLINE void dots_with_block(const T* const* x, const T* y, Index n, double* out, Index out_stride) {
  constexpr Index line = Rows::line_of(element_of<T>);
  const Index whole = n / line * line;
  Lanes<T> sum[height];
  const Index j = in_runs<T>(
      whole,
      [&](Index at) __attribute__((always_inline)) {
#pragma GCC unroll 4
        for (int r = 0; r < height; ++r) sum[r].add(x[r] + at, y + at);
      },
      [&]() __attribute__((always_inline)) {
#pragma GCC unroll 4
        for (int r = 0; r < height; ++r) sum[r].pause();
      });
#pragma GCC unroll 4
  for (int r = 0; r < height; ++r) {
    if (j < whole) sum[r].add_half(x[r] + j, y + j);
    double total = sum[r].total();
    for (Index rest = whole; rest < n; ++rest) {
      total = std::fma(static_cast<double>(x[r][rest]), static_cast<double>(y[rest]), total);
    }
    out[r * out_stride] = total;
  }
}

template <class T>
POLYHOP_INLINE void dots_with_blocks(const T* const* x, Index rows, const T* y, Index blocks, Index n, double* out) {
  constexpr int height = 3;  // rows that stay in the first cache while the blocks pass by
  Index r = 0;
  for (; r + height <= rows; r += height) {
    for (Index c = 0; c < blocks; ++c) {
      dots_with_block<height>(x + r, y + c * n, n, out + r * blocks + c, blocks);
    }
  }
  for (; r < rows; ++r) {
    for (Index c = 0; c < blocks; ++c) dots_with_block<1>(x + r, y + c * n, n, out + r * blocks + c, blocks);
  }
}

// One block += `height` rows, each times its factor.
template <int height, class T>
POLYHOP_INLINE void add_to_block(const double* a, Index a_stride, const T* const* x, Index n, T* out) {
  Vector<T> factor[height];
#pragma GCC unroll 4
  for (int r = 0; r < height; ++r) factor[r] = all(static_cast<T>(a[r * a_stride]));
  Index j = 0;
  for (; j + width<T> <= n; j += width<T>) {
    Vector<T> sum = load(out + j);
#pragma GCC unroll 4
    for (int r = 0; r < height; ++r) sum = fma(factor[r], load(x[r] + j), sum);
    store<T>(sum, out + j);
  }
  for (; j < n; ++j) {
    for (int r = 0; r < height; ++r) out[j] = std::fma(static_cast<T>(a[r * a_stride]), x[r][j], out[j]);
  }
}

template <class T>
POLYHOP_INLINE void add_to_blocks(const double* a, const T* const* x, Index rows, Index blocks, Index n, T* out) {
  constexpr int height = 4;
  Index r = 0;
  for (; r + height <= rows; r += height) {
    for (Index c = 0; c < blocks; ++c) add_to_block<height>(a + r * blocks + c, blocks, x + r, n, out + c * n);
  }
  for (; r < rows; ++r) {
    for (Index c = 0; c < blocks; ++c) add_to_block<1>(a + r * blocks + c, blocks, x + r, n, out + c * n);
  }
}

}  // namespace

POLYHOP_CLONES void products(const double* h, Index h_stride, Index rows, const double* wt, Index wt_stride,
                             Index points, Index columns, double* out, Index out_stride) {
  tiled_products(h, h_stride, rows, wt, wt_stride, points, columns, out, out_stride);
}
POLYHOP_CLONES void products(const float* h, Index h_stride, Index rows, const double* wt, Index wt_stride,
                             Index points, Index columns, double* out, Index out_stride) {
  tiled_products(h, h_stride, rows, wt, wt_stride, points, columns, out, out_stride);
}

POLYHOP_CLONES void block_dots(const double* const* x, Index rows, const double* y, Index blocks, Index n,
                               double* out) {
  dots_with_blocks(x, rows, y, blocks, n, out);
}
POLYHOP_CLONES void block_dots(const float* const* x, Index rows, const float* y, Index blocks, Index n, double* out) {
  dots_with_blocks(x, rows, y, blocks, n, out);
}

POLYHOP_CLONES void add_blocks(const double* a, const double* const* x, Index rows, Index blocks, Index n,
                               double* out) {
  add_to_blocks(a, x, rows, blocks, n, out);
}
POLYHOP_CLONES void add_blocks(const double* a, const float* const* x, Index rows, Index blocks, Index n, float* out) {
  add_to_blocks(a, x, rows, blocks, n, out);
}

}  // namespace polyhop::kernels

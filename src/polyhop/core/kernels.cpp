// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/kernels.hpp"

#include <cmath>
#include <cstring>

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

// Four lanes in one register. The compiler's own vectors, because plain loops over an array of lanes end up in
// memory or in scalar code as soon as they stand inside other loops (g++ 12).
constexpr int width = 4;
using Quad = double __attribute__((vector_size(width * sizeof(double))));
using Pair = double __attribute__((vector_size(2 * sizeof(double))));
static_assert(4 * width == lanes && 2 * width == Rows::line);

POLYHOP_INLINE Quad load(const Real* x) {
  Quad quad;
  std::memcpy(&quad, x, sizeof quad);
  return quad;
}

POLYHOP_INLINE void store(const Quad& quad, Real* x) { std::memcpy(x, &quad, sizeof quad); }

POLYHOP_INLINE Quad fma(const Quad& a, const Quad& b, const Quad& c) {
  Quad out;
  for (int l = 0; l < width; ++l) out[l] = std::fma(a[l], b[l], c[l]);
  return out;
}

// The partial sums of a reduction: lanes 0-3, 4-7, 8-11, 12-15.
struct Lanes {
  Quad a = {};
  Quad b = {};
  Quad c = {};
  Quad d = {};

  POLYHOP_INLINE void add_products(const Real* x, const Real* y) {
    a = fma(load(x), load(y), a);
    b = fma(load(x + width), load(y + width), b);
    c = fma(load(x + 2 * width), load(y + 2 * width), c);
    d = fma(load(x + 3 * width), load(y + 3 * width), d);
  }
  // For the last line of a row whose number of lines is odd.
  POLYHOP_INLINE void add_half(const Real* x, const Real* y) {
    a = fma(load(x), load(y), a);
    b = fma(load(x + width), load(y + width), b);
  }
  // By the fixed tree.
  [[nodiscard]] POLYHOP_INLINE double total() const {
    const Quad s = (a + c) + (b + d);
    const Pair p = __builtin_shufflevector(s, s, 0, 1) + __builtin_shufflevector(s, s, 2, 3);
    return p[0] + p[1];
  }
};

POLYHOP_INLINE double row_dot(const Real* x, const Real* y, Index n) {
  const Index end = Rows::padded(n);
  Lanes sum;
  Index j = 0;
  for (; j + lanes <= end; j += lanes) sum.add_products(x + j, y + j);
  if (j < end) sum.add_half(x + j, y + j);
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

POLYHOP_CLONES double dot(const Real* x, const Real* y, Index n) { return row_dot(x, y, n); }

POLYHOP_CLONES double squared_distance(const Real* x, const Real* y, Index n) {
  const Index end = Rows::padded(n);
  Lanes sum;
  Real difference[lanes];
  const auto subtract = [&](Index j, int count) __attribute__((always_inline)) {
    for (int l = 0; l < count; l += width) store(load(x + j + l) - load(y + j + l), difference + l);
  };
  Index j = 0;
  for (; j + lanes <= end; j += lanes) {
    subtract(j, lanes);
    sum.add_products(difference, difference);
  }
  if (j < end) {
    subtract(j, lanes / 2);
    sum.add_half(difference, difference);
  }
  return sum.total();
}

POLYHOP_CLONES void scale(Real a, const Real* x, Real* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = a * x[j];
}

POLYHOP_CLONES void add_scaled(Real a, const Real* x, const Real* y, Real* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, x[j], y[j]);
}

POLYHOP_CLONES void add_difference(Real a, const Real* x, const Real* y, Real* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, x[j] - y[j], out[j]);
}

POLYHOP_CLONES void moments(Real b1, Real b2, Real s, const Real* h, Real* m, Real* v, Index n) {
  for (Index j = 0; j < n; ++j) {
    const Real g = s * h[j];
    m[j] = std::fma(1 - b1, g, b1 * m[j]);
    v[j] = std::fma((1 - b2) * g, g, b2 * v[j]);
  }
}

POLYHOP_CLONES void raise(Real b, const Real* v, Real* u, Index n) {
  for (Index j = 0; j < n; ++j) u[j] = std::fma(1 - b, u[j] < v[j] ? v[j] : u[j], b * u[j]);
}

POLYHOP_CLONES void scaled_step(Real a, const Real* m, const Real* u, Real floor, Real shift, const Real* x, Real* out,
                                Index n) {
  for (Index j = 0; j < n; ++j) {
    out[j] = x[j] - a * m[j] / (std::sqrt(u[j] < floor ? floor : u[j]) + shift);
  }
}

namespace {

// `quads` * width columns of one row of out, kept in registers over all entries.
template <int quads>
POLYHOP_INLINE void combine_columns(const SparseView& a, Index begin, Index end, const Real* x, Index x_stride,
                                    Real* out) {
  Quad sum[quads] = {};
  for (Index e = begin; e < end; ++e) {
    const Real w = a.weight[e];
    const Quad weight = {w, w, w, w};
    const Real* source = x + a.slot[e] * x_stride;
#pragma GCC unroll 8
    for (int q = 0; q < quads; ++q) sum[q] = fma(weight, load(source + q * width), sum[q]);
  }
#pragma GCC unroll 8
  for (int q = 0; q < quads; ++q) store(sum[q], out + q * width);
}

}  // namespace

POLYHOP_CLONES void combine(const SparseView& a, const std::int32_t* rows, Index count, const Real* x, Index x_stride,
                            Index columns, Real* out, Index out_stride) {
  constexpr int quads = 8;
  const Index right = Rows::padded(columns);
  for (Index n = 0; n < count; ++n) {
    const Index r = rows[n];
    const Index begin = a.offset[r];
    const Index end = a.offset[r + 1];
    Real* to = out + r * out_stride;
    Index j = 0;
    for (; j + quads * width <= right; j += quads * width) {
      combine_columns<quads>(a, begin, end, x + j, x_stride, to + j);
    }
    for (; j < right; j += Rows::line) combine_columns<2>(a, begin, end, x + j, x_stride, to + j);
  }
}

POLYHOP_CLONES void pairwise(const SparseView& pattern, Index rows, const Real* const* x, const Real* y, Index y_stride,
                             Index columns, const Index* mirror, Real* out) {
  for (Index r = 0; r < rows; ++r) {
    for (Index e = pattern.offset[r]; e < pattern.offset[r + 1]; ++e) {
      const bool known = mirror != nullptr && mirror[e] >= 0;
      out[e] = known ? out[mirror[e]] : row_dot(x[r], y + pattern.slot[e] * y_stride, columns);
    }
  }
}

namespace {

// A tile of `height` rows and product_tile points.
template <int height>
POLYHOP_INLINE void product_tile_of(const Real* h, Index h_stride, const Real* wt, Index wt_stride, Index columns,
                                    Real* out, Index out_stride) {
  constexpr int quads = product_tile / width;
  Quad sum[height][quads] = {};
  for (Index j = 0; j < columns; ++j) {
#pragma GCC unroll 8
    for (int r = 0; r < height; ++r) {
      const Real a = h[r * h_stride + j];
      const Quad feature = {a, a, a, a};
#pragma GCC unroll 8
      for (int q = 0; q < quads; ++q) sum[r][q] = fma(feature, load(wt + j * wt_stride + q * width), sum[r][q]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < height; ++r) {
#pragma GCC unroll 8
    for (int q = 0; q < quads; ++q) store(sum[r][q], out + r * out_stride + q * width);
  }
}

}  // namespace

POLYHOP_CLONES void products(const Real* h, Index h_stride, Index rows, const Real* wt, Index wt_stride, Index points,
                             Index columns, Real* out, Index out_stride) {
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

namespace {

// `height` rows against one block.
template <int height>
POLYHOP_INLINE void dots_with_block(const Real* const* x, const Real* y, Index n, Real* out, Index out_stride) {
  const Index whole = n / Rows::line * Rows::line;
  Lanes sum[height];
  Index j = 0;
  for (; j + lanes <= whole; j += lanes) {
#pragma GCC unroll 4
    for (int r = 0; r < height; ++r) sum[r].add_products(x[r] + j, y + j);
  }
#pragma GCC unroll 4
  for (int r = 0; r < height; ++r) {
    if (j < whole) sum[r].add_half(x[r] + j, y + j);
    double total = sum[r].total();
    for (Index rest = whole; rest < n; ++rest) total = std::fma(x[r][rest], y[rest], total);
    out[r * out_stride] = total;
  }
}

// One block += `height` rows, each times its factor.
template <int height>
POLYHOP_INLINE void add_to_block(const Real* a, Index a_stride, const Real* const* x, Index n, Real* out) {
  Quad factor[height];
#pragma GCC unroll 4
  for (int r = 0; r < height; ++r) {
    const Real f = a[r * a_stride];
    factor[r] = Quad{f, f, f, f};
  }
  Index j = 0;
  for (; j + width <= n; j += width) {
    Quad sum = load(out + j);
#pragma GCC unroll 4
    for (int r = 0; r < height; ++r) sum = fma(factor[r], load(x[r] + j), sum);
    store(sum, out + j);
  }
  for (; j < n; ++j) {
    for (int r = 0; r < height; ++r) out[j] = std::fma(a[r * a_stride], x[r][j], out[j]);
  }
}

}  // namespace

POLYHOP_CLONES void block_dots(const Real* const* x, Index rows, const Real* y, Index blocks, Index n, Real* out) {
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

POLYHOP_CLONES void add_blocks(const Real* a, const Real* const* x, Index rows, Index blocks, Index n, Real* out) {
  constexpr int height = 4;
  Index r = 0;
  for (; r + height <= rows; r += height) {
    for (Index c = 0; c < blocks; ++c) add_to_block<height>(a + r * blocks + c, blocks, x + r, n, out + c * n);
  }
  for (; r < rows; ++r) {
    for (Index c = 0; c < blocks; ++c) add_to_block<1>(a + r * blocks + c, blocks, x + r, n, out + c * n);
  }
}

}  // namespace polyhop::kernels

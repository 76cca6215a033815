// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhop/core/rows.hpp"

// One source, three instruction sets: a loop is a template that is always inlined, into one function per instruction
// set. The arithmetic is the same fused multiply-add in each, so the bits are the same too.
#define POLYHOP_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define POLYHOP_HAS_VARIANTS
// Defines `name`, which runs loop<bytes of a vector> of the variant in use.
#define POLYHOP_KERNEL(returns, name, parameters, arguments, loop)                                      \
  namespace {                                                                                           \
  __attribute__((target("arch=x86-64-v4"))) returns name##_v4 parameters { return loop<64> arguments; } \
  __attribute__((target("arch=x86-64-v3"))) returns name##_v3 parameters { return loop<32> arguments; } \
  }                                                                                                     \
  returns name parameters {                                                                             \
    if (in_use == Variant::v4) return name##_v4 arguments;                                              \
    if (in_use == Variant::v3) return name##_v3 arguments;                                              \
    return loop<16> arguments;                                                                          \
  }
#else
#define POLYHOP_KERNEL(returns, name, parameters, arguments, loop) \
  returns name parameters { return loop<16> arguments; }
#endif
// No vector crosses a real function call, so that its calling convention does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace polyhop::kernels {
namespace {

enum class Variant : std::uint8_t { plain, v3, v4 };
constexpr std::array<std::pair<Variant, const char*>, 3> variant_names = {
    {{Variant::v4, "x86-64-v4"}, {Variant::v3, "x86-64-v3"}, {Variant::plain, "plain"}}};

// Plain until the line below has run, so that kernels may be called from anywhere.
constinit Variant in_use = Variant::plain;
[[maybe_unused]] const bool chosen = [] {
  const char* wish = std::getenv("POLYHOP_CPU");
  return (wish != nullptr && use_variant(wish)) || use_variant(variants().front());
}();

// Some lanes in one register. Uses the compiler's vector types, because plain loops over an array of lanes end up in
// memory or in scalar code inside other loops (g++ 12).
template <class T, int bytes>
struct VectorOf {
  using Type [[gnu::vector_size(bytes)]] = T;
};
template <class T, int bytes>
using Vector = typename VectorOf<T, bytes>::Type;
template <class T, int bytes>
constexpr int width = bytes / static_cast<int>(sizeof(T));
using Quad = Vector<double, 32>;
using Oct = Vector<double, 64>;
using Pair = Vector<double, 16>;
static_assert(Rows::line == lanes && Rows::line_of(Element::float32) == float_lanes);

template <int bytes, class T>
POLYHOP_INLINE Vector<T, bytes> load(const T* x) {
  Vector<T, bytes> out;
  std::memcpy(&out, x, sizeof out);
  return out;
}

template <class V, class T>
POLYHOP_INLINE void store(const V& vector, T* x) {
  std::memcpy(x, &vector, sizeof vector);
}

// Forces a vector to be loaded once: g++ 12 would reload it for every product, and loads would take longer than
// products.
template <class V>
POLYHOP_INLINE void keep([[maybe_unused]] V& vector) {
#ifdef POLYHOP_HAS_VARIANTS
  if constexpr (sizeof(V) > 16) asm("" : "+v"(vector));
#endif
}

// One instruction. The compiler turns the loop into it, except for 16 floats, half of which g++ 12 leaves scalar.
template <class V>
POLYHOP_INLINE V fma(const V& a, const V& b, const V& c) {
#ifdef POLYHOP_HAS_VARIANTS
  if constexpr (sizeof(V) == 64 && sizeof(a[0]) == 4) {
    V sum = c;
    asm("vfmadd231ps %1, %2, %0" : "+v"(sum) : "vm"(a), "v"(b));
    return sum;
  }
#endif
  V out;
  for (std::size_t l = 0; l < sizeof(V) / sizeof(a[0]); ++l) out[l] = std::fma(a[l], b[l], c[l]);
  return out;
}

// The same, where the compiler would leave it scalar: 512 bits in a loop that stores each result.
template <class V>
POLYHOP_INLINE V fma_once(const V& a, const V& b, const V& c) {
#ifdef POLYHOP_HAS_VARIANTS
  if constexpr (sizeof(V) == 64 && sizeof(a[0]) == 8) {
    V sum = c;
    asm("vfmadd231pd %1, %2, %0" : "+v"(sum) : "vm"(a), "v"(b));
    return sum;
  }
#endif
  return fma(a, b, c);
}

template <int bytes, class T>
POLYHOP_INLINE Vector<T, bytes> all(T x) {
  return Vector<T, bytes>{} + x;
}

// The last steps of the fixed tree: lanes l + 4, l + 2, l + 1.
[[maybe_unused]] POLYHOP_INLINE Quad halved(const Oct& s) {
  return __builtin_shufflevector(s, s, 0, 1, 2, 3) + __builtin_shufflevector(s, s, 4, 5, 6, 7);
}
POLYHOP_INLINE double total(const Quad& s) {
  const Pair p = __builtin_shufflevector(s, s, 0, 1) + __builtin_shufflevector(s, s, 2, 3);
  return p[0] + p[1];
}
// The same for four sums at once.
POLYHOP_INLINE Quad totals(const Quad& a, const Quad& b, const Quad& c, const Quad& d) {
  const Quad even_ab = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const Quad even_cd = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const Quad odd_ab = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Quad odd_cd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  const Quad even =
      __builtin_shufflevector(even_ab, even_cd, 0, 1, 4, 5) + __builtin_shufflevector(even_ab, even_cd, 2, 3, 6, 7);
  const Quad odd =
      __builtin_shufflevector(odd_ab, odd_cd, 0, 1, 4, 5) + __builtin_shufflevector(odd_ab, odd_cd, 2, 3, 6, 7);
  return even + odd;
}

// Lane l + lane l + 4 of a piece's partial sums, in vectors of `bytes`: what `total` and `totals` take. Lanes of float
// become those of double first.
template <int bytes>
POLYHOP_INLINE Quad quad_of(const Vector<double, bytes>* part) {
  if constexpr (bytes == 64) {
    return halved(part[0]);
  } else if constexpr (bytes == 32) {
    return part[0] + part[1];
  } else {
    return __builtin_shufflevector(part[0] + part[2], part[1] + part[3], 0, 1, 2, 3);
  }
}
template <int bytes>
POLYHOP_INLINE Quad quad_of(const Vector<float, bytes>* part) {
  constexpr int count = lanes / width<double, bytes>;
  Vector<double, bytes> wide[2 * count];
#pragma GCC unroll 4
  for (int p = 0; p < count; ++p) {
    Vector<float, bytes / 2> half[2];
    std::memcpy(half, &part[p], sizeof half);
    wide[2 * p] = __builtin_convertvector(half[0], Vector<double, bytes>);
    wide[2 * p + 1] = __builtin_convertvector(half[1], Vector<double, bytes>);
  }
#pragma GCC unroll 4
  for (int p = 0; p < count; ++p) wide[p] += wide[p + count];
  return quad_of<bytes>(wide);
}

// What a piece of a reduction adds up, a line of numbers at a time.
template <class T, int bytes>
struct Lanes {
  static constexpr int step = width<T, bytes>;
  static constexpr int count = (std::is_same_v<T, float> ? float_lanes : lanes) / step;
  Vector<T, bytes> part[count] = {};

  // Left and right give the vector from a number of the line on.
  template <class Left, class Right>
  POLYHOP_INLINE void add(Left left, Right right) {
#pragma GCC unroll 4
    for (int p = 0; p < count; ++p) part[p] = fma(left(p * step), right(p * step), part[p]);
  }
  [[nodiscard]] POLYHOP_INLINE Quad quad() const { return quad_of<bytes>(part); }
};

// Calls use(from, to, is_first) for every piece of the columns before `end`: for one at least.
template <class T, class Use>
POLYHOP_INLINE void in_pieces(Index end, Use use) {
  const Index length = piece(end, element_of<T>);
  use(Index{0}, end < length ? end : length, true);
  for (Index from = length; from < end; from += length) use(from, end - from < length ? end : from + length, false);
}
// Calls add(j) for every line of a piece.
template <class T, class Add>
POLYHOP_INLINE void in_lines(Index from, Index to, Add add) {
#pragma GCC unroll 2
  for (Index j = from; j < to; j += Rows::line_of(element_of<T>)) add(j);
}

// The vectors of a row from x on, and those of a difference of rows.
template <int bytes, class T>
POLYHOP_INLINE auto vectors_of(const T* x) {
  return [=](int at) __attribute__((always_inline)) { return load<bytes>(x + at); };
}
template <int bytes, class T>
POLYHOP_INLINE auto vectors_of_difference(const T* x, const T* y) {
  return [=](int at) __attribute__((always_inline)) { return load<bytes>(x + at) - load<bytes>(y + at); };
}

// Reductions of `height` rows at a time, since the sums of one alone would wait for each other: left(r, j) and
// right(r, j) are what is multiplied in row r from number j on.
template <int bytes, class T, int height, class Left, class Right>
POLYHOP_INLINE void reduce_rows(Index n, Left left, Right right, double* out) {
  in_pieces<T>(
      Rows::padded(n, element_of<T>), [&](Index from, Index to, bool is_first) __attribute__((always_inline)) {
        Lanes<T, bytes> sum[height];
        in_lines<T>(
            from, to, [&](Index at) __attribute__((always_inline)) {
#pragma GCC unroll 4
              for (int r = 0; r < height; ++r) sum[r].add(left(r, at), right(r, at));
            });
        if constexpr (height == 4) {
          const Quad four = totals(sum[0].quad(), sum[1].quad(), sum[2].quad(), sum[3].quad());
          store(is_first ? four : load<32>(out) + four, out);
        } else {
          for (int r = 0; r < height; ++r) out[r] = is_first ? total(sum[r].quad()) : out[r] + total(sum[r].quad());
        }
      });
}
// The same for any number of rows: x[r] and right(r, j).
template <int bytes, class T, class Right>
POLYHOP_INLINE void reduce_all_rows(const void* const* x, Index rows, Index n, Right right, double* out) {
  Index first = 0;
  const auto left_of = [&](int r, Index j) __attribute__((always_inline)) {
    return vectors_of<bytes>(static_cast<const T*>(x[first + r]) + j);
  };
  const auto right_of = [&](int r, Index j) __attribute__((always_inline)) { return right(first + r, j); };
  for (; first + 4 <= rows; first += 4) reduce_rows<bytes, T, 4>(n, left_of, right_of, out + first);
  for (; first < rows; ++first) reduce_rows<bytes, T, 1>(n, left_of, right_of, out + first);
}

template <int bytes, class T>
POLYHOP_INLINE double row_dot(const T* x, const T* y, Index n) {
  double out = 0;
  reduce_rows<bytes, T, 1>(
      n, [&](int, Index j) __attribute__((always_inline)) { return vectors_of<bytes>(x + j); },
      [&](int, Index j) __attribute__((always_inline)) { return vectors_of<bytes>(y + j); }, &out);
  return out;
}

template <int bytes, class T>
POLYHOP_INLINE double row_distance(const T* x, const T* y, Index n) {
  double out = 0;
  const auto difference = [&](int, Index j) __attribute__((always_inline)) {
    return vectors_of_difference<bytes>(x + j, y + j);
  };
  reduce_rows<bytes, T, 1>(n, difference, difference, &out);
  return out;
}

// x[r] . row r of y
template <int bytes, class T>
POLYHOP_INLINE void row_dots(const void* const* x, const T* y, Index y_stride, Index rows, Index n, double* out) {
  const auto right = [&](Index r, Index j) __attribute__((always_inline)) {
    return vectors_of<bytes>(y + r * y_stride + j);
  };
  reduce_all_rows<bytes, T>(x, rows, n, right, out);
}

// x[r] . (row r of y - row r of z)
template <int bytes, class T>
POLYHOP_INLINE void row_dots_with_differences(const void* const* x, const T* y, Index y_stride, const T* z,
                                              Index z_stride, Index rows, Index n, double* out) {
  const auto right = [&](Index r, Index j) __attribute__((always_inline)) {
    return vectors_of_difference<bytes>(y + r * y_stride + j, z + r * z_stride + j);
  };
  reduce_all_rows<bytes, T>(x, rows, n, right, out);
}

template <int, class T>
POLYHOP_INLINE void scaled(double factor, const T* x, T* out, Index n) {
  const auto a = static_cast<T>(factor);
  for (Index j = 0; j < n; ++j) out[j] = a * x[j];
}

template <int, class T, class Out>
POLYHOP_INLINE void sum_with_scaled(double factor, const T* x, const Out* y, Out* out, Index n) {
  const auto a = static_cast<Out>(factor);
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, static_cast<Out>(x[j]), y[j]);
}

// Up to the end of the last line, where zeros stay zeros unless the factor is not finite.
template <int bytes, class T>
POLYHOP_INLINE void rows_with_scaled(const double* a, const void* const* x, const T* y, Index y_stride, Index rows,
                                     Index n, T* out, Index out_stride) {
  constexpr int step = width<T, bytes>;
  for (Index r = 0; r < rows; ++r, y += y_stride, out += out_stride) {
    const auto factor = static_cast<T>(a[r]);
    const auto factors = all<bytes>(factor);
    const T* from = static_cast<const T*>(x[r]);
    const Index end = std::isfinite(factor) ? Rows::padded(n, element_of<T>) : n / step * step;
    Index j = 0;
#pragma GCC unroll 4
    for (; j < end; j += step) store(fma_once(load<bytes>(from + j), factors, load<bytes>(y + j)), out + j);
    for (; j < n; ++j) out[j] = std::fma(factor, from[j], y[j]);
  }
}

template <int, class T>
POLYHOP_INLINE void sum_with_difference(double factor, const T* x, const T* y, T* out, Index n) {
  const auto a = static_cast<T>(factor);
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, x[j] - y[j], out[j]);
}

template <int, class T, class Out>
POLYHOP_INLINE void blended(double share, const T* x, Out* out, Index n) {
  const auto a = static_cast<Out>(share);
  const auto rest = static_cast<Out>(1 - share);
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, static_cast<Out>(x[j]), rest * out[j]);
}

template <int, class T>
POLYHOP_INLINE void moments_of(double b1, double b2, double s, const T* h, T* m, T* v, Index n) {
  for (Index j = 0; j < n; ++j) {
    const double g = s * static_cast<double>(h[j]);
    m[j] = static_cast<T>(std::fma(1 - b1, g, b1 * static_cast<double>(m[j])));
    v[j] = static_cast<T>(std::fma((1 - b2) * g, g, b2 * static_cast<double>(v[j])));
  }
}

template <int, class T>
POLYHOP_INLINE void raise_to(double b, const T* v, T* u, Index n) {
  for (Index j = 0; j < n; ++j) {
    u[j] =
        static_cast<T>(std::fma(1 - b, static_cast<double>(u[j] < v[j] ? v[j] : u[j]), b * static_cast<double>(u[j])));
  }
}

template <int, class T>
POLYHOP_INLINE void fold_to(const T* x, const T* s, Index n, double* out) {
  double sum[folds] = {};
  const Index whole = n / folds * folds;
  for (Index m = 0; m < whole; m += folds) {
    for (Index j = 0; j < folds; ++j) sum[j] += static_cast<double>(x[m + j]) * static_cast<double>(s[m + j]);
  }
  for (Index m = whole; m < n; ++m) sum[m - whole] += static_cast<double>(x[m]) * static_cast<double>(s[m]);
  for (Index j = 0; j < folds; ++j) out[j] = sum[j];
}

template <int, class T>
POLYHOP_INLINE void take_scaled_step(double a, const T* m, const T* u, double floor, double shift, const T* x, T* out,
                                     Index n) {
  for (Index j = 0; j < n; ++j) {
    const auto square = static_cast<double>(u[j]);
    out[j] = static_cast<T>(static_cast<double>(x[j]) -
                            a * static_cast<double>(m[j]) / (std::sqrt(square < floor ? floor : square) + shift));
  }
}

// What a mean takes in of each row: nothing, the row, or what the row overwrites and then the row.
enum class Taken : std::uint8_t { nothing, row, both };

template <int bytes>
struct Share {
  explicit Share(double of_rows) : share(all<bytes>(of_rows)), rest(all<bytes>(1 - of_rows)) {}
  Vector<double, bytes> share, rest;
};
// mean <- (1 - share) mean + share x, for one vector of x; before, the same with what x overwrites. Floats go into two
// vectors of doubles, as far as the row has them: `left` is how many doubles it has left.
template <Taken taken, int bytes>
POLYHOP_INLINE void blend_vector(const Vector<double, bytes>& before, const Share<bytes>& by_before,
                                 const Vector<double, bytes>& x, const Share<bytes>& by, double* out, Index /*left*/) {
  auto mean = load<bytes>(out);
  if constexpr (taken == Taken::both) mean = fma_once(by_before.share, before, by_before.rest * mean);
  store(fma_once(by.share, x, by.rest * mean), out);
}
template <Taken taken, int bytes>
POLYHOP_INLINE void blend_vector(const Vector<float, bytes>& before, const Share<bytes>& by_before,
                                 const Vector<float, bytes>& x, const Share<bytes>& by, double* out, Index left) {
  using Wide = Vector<double, bytes>;
  Vector<float, bytes / 2> old[2];
  Vector<float, bytes / 2> half[2];
  std::memcpy(old, &before, sizeof before);
  std::memcpy(half, &x, sizeof x);
  constexpr int step = width<double, bytes>;
  if (left <= 0) return;
  blend_vector<taken, bytes>(__builtin_convertvector(old[0], Wide), by_before, __builtin_convertvector(half[0], Wide),
                             by, out, left);
  if (left <= step) return;
  blend_vector<taken, bytes>(__builtin_convertvector(old[1], Wide), by_before, __builtin_convertvector(half[1], Wide),
                             by, out + step, left);
}

// Row r of out, `lines` lines of its columns from j on; the sums stay in registers.
template <Taken taken, int bytes, int lines, class T>
POLYHOP_INLINE void combine_lines(const SparseView& a, Index r, Index j, const T* x, Index x_stride, Index right,
                                  T* out, Index out_stride, const Blend& also) {
  constexpr int step = width<T, bytes>;
  constexpr int vectors = lines * (Rows::line_bytes / bytes);
  Vector<T, bytes> sum[vectors] = {};
  const T* from = x + j;
  for (Index e = a.offset[r]; e < a.offset[r + 1]; ++e) {
    const auto weight = all<bytes>(static_cast<T>(a.weight[e]));
    const T* source = from + a.slot[e] * x_stride;
#pragma GCC unroll 16
    for (int q = 0; q < vectors; ++q) sum[q] = fma(weight, load<bytes>(source + q * step), sum[q]);
  }
  T* to = out + r * out_stride + j;
  if constexpr (taken != Taken::nothing) {
    double* mean = also.into + r * also.stride + j;
    const Share<bytes> earlier(also.earlier_share);
    const Share<bytes> now(also.share);
#pragma GCC unroll 16
    for (int q = 0; q < vectors; ++q) {
      blend_vector<taken, bytes>(load<bytes>(to + q * step), earlier, sum[q], now, mean + q * step,
                                 right - j - q * step);
    }
  }
#pragma GCC unroll 16
  for (int q = 0; q < vectors; ++q) store(sum[q], to + q * step);
}

// The same for so many lines, at most `most`.
template <Taken taken, int bytes, int most, class T>
POLYHOP_INLINE void combine_some(Index lines, const SparseView& a, Index r, Index j, const T* x, Index x_stride,
                                 Index right, T* out, Index out_stride, const Blend& also) {
  [&]<int... n>(std::integer_sequence<int, n...>) __attribute__((always_inline)) {
    (void)((lines == n + 1 &&
            (combine_lines<taken, bytes, n + 1>(a, r, j, x, x_stride, right, out, out_stride, also), true)) ||
           ...);
  }
  (std::make_integer_sequence<int, most>{});
}

template <Taken taken, int bytes, class T>
POLYHOP_INLINE void combine_and_take(const SparseView& a, const std::int32_t* rows, Index count, const T* x,
                                     Index x_stride, Index columns, T* out, Index out_stride, const Blend& also) {
  // As many lines as fit in the 32 or 16 registers beside a weight.
  constexpr int widest = bytes == 64 ? 16 : 4;
  constexpr int narrow = bytes == 64 ? 8 : 4;
  constexpr Index line = Rows::line_of(element_of<T>);
  constexpr Index few = 16;
  const Index right = Rows::padded(columns, element_of<T>);
  const Index ends = Rows::padded(columns, Element::float64);
  const auto part = [&](Index r, Index j, Index lines) __attribute__((always_inline)) {
    if (lines == narrow) return combine_lines<taken, bytes, narrow>(a, r, j, x, x_stride, ends, out, out_stride, also);
    combine_some<taken, bytes, widest>(lines, a, r, j, x, x_stride, ends, out, out_stride, also);
  };
  // Take some columns of all rows at a time, so that what several rows read of a source stays in a near cache; with few
  // rows, take all columns.
  const Index wide = (count <= few ? widest : narrow) * line;
  for (Index j = 0; j < right; j += wide) {
    const Index lines = (right - j < wide ? right - j : wide) / line;
    for (Index n = 0; n < count; ++n) part(rows[n], j, lines);
  }
}

template <int bytes, class T>
POLYHOP_INLINE void combine_rows(const SparseView& a, const std::int32_t* rows, Index count, const T* x, Index x_stride,
                                 Index columns, T* out, Index out_stride, const Blend& also) {
  const auto combine_by = [&]<Taken taken>() __attribute__((always_inline)) {
    combine_and_take<taken, bytes>(a, rows, count, x, x_stride, columns, out, out_stride, also);
  };
  if (also.into == nullptr) return combine_by.template operator()<Taken::nothing>();
  if (also.earlier_share == 0) return combine_by.template operator()<Taken::row>();
  combine_by.template operator()<Taken::both>();
}

// part[p * stride] += own[h] * other[b], for the products p = h * breadth + b of a tile and one vector of each row.
template <int bytes, int height, int breadth, class T>
POLYHOP_INLINE void add_vectors(const T* const* x, const T* const* y, Index at, Vector<T, bytes>* part, int stride) {
  Vector<T, bytes> other[breadth];
#pragma GCC unroll 4
  for (int b = 0; b < breadth; ++b) other[b] = load<bytes>(y[b] + at);
#pragma GCC unroll 6
  for (int h = 0; h < height; ++h) {
    auto own = load<bytes>(x[h] + at);
    keep(own);
#pragma GCC unroll 4
    for (int b = 0; b < breadth; ++b) {
      auto& sum = part[(h * breadth + b) * stride];
      sum = fma(own, other[b], sum);
    }
  }
}

// The piece of a panel's rows at hand.
struct TilePiece {
  Index from, to;
  bool is_first;
};

// A piece of a tile's rows, added to the products, of which there are `stride` per row. The sums of a piece are local,
// so that all of them stay in registers.
template <int bytes, int height, int breadth, class T>
POLYHOP_INLINE void tile_of(const T* const* x, const T* const* y, const TilePiece& now, double* out, int stride) {
  constexpr int products = height * breadth;
  constexpr int step = width<T, bytes>;
  constexpr int count = Lanes<T, bytes>::count;
  Vector<T, bytes> sum[products * count] = {};
  for (Index j = now.from; j < now.to; j += count * step) {
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) add_vectors<bytes, height, breadth>(x, y, j + v * step, sum + v, count);
  }
  const auto quad = [&](int p) __attribute__((always_inline)) { return quad_of<bytes>(sum + p * count); };
  const auto product = [&](int p) __attribute__((always_inline))->double& {
    return out[p / breadth * stride + p % breadth];
  };
  int p = 0;
#pragma GCC unroll 6
  for (; p + 4 <= products; p += 4) {
    const Quad four = totals(quad(p), quad(p + 1), quad(p + 2), quad(p + 3));
    if (stride == breadth) {
      store(now.is_first ? four : load<32>(out + p) + four, out + p);
    } else {
#pragma GCC unroll 4
      for (int n = 0; n < 4; ++n) product(p + n) = now.is_first ? four[n] : product(p + n) + four[n];
    }
  }
#pragma GCC unroll 4
  for (; p < products; ++p) product(p) = now.is_first ? total(quad(p)) : product(p) + total(quad(p));
}

// The largest tile whose sums, and a row and the others, fit into the 32 or 16 registers.
template <int bytes>
constexpr int tile_height = bytes == 64 ? max_tile_height : 3;
template <int bytes>
constexpr int tile_breadth = bytes == 64 ? max_tile_breadth : 2;

// A tile of any shape up to the largest.
template <int bytes, class T>
POLYHOP_INLINE void tile_of_shape(int height, int breadth, const T* const* x, const T* const* y, const TilePiece& now,
                                  double* out, int stride) {
  constexpr int most = tile_breadth<bytes>;
  const int shape = (height - 1) * most + breadth - 1;
  [&]<int... n>(std::integer_sequence<int, n...>) __attribute__((always_inline)) {
    (void)((shape == n && (tile_of<bytes, n / most + 1, n % most + 1>(x, y, now, out, stride), true)) || ...);
  }
  (std::make_integer_sequence<int, tile_height<bytes> * most>{});
}

// The tiles of a panel, cut if they are too large.
template <int bytes, class T>
POLYHOP_INLINE void tiles_of(const PairPanel& panel, const void* const* x, const void* const* y, const TilePiece& now,
                             double* out) {
  for (const std::int32_t* code = panel.begin; code < panel.end;) {
    const int height = code[0];
    const int breadth = code[1];
    const std::int32_t* rows = code + 2;
    const std::int32_t* others = rows + height;
    const T* own[max_tile_height];
    const T* other[max_tile_breadth];
    for (int h = 0; h < height; ++h) own[h] = static_cast<const T*>(x[rows[h]]);
    for (int b = 0; b < breadth; ++b) other[b] = static_cast<const T*>(y[others[b]]);
    for (int h = 0; h < height; h += tile_height<bytes>) {
      for (int b = 0; b < breadth; b += tile_breadth<bytes>) {
        const int high = height - h < tile_height<bytes> ? height - h : tile_height<bytes>;
        const int broad = breadth - b < tile_breadth<bytes> ? breadth - b : tile_breadth<bytes>;
        tile_of_shape<bytes>(high, broad, own + h, other + b, now, out + h * breadth + b, breadth);
      }
    }
    out += height * breadth;
    code = others + breadth;
  }
}

// A panel's own rows stay in the first cache, a piece of them at a time.
template <int bytes, class T>
POLYHOP_INLINE void pieces_of(const PairPanel& panel, const void* const* x, const void* const* y, Index columns,
                              double* out) {
  in_pieces<T>(
      Rows::padded(columns, element_of<T>), [&](Index from, Index to, bool is_first) __attribute__((always_inline)) {
        tiles_of<bytes, T>(panel, x, y, TilePiece{from, to, is_first}, out);
      });
}
template <int bytes>
POLYHOP_INLINE void panel_products(const PairPanel& panel, const void* const* x, const void* const* y, Element element,
                                   Index columns, double* out) {
  if (element == Element::float32) return pieces_of<bytes, float>(panel, x, y, columns, out);
  pieces_of<bytes, double>(panel, x, y, columns, out);
}

// A tile of `height` rows and `points` points.
template <int bytes, int height, int points, class T>
POLYHOP_INLINE void product_tile_of(const T* h, Index h_stride, const double* wt, Index wt_stride, Index columns,
                                    double* out, Index out_stride) {
  constexpr int step = width<double, bytes>;
  constexpr int vectors = points / step;
  Vector<double, bytes> sum[height][vectors] = {};
  for (Index j = 0; j < columns; ++j) {
#pragma GCC unroll 12
    for (int r = 0; r < height; ++r) {
      const auto feature = all<bytes>(static_cast<double>(h[r * h_stride + j]));
#pragma GCC unroll 8
      for (int q = 0; q < vectors; ++q) sum[r][q] = fma(feature, load<bytes>(wt + j * wt_stride + q * step), sum[r][q]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < height; ++r) {
#pragma GCC unroll 8
    for (int q = 0; q < vectors; ++q) store(sum[r][q], out + r * out_stride + q * step);
  }
}

// All rows and `points` points, in tiles of `height` rows, two rows, and one.
template <int bytes, int height, int points, class T>
POLYHOP_INLINE void product_strip(const T* h, Index h_stride, Index rows, const double* wt, Index wt_stride,
                                  Index columns, double* out, Index out_stride) {
  Index r = 0;
  for (; r + height <= rows; r += height) {
    product_tile_of<bytes, height, points>(h + r * h_stride, h_stride, wt, wt_stride, columns, out + r * out_stride,
                                           out_stride);
  }
  for (; r + 2 <= rows; r += 2) {
    product_tile_of<bytes, 2, points>(h + r * h_stride, h_stride, wt, wt_stride, columns, out + r * out_stride,
                                      out_stride);
  }
  if (r < rows) {
    product_tile_of<bytes, 1, points>(h + r * h_stride, h_stride, wt, wt_stride, columns, out + r * out_stride,
                                      out_stride);
  }
}

// Sums that fill the registers: of two product tiles and some rows; if one is left, of that and twice as many rows.
template <int bytes, class T>
POLYHOP_INLINE void tiled_products(const T* h, Index h_stride, Index rows, const double* wt, Index wt_stride,
                                   Index points, Index columns, double* out, Index out_stride) {
  constexpr int height = bytes == 64 ? 6 : 3;
  constexpr int wide = 2 * product_tile;
  Index p = 0;
  for (; p + wide <= points; p += wide) {
    product_strip<bytes, height, wide>(h, h_stride, rows, wt + p, wt_stride, columns, out + p, out_stride);
  }
  if (p < points) {
    product_strip<bytes, 2 * height, product_tile>(h, h_stride, rows, wt + p, wt_stride, columns, out + p, out_stride);
  }
}

// `height` rows against one block.
template <int bytes, int height, class T>
POLYHOP_INLINE void dots_with_block(const T* const* x, const T* y, Index n, double* out, Index out_stride) {
  constexpr Index line = Rows::line_of(element_of<T>);
  const Index whole = n / line * line;
  double result[height];
  in_pieces<T>(
      whole, [&](Index from, Index to, bool is_first) __attribute__((always_inline)) {
        Lanes<T, bytes> sum[height];
        in_lines<T>(
            from, to, [&](Index at) __attribute__((always_inline)) {
#pragma GCC unroll 4
              for (int r = 0; r < height; ++r) sum[r].add(vectors_of<bytes>(x[r] + at), vectors_of<bytes>(y + at));
            });
#pragma GCC unroll 4
        for (int r = 0; r < height; ++r) result[r] = is_first ? total(sum[r].quad()) : result[r] + total(sum[r].quad());
      });
#pragma GCC unroll 4
  for (int r = 0; r < height; ++r) {
    for (Index rest = whole; rest < n; ++rest) {
      result[r] = std::fma(static_cast<double>(x[r][rest]), static_cast<double>(y[rest]), result[r]);
    }
    out[r * out_stride] = result[r];
  }
}

template <int bytes, class T>
POLYHOP_INLINE void dots_with_blocks(const T* const* x, Index rows, const T* y, Index blocks, Index n, double* out) {
  constexpr int height = 3;  // rows that stay in the first cache while the blocks pass through
  Index r = 0;
  for (; r + height <= rows; r += height) {
    for (Index c = 0; c < blocks; ++c) {
      dots_with_block<bytes, height>(x + r, y + c * n, n, out + r * blocks + c, blocks);
    }
  }
  for (; r < rows; ++r) {
    for (Index c = 0; c < blocks; ++c) dots_with_block<bytes, 1>(x + r, y + c * n, n, out + r * blocks + c, blocks);
  }
}

// One block += `height` rows, each times its factor.
template <int bytes, int height, class T>
POLYHOP_INLINE void add_to_block(const double* a, Index a_stride, const T* const* x, Index n, T* out) {
  constexpr int step = width<T, bytes>;
  Vector<T, bytes> factor[height];
#pragma GCC unroll 4
  for (int r = 0; r < height; ++r) factor[r] = all<bytes>(static_cast<T>(a[r * a_stride]));
  Index j = 0;
  for (; j + step <= n; j += step) {
    auto sum = load<bytes>(out + j);
#pragma GCC unroll 4
    for (int r = 0; r < height; ++r) sum = fma(factor[r], load<bytes>(x[r] + j), sum);
    store(sum, out + j);
  }
  for (; j < n; ++j) {
    for (int r = 0; r < height; ++r) out[j] = std::fma(static_cast<T>(a[r * a_stride]), x[r][j], out[j]);
  }
}

template <int bytes, class T>
POLYHOP_INLINE void add_to_blocks(const double* a, const T* const* x, Index rows, Index blocks, Index n, T* out) {
  constexpr int height = 4;
  Index r = 0;
  for (; r + height <= rows; r += height) {
    for (Index c = 0; c < blocks; ++c) add_to_block<bytes, height>(a + r * blocks + c, blocks, x + r, n, out + c * n);
  }
  for (; r < rows; ++r) {
    for (Index c = 0; c < blocks; ++c) add_to_block<bytes, 1>(a + r * blocks + c, blocks, x + r, n, out + c * n);
  }
}

// `columns` rows of a strip, `vectors` of their numbers: the sums stay in registers while all samples pass.
template <int bytes, int vectors, int columns, class T>
POLYHOP_INLINE void square_tile(const double* a, const T* const* x, Index samples, Index at, double* out) {
  constexpr int step = width<double, bytes>;
  Vector<double, bytes> sum[columns][vectors];
#pragma GCC unroll 4
  for (int c = 0; c < columns; ++c) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[c][v] = load<bytes>(out + c * strip + v * step);
  }
  for (Index j = 0; j < samples; ++j) {
    Vector<double, bytes> own[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      own[v] = load<bytes>(a + j * strip + v * step);
      keep(own[v]);
    }
#pragma GCC unroll 4
    for (int c = 0; c < columns; ++c) {
      const auto feature = all<bytes>(static_cast<double>(x[j][at + c]));
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[c][v] += own[v] * feature;
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < columns; ++c) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) store(sum[c][v], out + c * strip + v * step);
  }
}

template <int bytes, class T>
POLYHOP_INLINE void add_squares_to(const double* a, const T* const* x, Index samples, Index columns, double* out) {
  if (samples == 0) return;  // then there may be no strip to point into
  constexpr int vectors = bytes == 64 ? 4 : 2;
  constexpr int part = vectors * width<double, bytes>;
  constexpr int breadth = 4;
  Index c = 0;
  for (; c + breadth <= columns; c += breadth) {
#pragma GCC unroll 1
    for (Index l = 0; l < strip; l += part) {
      square_tile<bytes, vectors, breadth>(a + l, x, samples, c, out + c * strip + l);
    }
  }
  for (; c < columns; ++c) {
#pragma GCC unroll 1
    for (Index l = 0; l < strip; l += part) {
      square_tile<bytes, vectors, 1>(a + l, x, samples, c, out + c * strip + l);
    }
  }
}

// `height` rows of a strip, `vectors` of their numbers.
template <int bytes, int vectors, int height>
POLYHOP_INLINE void subtract_tile(const double* a, Index a_stride, const double* b, Index count, double* out) {
  constexpr int step = width<double, bytes>;
  Vector<double, bytes> rest[height][vectors];
#pragma GCC unroll 4
  for (int t = 0; t < height; ++t) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) rest[t][v] = load<bytes>(out + t * strip + v * step);
  }
  for (Index r = 0; r < count; ++r) {
    Vector<double, bytes> own[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      own[v] = load<bytes>(b + r * strip + v * step);
      keep(own[v]);
    }
#pragma GCC unroll 4
    for (int t = 0; t < height; ++t) {
      const auto factor = all<bytes>(a[r * a_stride + t]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) rest[t][v] -= own[v] * factor;
    }
  }
#pragma GCC unroll 4
  for (int t = 0; t < height; ++t) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) store(rest[t][v], out + t * strip + v * step);
  }
}

template <int bytes>
POLYHOP_INLINE void subtract_all_products(const double* a, Index a_stride, const double* b, Index count, double* out,
                                          Index rows) {
  constexpr int vectors = bytes == 64 ? 4 : 2;
  constexpr int part = vectors * width<double, bytes>;
  constexpr int height = 4;
  constexpr Index run = 64;  // rows of a and b that stay in the first cache
  for (Index first = 0; first < count; first += run) {
    const Index some = count - first < run ? count - first : run;
    const double* left = a + first * a_stride;
    const double* right = b + first * strip;
    Index t = 0;
    for (; t + height <= rows; t += height) {
#pragma GCC unroll 1
      for (Index l = 0; l < strip; l += part) {
        subtract_tile<bytes, vectors, height>(left + t, a_stride, right + l, some, out + t * strip + l);
      }
    }
    for (; t < rows; ++t) {
#pragma GCC unroll 1
      for (Index l = 0; l < strip; l += part) {
        subtract_tile<bytes, vectors, 1>(left + t, a_stride, right + l, some, out + t * strip + l);
      }
    }
  }
}

template <int>
POLYHOP_INLINE void divided(double a, double* x, Index n) {
  for (Index j = 0; j < n; ++j) x[j] /= a;
}

template <int>
POLYHOP_INLINE void sum_of_two(double a, const double* x, double b, const double* y, double* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = (out[j] + a * x[j]) + b * y[j];
}

}  // namespace

std::span<const char* const> variants() {
  static const std::vector<const char*> names = [] {
    std::vector<const char*> out;
#ifdef POLYHOP_HAS_VARIANTS
    if (__builtin_cpu_supports("x86-64-v4")) out.push_back("x86-64-v4");
    if (__builtin_cpu_supports("x86-64-v3")) out.push_back("x86-64-v3");
#endif
    out.push_back("plain");
    return out;
  }();
  return names;
}

bool use_variant(std::string_view name) {
  if (std::ranges::find(variants(), name) == variants().end()) return false;
  for (const auto& [variant, its_name] : variant_names) {
    if (name == its_name) in_use = variant;
  }
  return true;
}

const char* instruction_set() {
  for (const auto& [variant, name] : variant_names) {
    if (variant == in_use) return name;
  }
  return "";
}

POLYHOP_KERNEL(double, dot, (const double* x, const double* y, Index n), (x, y, n), row_dot)
POLYHOP_KERNEL(double, dot, (const float* x, const float* y, Index n), (x, y, n), row_dot)

POLYHOP_KERNEL(void, dot_rows,
               (const void* const* x, const double* y, Index y_stride, Index rows, Index n, double* out),
               (x, y, y_stride, rows, n, out), row_dots)
POLYHOP_KERNEL(void, dot_rows, (const void* const* x, const float* y, Index y_stride, Index rows, Index n, double* out),
               (x, y, y_stride, rows, n, out), row_dots)

POLYHOP_KERNEL(double, squared_distance, (const double* x, const double* y, Index n), (x, y, n), row_distance)
POLYHOP_KERNEL(double, squared_distance, (const float* x, const float* y, Index n), (x, y, n), row_distance)

POLYHOP_KERNEL(void, dot_difference_rows,
               (const void* const* x, const double* y, Index y_stride, const double* z, Index z_stride, Index rows,
                Index n, double* out),
               (x, y, y_stride, z, z_stride, rows, n, out), row_dots_with_differences)
POLYHOP_KERNEL(void, dot_difference_rows,
               (const void* const* x, const float* y, Index y_stride, const float* z, Index z_stride, Index rows,
                Index n, double* out),
               (x, y, y_stride, z, z_stride, rows, n, out), row_dots_with_differences)

POLYHOP_KERNEL(void, scale, (double a, const double* x, double* out, Index n), (a, x, out, n), scaled)
POLYHOP_KERNEL(void, scale, (double a, const float* x, float* out, Index n), (a, x, out, n), scaled)

POLYHOP_KERNEL(void, add_scaled, (double a, const double* x, const double* y, double* out, Index n), (a, x, y, out, n),
               sum_with_scaled)
POLYHOP_KERNEL(void, add_scaled, (double a, const float* x, const float* y, float* out, Index n), (a, x, y, out, n),
               sum_with_scaled)
POLYHOP_KERNEL(void, add_scaled, (double a, const float* x, const double* y, double* out, Index n), (a, x, y, out, n),
               sum_with_scaled)

POLYHOP_KERNEL(void, add_scaled_rows,
               (const double* a, const void* const* x, const double* y, Index y_stride, Index rows, Index n,
                double* out, Index out_stride),
               (a, x, y, y_stride, rows, n, out, out_stride), rows_with_scaled)
POLYHOP_KERNEL(void, add_scaled_rows,
               (const double* a, const void* const* x, const float* y, Index y_stride, Index rows, Index n, float* out,
                Index out_stride),
               (a, x, y, y_stride, rows, n, out, out_stride), rows_with_scaled)

POLYHOP_KERNEL(void, add_difference, (double a, const double* x, const double* y, double* out, Index n),
               (a, x, y, out, n), sum_with_difference)
POLYHOP_KERNEL(void, add_difference, (double a, const float* x, const float* y, float* out, Index n), (a, x, y, out, n),
               sum_with_difference)

POLYHOP_KERNEL(void, blend, (double share, const double* x, double* out, Index n), (share, x, out, n), blended)
POLYHOP_KERNEL(void, blend, (double share, const float* x, float* out, Index n), (share, x, out, n), blended)
POLYHOP_KERNEL(void, blend, (double share, const float* x, double* out, Index n), (share, x, out, n), blended)

POLYHOP_KERNEL(void, moments, (double b1, double b2, double s, const double* h, double* m, double* v, Index n),
               (b1, b2, s, h, m, v, n), moments_of)
POLYHOP_KERNEL(void, moments, (double b1, double b2, double s, const float* h, float* m, float* v, Index n),
               (b1, b2, s, h, m, v, n), moments_of)

POLYHOP_KERNEL(void, raise, (double b, const double* v, double* u, Index n), (b, v, u, n), raise_to)
POLYHOP_KERNEL(void, raise, (double b, const float* v, float* u, Index n), (b, v, u, n), raise_to)

POLYHOP_KERNEL(void, fold, (const double* x, const double* s, Index n, double* out), (x, s, n, out), fold_to)
POLYHOP_KERNEL(void, fold, (const float* x, const float* s, Index n, double* out), (x, s, n, out), fold_to)

POLYHOP_KERNEL(void, scaled_step,
               (double a, const double* m, const double* u, double floor, double shift, const double* x, double* out,
                Index n),
               (a, m, u, floor, shift, x, out, n), take_scaled_step)
POLYHOP_KERNEL(void, scaled_step,
               (double a, const float* m, const float* u, double floor, double shift, const float* x, float* out,
                Index n),
               (a, m, u, floor, shift, x, out, n), take_scaled_step)

POLYHOP_KERNEL(void, combine,
               (const SparseView& a, const std::int32_t* rows, Index count, const double* x, Index x_stride,
                Index columns, double* out, Index out_stride, const Blend& also),
               (a, rows, count, x, x_stride, columns, out, out_stride, also), combine_rows)
POLYHOP_KERNEL(void, combine,
               (const SparseView& a, const std::int32_t* rows, Index count, const float* x, Index x_stride,
                Index columns, float* out, Index out_stride, const Blend& also),
               (a, rows, count, x, x_stride, columns, out, out_stride, also), combine_rows)

POLYHOP_KERNEL(void, pairwise,
               (const PairPanel& panel, const void* const* x, const void* const* y, Element element, Index columns,
                double* out),
               (panel, x, y, element, columns, out), panel_products)

POLYHOP_KERNEL(void, products,
               (const double* h, Index h_stride, Index rows, const double* wt, Index wt_stride, Index points,
                Index columns, double* out, Index out_stride),
               (h, h_stride, rows, wt, wt_stride, points, columns, out, out_stride), tiled_products)
POLYHOP_KERNEL(void, products,
               (const float* h, Index h_stride, Index rows, const double* wt, Index wt_stride, Index points,
                Index columns, double* out, Index out_stride),
               (h, h_stride, rows, wt, wt_stride, points, columns, out, out_stride), tiled_products)

POLYHOP_KERNEL(void, block_dots,
               (const double* const* x, Index rows, const double* y, Index blocks, Index n, double* out),
               (x, rows, y, blocks, n, out), dots_with_blocks)
POLYHOP_KERNEL(void, block_dots,
               (const float* const* x, Index rows, const float* y, Index blocks, Index n, double* out),
               (x, rows, y, blocks, n, out), dots_with_blocks)

POLYHOP_KERNEL(void, add_blocks,
               (const double* a, const double* const* x, Index rows, Index blocks, Index n, double* out),
               (a, x, rows, blocks, n, out), add_to_blocks)
POLYHOP_KERNEL(void, add_blocks,
               (const double* a, const float* const* x, Index rows, Index blocks, Index n, float* out),
               (a, x, rows, blocks, n, out), add_to_blocks)

POLYHOP_KERNEL(void, add_squares, (const double* a, const double* const* x, Index samples, Index columns, double* out),
               (a, x, samples, columns, out), add_squares_to)
POLYHOP_KERNEL(void, add_squares, (const double* a, const float* const* x, Index samples, Index columns, double* out),
               (a, x, samples, columns, out), add_squares_to)

POLYHOP_KERNEL(void, subtract_products,
               (const double* a, Index a_stride, const double* b, Index count, double* out, Index rows),
               (a, a_stride, b, count, out, rows), subtract_all_products)

POLYHOP_KERNEL(void, divide, (double a, double* x, Index n), (a, x, n), divided)

POLYHOP_KERNEL(void, add_two, (double a, const double* x, double b, const double* y, double* out, Index n),
               (a, x, b, y, out, n), sum_of_two)

}  // namespace polyhop::kernels

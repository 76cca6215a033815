// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "polyhop/core/index.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/rows.hpp"

/// The kernels once more, written straight from the contract in polyhop/core/kernels.hpp: no tiles, no unrolling, and
/// no look at what stands behind the end of a row. The real ones must give the same bits.
namespace polyhop::plain {

/// Lane l with lane l + 4, then l + 2, l + 1.
inline double add_lanes(const std::array<double, kernels::lanes>& lane) {
  static_assert(kernels::lanes == 8);
  std::array<double, 4> four{};
  for (std::size_t l = 0; l < 4; ++l) four[l] = lane[l] + lane[l + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/// Pieces in order, of as many lines as all but the last; within each, lanes of T, which become double where T is
/// float.
template <class T, class Term>
double reduce(Index n, Term term) {
  constexpr Index of_piece = std::is_same_v<T, float> ? kernels::float_lanes : kernels::lanes;
  Index pieces = 1;
  while ((n + of_piece - 1) / of_piece * of_piece > pieces * 512) ++pieces;
  Index length = of_piece;
  while (length * pieces < n) length += of_piece;
  double sum = 0;
  for (Index first = 0; first == 0 || first < n; first += length) {
    std::array<T, of_piece> lane{};
    for (Index j = first; j < std::min(n, first + length); ++j) {
      T& own = lane[j % of_piece];
      own = term(j, own);
    }
    std::array<double, kernels::lanes> wide{};
    for (std::size_t l = 0; l < wide.size(); ++l) wide[l] = static_cast<double>(lane[l]);
    for (std::size_t l = wide.size(); l < lane.size(); ++l) wide[l - wide.size()] += static_cast<double>(lane[l]);
    sum = first == 0 ? add_lanes(wide) : sum + add_lanes(wide);
  }
  return sum;
}

template <class T>
double dot(const T* x, const T* y, Index n) {
  return reduce<T>(n, [&](Index j, T sum) { return std::fma(x[j], y[j], sum); });
}

template <class T>
void dot_rows(const void* const* x, const T* y, Index y_stride, Index rows, Index n, double* out) {
  for (Index r = 0; r < rows; ++r) out[r] = dot(static_cast<const T*>(x[r]), y + r * y_stride, n);
}

template <class T>
double squared_distance(const T* x, const T* y, Index n) {
  return reduce<T>(n, [&](Index j, T sum) { return std::fma(x[j] - y[j], x[j] - y[j], sum); });
}

template <class T>
void dot_difference_rows(const void* const* x, const T* y, Index y_stride, const T* z, Index z_stride, Index rows,
                         Index n, double* out) {
  for (Index r = 0; r < rows; ++r, y += y_stride, z += z_stride) {
    const T* own = static_cast<const T*>(x[r]);
    out[r] = reduce<T>(n, [&](Index j, T sum) { return std::fma(own[j], y[j] - z[j], sum); });
  }
}

template <class T>
void scale(double a, const T* x, T* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = static_cast<T>(a) * x[j];
}

template <class T, class Out>
void add_scaled(double a, const T* x, const Out* y, Out* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = std::fma(static_cast<Out>(a), static_cast<Out>(x[j]), y[j]);
}

template <class T>
void add_scaled_rows(const double* a, const void* const* x, const T* y, Index y_stride, Index rows, Index n, T* out,
                     Index out_stride) {
  for (Index r = 0; r < rows; ++r) {
    add_scaled(a[r], static_cast<const T*>(x[r]), y + r * y_stride, out + r * out_stride, n);
  }
}

template <class T>
void add_difference(double a, const T* x, const T* y, T* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = std::fma(static_cast<T>(a), x[j] - y[j], out[j]);
}

template <class T>
void moments(double b1, double b2, double s, const T* h, T* m, T* v, Index n) {
  for (Index j = 0; j < n; ++j) {
    const double g = s * double{h[j]};
    m[j] = static_cast<T>(std::fma(1 - b1, g, b1 * double{m[j]}));
    v[j] = static_cast<T>(std::fma((1 - b2) * g, g, b2 * double{v[j]}));
  }
}

template <class T>
void raise(double b, const T* v, T* u, Index n) {
  for (Index j = 0; j < n; ++j) {
    u[j] = static_cast<T>(std::fma(1 - b, double{std::max(u[j], v[j])}, b * double{u[j]}));
  }
}

template <class T>
void scaled_step(double a, const T* m, const T* u, double floor, double shift, const T* x, T* out, Index n) {
  for (Index j = 0; j < n; ++j) {
    const double divisor = std::sqrt(std::max(double{u[j]}, floor)) + shift;
    out[j] = static_cast<T>(double{x[j]} - a * double{m[j]} / divisor);
  }
}

/// A row of out is a row again, with zeros up to its line's end.
template <class T>
void combine(const SparseView& a, const std::int32_t* rows, Index count, const T* x, Index x_stride, Index columns,
             T* out, Index out_stride) {
  for (Index n = 0; n < count; ++n) {
    for (Index j = 0; j < columns; ++j) {
      T sum = 0;
      for (Index e = a.offset[rows[n]]; e < a.offset[rows[n] + 1]; ++e) {
        sum = std::fma(static_cast<T>(a.weight[e]), x[a.slot[e] * x_stride + j], sum);
      }
      out[rows[n] * out_stride + j] = sum;
    }
    for (Index j = columns; j < Rows::padded(columns, element_of<T>); ++j) out[rows[n] * out_stride + j] = 0;
  }
}

/// Without any mirror: every product is formed.
template <class T>
void pairwise(const SparseView& pattern, Index rows, const void* const* x, const T* y, Index y_stride, Index columns,
              double* out) {
  for (Index r = 0; r < rows; ++r) {
    for (Index e = pattern.offset[r]; e < pattern.offset[r + 1]; ++e) {
      out[e] = dot(static_cast<const T*>(x[r]), y + pattern.slot[e] * y_stride, columns);
    }
  }
}

template <class T>
void products(const T* h, Index h_stride, Index rows, const double* wt, Index wt_stride, Index points, Index columns,
              double* out, Index out_stride) {
  for (Index r = 0; r < rows; ++r) {
    for (Index p = 0; p < points; ++p) {
      double sum = 0;
      for (Index j = 0; j < columns; ++j) sum = std::fma(double{h[r * h_stride + j]}, wt[j * wt_stride + p], sum);
      out[r * out_stride + p] = sum;
    }
  }
}

template <class T>
void block_dots(const T* const* x, Index rows, const T* y, Index blocks, Index n, double* out) {
  const Index line = Rows::line_of(element_of<T>);
  const Index whole = n / line * line;
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < blocks; ++c) {
      double sum = dot(x[r], y + c * n, whole);
      for (Index j = whole; j < n; ++j) sum = std::fma(double{x[r][j]}, double{y[c * n + j]}, sum);
      *out++ = sum;
    }
  }
}

template <class T>
void add_blocks(const double* a, const T* const* x, Index rows, Index blocks, Index n, T* out) {
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < blocks; ++c) {
      for (Index j = 0; j < n; ++j) {
        out[c * n + j] = std::fma(static_cast<T>(a[r * blocks + c]), x[r][j], out[c * n + j]);
      }
    }
  }
}

template <class T>
void add_squares(const double* a, const T* const* x, Index samples, Index columns, double* out) {
  for (Index c = 0; c < columns; ++c) {
    for (Index l = 0; l < kernels::strip; ++l) {
      double& sum = out[c * kernels::strip + l];
      for (Index j = 0; j < samples; ++j) sum = sum + a[j * kernels::strip + l] * double{x[j][c]};
    }
  }
}

inline void subtract_products(const double* a, Index a_stride, const double* b, Index count, double* out, Index rows) {
  for (Index t = 0; t < rows; ++t) {
    for (Index l = 0; l < kernels::strip; ++l) {
      double& rest = out[t * kernels::strip + l];
      for (Index r = 0; r < count; ++r) rest = rest - a[r * a_stride + t] * b[r * kernels::strip + l];
    }
  }
}

}  // namespace polyhop::plain

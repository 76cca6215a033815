// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "polyhop/core/kernels.hpp"
#include "polyhop/core/real.hpp"
#include "polyhop/core/rows.hpp"

/// The kernels once more, written straight from the contract in polyhop/core/kernels.hpp: no tiles, no unrolling, and
/// no look at what stands behind the end of a row. The real ones must give the same bits.
namespace polyhop::plain {

/// Lane l with lane l + 8, then l + 4, l + 2, l + 1.
inline double add_lanes(const std::array<double, kernels::lanes>& lane) {
  static_assert(kernels::lanes == 16);
  std::array<double, 8> eight{};
  std::array<double, 4> four{};
  for (std::size_t l = 0; l < 8; ++l) eight[l] = lane[l] + lane[l + 8];
  for (std::size_t l = 0; l < 4; ++l) four[l] = eight[l] + eight[l + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

inline double dot(const Real* x, const Real* y, Index n) {
  std::array<double, kernels::lanes> lane{};
  for (Index j = 0; j < n; ++j) {
    double& sum = lane[j % kernels::lanes];
    sum = std::fma(x[j], y[j], sum);
  }
  return add_lanes(lane);
}

inline double squared_distance(const Real* x, const Real* y, Index n) {
  std::array<double, kernels::lanes> lane{};
  for (Index j = 0; j < n; ++j) {
    double& sum = lane[j % kernels::lanes];
    sum = std::fma(x[j] - y[j], x[j] - y[j], sum);
  }
  return add_lanes(lane);
}

inline void scale(Real a, const Real* x, Real* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = a * x[j];
}

inline void add_scaled(Real a, const Real* x, const Real* y, Real* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, x[j], y[j]);
}

inline void add_difference(Real a, const Real* x, const Real* y, Real* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, x[j] - y[j], out[j]);
}

inline void moments(Real b1, Real b2, Real s, const Real* h, Real* m, Real* v, Index n) {
  for (Index j = 0; j < n; ++j) {
    const Real g = s * h[j];
    m[j] = std::fma(1 - b1, g, b1 * m[j]);
    v[j] = std::fma((1 - b2) * g, g, b2 * v[j]);
  }
}

inline void raise(Real b, const Real* v, Real* u, Index n) {
  for (Index j = 0; j < n; ++j) u[j] = std::fma(1 - b, std::max(u[j], v[j]), b * u[j]);
}

inline void scaled_step(Real a, const Real* m, const Real* u, Real floor, Real shift, const Real* x, Real* out,
                        Index n) {
  for (Index j = 0; j < n; ++j) {
    const Real divisor = std::sqrt(std::max(u[j], floor)) + shift;
    out[j] = x[j] - a * m[j] / divisor;
  }
}

/// A row of out is a row again, with zeros up to its line's end.
inline void combine(const SparseView& a, const std::int32_t* rows, Index count, const Real* x, Index x_stride,
                    Index columns, Real* out, Index out_stride) {
  for (Index n = 0; n < count; ++n) {
    for (Index j = 0; j < columns; ++j) {
      Real sum = 0;
      for (Index e = a.offset[rows[n]]; e < a.offset[rows[n] + 1]; ++e) {
        sum = std::fma(a.weight[e], x[a.slot[e] * x_stride + j], sum);
      }
      out[rows[n] * out_stride + j] = sum;
    }
    for (Index j = columns; j < Rows::padded(columns); ++j) out[rows[n] * out_stride + j] = 0;
  }
}

/// Without any mirror: every product is formed.
inline void pairwise(const SparseView& pattern, Index rows, const Real* const* x, const Real* y, Index y_stride,
                     Index columns, Real* out) {
  for (Index r = 0; r < rows; ++r) {
    for (Index e = pattern.offset[r]; e < pattern.offset[r + 1]; ++e) {
      out[e] = dot(x[r], y + pattern.slot[e] * y_stride, columns);
    }
  }
}

inline void products(const Real* h, Index h_stride, Index rows, const Real* wt, Index wt_stride, Index points,
                     Index columns, Real* out, Index out_stride) {
  for (Index r = 0; r < rows; ++r) {
    for (Index p = 0; p < points; ++p) {
      Real sum = 0;
      for (Index j = 0; j < columns; ++j) sum = std::fma(h[r * h_stride + j], wt[j * wt_stride + p], sum);
      out[r * out_stride + p] = sum;
    }
  }
}

inline void block_dots(const Real* const* x, Index rows, const Real* y, Index blocks, Index n, Real* out) {
  const Index whole = n / Rows::line * Rows::line;
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < blocks; ++c) {
      Real sum = dot(x[r], y + c * n, whole);
      for (Index j = whole; j < n; ++j) sum = std::fma(x[r][j], y[c * n + j], sum);
      *out++ = sum;
    }
  }
}

inline void add_blocks(const Real* a, const Real* const* x, Index rows, Index blocks, Index n, Real* out) {
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < blocks; ++c) {
      for (Index j = 0; j < n; ++j) out[c * n + j] = std::fma(a[r * blocks + c], x[r][j], out[c * n + j]);
    }
  }
}

}  // namespace polyhop::plain

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/kernels.hpp"

#include <algorithm>
#include <cmath>

// One source, three instruction sets, chosen at load time. The arithmetic is the same fused multiply-add in
// each, so the bits are too. Sanitizers run before the choice can be made, other compilers lack the attribute.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(POLYHOP_NO_CLONES)
#define POLYHOP_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define POLYHOP_CLONES
#endif
// Pieces of a cloned function must be compiled for the clone's instruction set: never called, always inlined.
#define POLYHOP_INLINE inline __attribute__((always_inline))

namespace polyhop::kernels {
namespace {

// Adds the lanes of a partial sum by the fixed tree.
POLYHOP_INLINE double add_lanes(double* sum) {
  for (int width = lanes / 2; width > 0; width /= 2) {
    for (int l = 0; l < width; ++l) sum[l] += sum[l + width];
  }
  return sum[0];
}

POLYHOP_INLINE double lane_dot(const Real* x, const Real* y, Index n) {
  double sum[lanes] = {};
  Index j = 0;
  for (; j + lanes <= n; j += lanes) {
    for (int l = 0; l < lanes; ++l) sum[l] = std::fma(x[j + l], y[j + l], sum[l]);
  }
  for (int l = 0; j + l < n; ++l) sum[l] = std::fma(x[j + l], y[j + l], sum[l]);
  return add_lanes(sum);
}

}  // namespace

POLYHOP_CLONES double dot(const Real* x, const Real* y, Index n) { return lane_dot(x, y, n); }

POLYHOP_CLONES double squared_distance(const Real* x, const Real* y, Index n) {
  double sum[lanes] = {};
  Index j = 0;
  for (; j + lanes <= n; j += lanes) {
    for (int l = 0; l < lanes; ++l) {
      const double d = x[j + l] - y[j + l];
      sum[l] = std::fma(d, d, sum[l]);
    }
  }
  for (int l = 0; j + l < n; ++l) {
    const double d = x[j + l] - y[j + l];
    sum[l] = std::fma(d, d, sum[l]);
  }
  return add_lanes(sum);
}

POLYHOP_CLONES void scale(Real a, const Real* x, Real* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = a * x[j];
}

POLYHOP_CLONES void add_scaled(Real a, const Real* x, const Real* y, Real* out, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = std::fma(a, x[j], y[j]);
}

POLYHOP_CLONES void combine(const SparseView& a, const std::int32_t* rows, Index count, const Real* x, Index x_stride,
                            Index columns, Real* out, Index out_stride) {
  constexpr Index width = 32;  // partial sums that stay in registers
  for (Index n = 0; n < count; ++n) {
    const Index r = rows[n];
    for (Index j = 0; j < columns; j += width) {
      const Index rest = std::min(width, columns - j);
      Real sum[width] = {};
      for (Index e = a.offset[r]; e < a.offset[r + 1]; ++e) {
        const Real w = a.weight[e];
        const Real* source = x + a.slot[e] * x_stride + j;
        if (rest == width) {
          for (Index l = 0; l < width; ++l) sum[l] = std::fma(w, source[l], sum[l]);
        } else {
          for (Index l = 0; l < rest; ++l) sum[l] = std::fma(w, source[l], sum[l]);
        }
      }
      std::copy_n(sum, rest, out + r * out_stride + j);
    }
  }
}

POLYHOP_CLONES void pairwise(const SparseView& pattern, Index rows, const Real* const* x, const Real* y, Index y_stride,
                             Index columns, const Index* mirror, Real* out) {
  for (Index r = 0; r < rows; ++r) {
    for (Index e = pattern.offset[r]; e < pattern.offset[r + 1]; ++e) {
      const bool known = mirror != nullptr && mirror[e] >= 0;
      out[e] = known ? out[mirror[e]] : lane_dot(x[r], y + pattern.slot[e] * y_stride, columns);
    }
  }
}

namespace {

template <int height>
POLYHOP_INLINE void product_tile_of(const Real* h, Index h_stride, const Real* wt, Index wt_stride, Index columns,
                                    Real* out, Index out_stride) {
  double sum[height][product_tile] = {};
  for (Index j = 0; j < columns; ++j) {
    const Real* w = wt + j * wt_stride;
    for (int r = 0; r < height; ++r) {
      const Real a = h[r * h_stride + j];
      for (Index p = 0; p < product_tile; ++p) sum[r][p] = std::fma(a, w[p], sum[r][p]);
    }
  }
  for (int r = 0; r < height; ++r) {
    for (Index p = 0; p < product_tile; ++p) out[r * out_stride + p] = sum[r][p];
  }
}

}  // namespace

POLYHOP_CLONES void products(const Real* h, Index h_stride, Index rows, const Real* wt, Index wt_stride, Index points,
                             Index columns, Real* out, Index out_stride) {
  for (Index p = 0; p < points; p += product_tile) {
    Index r = 0;
    for (; r + 2 <= rows; r += 2) {
      product_tile_of<2>(h + r * h_stride, h_stride, wt + p, wt_stride, columns, out + r * out_stride + p, out_stride);
    }
    if (r < rows) {
      product_tile_of<1>(h + r * h_stride, h_stride, wt + p, wt_stride, columns, out + r * out_stride + p, out_stride);
    }
  }
}

}  // namespace polyhop::kernels

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/cholesky_factor.hpp"

#include <algorithm>
#include <cmath>

namespace polyhop {
namespace {

constexpr Index strips_of(Index size) { return (size + kernels::strip - 1) / kernels::strip; }

}  // namespace

CholeskyFactor::CholeskyFactor(Index size, double vanished)
    : size_(size),
      vanished_(vanished),
      numbers_(strips_of(size) * (strips_of(size) + 1) / 2 * width, width),
      stood_(size),
      roots_(size),
      x_(strips_of(size) * width) {
  static_assert(Rows::stride_of(width, Element::float64) == width);
}

void CholeskyFactor::take(const PackedMatrix& matrix, std::span<const double> diagonal) {
  live_ = 0;
  for (Index b = 0; b < strips_of(size_); ++b) {
    load(matrix, diagonal, b);
    for (Index t = 0; t <= b; ++t) explain(t, b);
  }
}

// Zeros below the diagonal, and beside the matrix.
void CholeskyFactor::load(const PackedMatrix& matrix, std::span<const double> diagonal, Index b) {
  const Index first = b * width;
  const Index last = std::min(first + width, size_);
  double* to = strip(b);
  for (Index r = 0; r < first; ++r, to += width) std::copy(matrix.row(r) + first, matrix.row(r) + last, to);
  std::fill_n(to, width * width, 0.0);
  for (Index r = first; r < last; ++r, to += width) {
    std::copy(matrix.row(r) + r, matrix.row(r) + last, to + (r - first));
    to[r - first] += diagonal[r];
    stood_[r] = to[r - first];
  }
}

// The rows of strip b where strip t has its diagonal: what the rows above explain is taken from them.
void CholeskyFactor::explain(Index t, Index b) {
  constexpr Index together = 4;
  const Index first = t * width;
  if (t < b && first >= live_) {
    std::fill_n(strip(b) + first * width, width * width, 0.0);
    return;
  }
  const double* from = strip(t);
  double* to = strip(b);
  const Index rows = std::min(width, size_ - first);
  kernels::subtract_products(from, width, to, std::min(first, live_), to + first * width, rows);
  for (Index r = first; r < first + rows; r += together) {
    const Index some = std::min(together, first + rows - r);
    kernels::subtract_products(from + first * width + (r - first), width, to + first * width, r - first, to + r * width,
                               some);
    for (Index s = r; s < r + some; ++s) {
      kernels::subtract_products(from + r * width + (s - first), width, to + r * width, s - r, to + s * width, 1);
      finish_row(s, b);
    }
  }
}

void CholeskyFactor::finish_row(Index r, Index b) {
  double* row = strip(b) + r * width;
  const Index place = r - b * width;
  if (place >= 0) {
    std::fill_n(row, place, 0.0);
    roots_[r] = is_lost(r) ? 0 : std::sqrt(row[place]);
    if (roots_[r] != 0) live_ = r + 1;
  }
  if (roots_[r] == 0) {
    std::fill_n(row, width, 0.0);
  } else {
    kernels::divide(roots_[r], row, width);
  }
}

// Whether what is left on the diagonal is rounding. The rows above have taken the sum of their squares in this column
// from it. Together they are what stood there, up to rounding, so that the sum matters near the limit only.
bool CholeskyFactor::is_lost(Index r) const {
  const double left = (*this)(r, r);
  if (left > 2 * vanished_ * stood_[r]) return false;
  if (left < vanished_ / 2 * stood_[r]) return true;
  double whole = left;
  for (Index s = 0; s < r; ++s) whole += (*this)(s, r) * (*this)(s, r);
  return !(left > vanished_ * whole);
}

void CholeskyFactor::solve(std::span<double> x) {
  std::ranges::fill(x_, 0.0);
  std::ranges::copy(x, x_.begin());
  for (Index b = 0; b < strips_of(size_); ++b) {
    const Index first = b * width;
    double* own = &x_[first];
    kernels::subtract_products(x_.data(), 1, strip(b), std::min(first, live_), own, 1);
    const double* u = strip(b) + first * width;
    for (Index r = 0; r < width; ++r, u += width) {
      own[r] = u[r] == 0 ? 0 : own[r] / u[r];
      for (Index s = r + 1; s < width; ++s) own[s] -= u[s] * own[r];
    }
  }
  for (Index r = live_ - 1; r >= 0; --r) {
    const double root = (*this)(r, r);
    if (root == 0) continue;  // x is 0 there
    double rest = x_[r];
    Index s = r + 1;
    for (Index b = r / width; b < strips_of(size_); ++b) {
      const double* u = strip(b) + r * width;
      for (; s < std::min((b + 1) * width, size_); ++s) rest -= u[s - b * width] * x_[s];
    }
    x_[r] = rest / root;
  }
  std::copy_n(x_.begin(), size_, x.begin());
}

}  // namespace polyhop

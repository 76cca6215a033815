// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/packed_matrix.hpp"

#include <algorithm>
#include <cmath>

namespace polyhop {

void PackedMatrix::multiply(std::span<const double> x, std::span<double> out) const {
  std::ranges::fill(out, 0.0);
  for (Index r = 0; r < size_; ++r) {
    const double* a = row(r);
    out[r] += a[r] * x[r];
    for (Index s = r + 1; s < size_; ++s) {
      out[r] += a[s] * x[s];
      out[s] += a[s] * x[r];
    }
  }
}

void PackedMatrix::add_square(double a, std::span<const double> x) {
  for (Index r = 0; r < size_; ++r) {
    double* to = row(r);
    const double by = a * x[r];
    for (Index s = r; s < size_; ++s) to[s] += by * x[s];
  }
}

void PackedMatrix::add_diagonal(std::span<const double> x) {
  for (Index r = 0; r < size_; ++r) row(r)[r] += x[r];
}

// Row r of U, and what it explains is taken from the rows below.
void PackedMatrix::factor() {
  constexpr double lost = 1e-11;  // of what stood on the diagonal
  for (Index r = 0; r < size_; ++r) {
    double* u = row(r);
    // The rows above have taken the sum of their squares in this column from the diagonal.
    double whole = u[r];
    for (Index s = 0; s < r; ++s) whole += row(s)[r] * row(s)[r];
    if (!(u[r] > lost * whole)) {
      std::fill(u + r, u + size_, 0.0);
      continue;
    }
    const double root = std::sqrt(u[r]);
    for (Index s = r; s < size_; ++s) u[s] /= root;
    for (Index t = r + 1; t < size_; ++t) {
      double* below = row(t);
      const double a = u[t];
      for (Index s = t; s < size_; ++s) below[s] -= a * u[s];
    }
  }
}

void PackedMatrix::solve(std::span<double> x) const {
  for (Index r = 0; r < size_; ++r) {
    const double* u = row(r);
    x[r] = u[r] == 0 ? 0 : x[r] / u[r];
    for (Index s = r + 1; s < size_; ++s) x[s] -= u[s] * x[r];
  }
  for (Index r = size_ - 1; r >= 0; --r) {
    const double* u = row(r);
    for (Index s = r + 1; s < size_; ++s) x[r] -= u[s] * x[s];
    x[r] = u[r] == 0 ? 0 : x[r] / u[r];
  }
}

}  // namespace polyhop

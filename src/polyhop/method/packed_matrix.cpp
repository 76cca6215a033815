// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/packed_matrix.hpp"

#include <algorithm>

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
    double* to = own_row(r);
    const double by = a * x[r];
    for (Index s = r; s < size_; ++s) to[s] += by * x[s];
  }
}

}  // namespace polyhop

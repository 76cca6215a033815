// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/packed_matrix.hpp"

#include <algorithm>
#include <array>

#include "polyhop/core/kernels.hpp"

namespace polyhop {

// Some rows at a time, so that the sums along them do not wait for each other: out[r] takes the columns in order.
void PackedMatrix::multiply(std::span<const double> x, std::span<double> out) const {
  constexpr Index together = 8;
  std::ranges::fill(out, 0.0);
  Index first = 0;
  for (; first + together < size_; first += together) {
    std::array<const double*, together> rows{};
    for (Index i = 0; i < together; ++i) {
      const Index r = first + i;
      rows[i] = row(r);
      out[r] += rows[i][r] * x[r];
      for (Index s = r + 1; s < first + together; ++s) {
        out[r] += rows[i][s] * x[s];
        out[s] += rows[i][s] * x[r];
      }
    }
    std::array<double, together> along{};
    std::copy_n(out.begin() + first, together, along.begin());
    for (Index s = first + together; s < size_; ++s) {
      double down = out[s];
      for (Index i = 0; i < together; ++i) {
        along[i] += rows[i][s] * x[s];
        down += rows[i][s] * x[first + i];
      }
      out[s] = down;
    }
    std::ranges::copy(along, out.begin() + first);
  }
  for (Index r = first; r < size_; ++r) {
    const double* a = row(r);
    out[r] += a[r] * x[r];
    for (Index s = r + 1; s < size_; ++s) {
      out[r] += a[s] * x[s];
      out[s] += a[s] * x[r];
    }
  }
}

void PackedMatrix::add_squares(double a, std::span<const double> x, double b, std::span<const double> y) {
  for (Index r = 0; r < size_; ++r) {
    kernels::add_two(a * x[r], x.data() + r, b * y[r], y.data() + r, own_row(r) + r, size_ - r);
  }
}

void PackedMatrix::set(const TriangleBands& order, Index first, std::span<const double> numbers) {
  const double* from = numbers.data();
  order.each_piece(first, static_cast<Index>(numbers.size()), [&](const TriangleBands::Piece& piece) {
    for (Index r = piece.row; r < piece.last; ++r) own_row(r)[piece.column] = *from++;
  });
}

}  // namespace polyhop

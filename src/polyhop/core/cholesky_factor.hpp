// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "polyhop/core/kernels.hpp"
#include "polyhop/core/packed_matrix.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// U, upper triangular, of U^T U = a symmetric matrix without negative eigenvalues. A row whose pivot is lost in
/// rounding is 0. Every number of U is one chain of subtractions, row after row, and a division, whatever tiles they
/// are done in. Kept in strips of columns: those of a strip, row after row, down to its last diagonal.
class CholeskyFactor {
 public:
  /// A pivot below this share of what stood on the diagonal is lost.
  explicit CholeskyFactor(Index size, double vanished = 1e-11);
  /// The factor of the matrix with these numbers added to its diagonal.
  void take(const PackedMatrix& matrix, std::span<const double> diagonal);
  /// x <- a solution of U^T U x = b, x = b at first; 0 in the rows that are 0.
  void solve(std::span<double> x);
  /// A number of U, r <= s.
  [[nodiscard]] double operator()(Index r, Index s) const { return strip(s / width)[r * width + s % width]; }

 private:
  static constexpr Index width = kernels::strip;

  // Strip b has (b + 1) width rows.
  [[nodiscard]] double* strip(Index b) { return numbers_.data() + b * (b + 1) / 2 * width * width; }
  [[nodiscard]] const double* strip(Index b) const { return numbers_.data() + b * (b + 1) / 2 * width * width; }
  void load(const PackedMatrix& matrix, std::span<const double> diagonal, Index b);
  void explain(Index t, Index b);
  void finish_row(Index t, Index b);
  [[nodiscard]] bool is_lost(Index r) const;

  Index size_;
  double vanished_;
  Rows numbers_;
  std::vector<double> stood_;  // on the diagonal
  std::vector<double> roots_;  // of the pivots, 0 where they are lost
  std::vector<double> x_;
  Index live_ = 0;  // of the rows that are there, those from here on are 0
};

}  // namespace polyhop

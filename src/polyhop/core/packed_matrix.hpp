// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/core/triangle_bands.hpp"

namespace polyhop {

/// A symmetric matrix, stored as its upper triangle, row by row. Not Eigen's, whose results depend on how memory is
/// aligned: here every sum runs in one fixed order, so that the same numbers give the same bits everywhere.
class PackedMatrix {
 public:
  explicit PackedMatrix(Index size) : size_(size), numbers_(1, size * (size + 1) / 2) {}
  [[nodiscard]] Index size() const { return size_; }
  /// The triangle: row r has size - r numbers, from the diagonal on.
  [[nodiscard]] std::span<double> numbers() { return numbers_.row(0); }
  [[nodiscard]] std::span<const double> numbers() const { return numbers_.row(0); }

  /// out = matrix x
  void multiply(std::span<const double> x, std::span<double> out) const;
  /// matrix += a x x^T + b y y^T
  void add_squares(double a, std::span<const double> x, double b, std::span<const double> y);
  /// Takes these numbers of the triangle, from number `first` of this order on.
  void set(const TriangleBands& order, Index first, std::span<const double> numbers);
  /// Number s of the result is that of row r and column s; only from s = r on.
  [[nodiscard]] const double* row(Index r) const { return &numbers()[begin(r)]; }
  /// Registers the numbers, shared by all.
  void register_state(StateRegistry& state, const std::string& name) { state.shared(name, numbers_); }

 private:
  [[nodiscard]] double* own_row(Index r) { return &numbers()[begin(r)]; }
  // Where row r would begin if it began with its column 0.
  [[nodiscard]] Index begin(Index r) const { return r * size_ - r * (r + 1) / 2; }

  Index size_;
  Rows numbers_;
};

}  // namespace polyhop

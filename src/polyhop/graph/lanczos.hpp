// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// Lanczos' iteration for the ends of a symmetric matrix' spectrum, one product and O(size) per step. It does not
/// reorthogonalise: the extreme Ritz values stay right, only copies of them appear (Paige 1971), and every step costs
/// the same. With an orthogonal basis of 80 vectors, a step on 100,000 agents would take more than ten times as long.
/// Plain sums in index order, so the bits depend only on the inputs.
class Lanczos {
 public:
  using Vector = std::vector<double>;
  using Product = std::function<void(const Vector&, Vector&)>;

  /// An eigenvalue of the matrix lies within `residual` of `value`.
  struct Ritz {
    double value = 0;
    double residual = 0;
  };

  /// In index order.
  static double dot(const Vector& x, const Vector& y);

  Lanczos(Product product, Vector start);

  /// Makes one more step; false if this start has nothing left to find.
  bool step();
  [[nodiscard]] Index steps() const { return static_cast<Index>(diagonal_.size()); }
  /// Whether it is time to look again: looking gets more expensive with every step.
  [[nodiscard]] bool time_to_look() const;
  /// Updates `largest` and `smallest`, after at least one step. O(steps).
  void look();
  [[nodiscard]] const Ritz& largest() const { return largest_; }
  [[nodiscard]] const Ritz& smallest() const { return smallest_; }

 private:
  /// Of sign * T, where T is the tridiagonal matrix so far.
  [[nodiscard]] double largest_eigenvalue(double sign) const;
  /// Of the unit eigenvector of sign * T for that value: times off_n it is the residual of the Ritz pair.
  [[nodiscard]] double last_component(double sign, double value) const;
  [[nodiscard]] Ritz end(double sign) const;

  Product product_;
  Vector v_;
  Vector previous_;
  Vector w_;
  Vector diagonal_;
  Vector off_;  // off_[i] couples i and i+1; the next step starts from the last one
  Ritz largest_ = {0, std::numeric_limits<double>::infinity()};
  Ritz smallest_ = {0, std::numeric_limits<double>::infinity()};
};

}  // namespace polyhop

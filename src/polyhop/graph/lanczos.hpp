// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// Lanczos' iteration for the ends of a symmetric matrix' spectrum, one product and O(size) per step.
/// It does not reorthogonalise: the extreme Ritz values stay right, only copies of them appear (Paige 1971), and
/// a step costs the same however many went before. With a basis of 80 kept orthogonal a step on 100,000 agents
/// takes ten times as long and more. Plain sums in index order, so the bits depend on the inputs alone.
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

  /// One more step; false if there is nothing left to find from this start.
  bool step();
  [[nodiscard]] Index steps() const { return static_cast<Index>(diagonal_.size()); }
  /// Whether it is time to look again: the price of a look grows with the steps.
  [[nodiscard]] bool time_to_look() const;
  /// Brings `largest` and `smallest` up to date, after at least one step. O(steps).
  void look();
  [[nodiscard]] const Ritz& largest() const { return largest_; }
  [[nodiscard]] const Ritz& smallest() const { return smallest_; }

 private:
  /// Of sign T, T being the tridiagonal matrix so far.
  [[nodiscard]] double largest_eigenvalue(double sign) const;
  /// Of the unit eigenvector of sign T for that value: off_n times it is the residual of the Ritz pair.
  [[nodiscard]] double last_component(double sign, double value) const;
  [[nodiscard]] Ritz end(double sign) const;

  Product product_;
  Vector v_;
  Vector previous_;
  Vector w_;
  Vector diagonal_;
  Vector off_;  // off_[i] couples i and i+1; the last one is what the next step starts from
  Ritz largest_ = {0, std::numeric_limits<double>::infinity()};
  Ritz smallest_ = {0, std::numeric_limits<double>::infinity()};
};

}  // namespace polyhop

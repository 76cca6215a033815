// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <string>
#include <utility>

#include "polyhop/problem/optimum/design.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop::optimum {

/// A cost J that solvers work on.
class Cost {
 public:
  Cost(Vector penalty_, bool is_flat_) : penalty(std::move(penalty_)), is_flat(is_flat_) {}
  virtual ~Cost() = default;

  /// J(w) and, if requested, its gradient.
  [[nodiscard]] virtual double evaluate(const Vector& w, Vector* gradient) const = 0;
  [[nodiscard]] double value(const Vector& w) const { return evaluate(w, nullptr); }
  [[nodiscard]] Vector gradient(const Vector& w) const {
    Vector g;
    (void)evaluate(w, &g);
    return g;
  }
  /// Stores the curvatures at w, for products of the Hessian there with vectors.
  virtual void fix_curvature(const Vector& w) = 0;
  [[nodiscard]] virtual Vector curvature_times(const Vector& v) const = 0;
  /// The Hessian at that w; ask for its size first.
  [[nodiscard]] virtual bool has_small_hessian() const = 0;
  [[nodiscard]] virtual Matrix hessian() const = 0;
  /// True if costs fall towards 0 forever along w, because every sample is on its class's side.
  [[nodiscard]] virtual bool falls_along(const Vector& w) const = 0;
  /// True if no cost is below 0.
  [[nodiscard]] virtual bool is_positive() const = 0;
  [[nodiscard]] virtual bool is_smooth() const = 0;
  /// Multiplications per gradient.
  [[nodiscard]] virtual double work() const = 0;
  /// For each coefficient, the mean square of its factors; empty if unknown.
  [[nodiscard]] virtual Vector squares() const { return {}; }

  Vector penalty;  // of each coefficient; empty if it is added elsewhere
  bool is_flat;    // without a penalty

 protected:
  [[nodiscard]] double half_penalty(const Vector& w) const {
    return penalty.size() == 0 ? 0 : 0.5 * penalty.dot(w.cwiseAbs2());
  }
  void add_penalty(const Vector& w, Vector& g) const {
    if (penalty.size() > 0) g += penalty.cwiseProduct(w);
  }
};

/// The reference at w, the solver's final point.
Reference finish(const Cost& cost, const Vector& w, double accuracy, std::string how);

/// How many gradients fit into a few minutes.
int affordable_gradients(const Cost& cost);

/// How far above the minimum the search may end, relative to the value: as close as rounding allows, or less close if a
/// gradient takes a good part of a second.
double negligible(const Cost& cost);

/// Units in which the cost has about the same curvature along all coefficients, from the diagonal of a Hessian.
Vector even_units(const Vector& curvature);

}  // namespace polyhop::optimum

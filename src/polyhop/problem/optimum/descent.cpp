// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/descent.hpp"

#include <lbfgs.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "polyhop/problem/optimum/newton.hpp"

namespace polyhop::optimum {
namespace {

struct Descent {
  const Cost& cost;
  bool falls = false;
  std::exception_ptr error = nullptr;  // the C code in between lets no exception through
};

double lbfgs_evaluate(void* instance, const double* x, double* g, int n, double /*step*/) {
  constexpr double too_far = std::numeric_limits<double>::infinity();
  auto& descent = *static_cast<Descent*>(instance);
  if (descent.error == nullptr) {
    try {
      const Vector w = Eigen::Map<const Vector>(x, n);
      Vector gradient;
      const double value = descent.cost.evaluate(w, &gradient);
      Eigen::Map<Vector>(g, n) = gradient;
      // An overflow means too far, and the line search turns back.
      return std::isfinite(value) ? value : too_far;
    } catch (...) {
      descent.error = std::current_exception();
    }
  }
  // After an error the line search finds nothing any more and gives up.
  std::fill_n(g, n, 0.0);
  return too_far;
}

int lbfgs_progress(void* instance, const double* x, const double*, double, double, double, double, int n, int, int) {
  auto& descent = *static_cast<Descent*>(instance);
  try {
    descent.falls = descent.cost.falls_along(Eigen::Map<const Vector>(x, n));
  } catch (...) {
    descent.error = std::current_exception();
  }
  return descent.falls || descent.error != nullptr ? 1 : 0;
}

// A cost in other units: J(unit * v), number by number.
class Scaled final : public Cost {
 public:
  Scaled(Cost& cost, Vector unit)
      : Cost(cost.penalty.cwiseProduct(unit.cwiseAbs2()), cost.is_flat), cost_(cost), unit_(std::move(unit)) {}
  [[nodiscard]] Vector original(const Vector& v) const { return unit_.cwiseProduct(v); }

  [[nodiscard]] double evaluate(const Vector& v, Vector* gradient) const override {
    const double value = cost_.evaluate(original(v), gradient);
    if (gradient != nullptr) *gradient = unit_.cwiseProduct(*gradient);
    return value;
  }
  void fix_curvature(const Vector& v) override { cost_.fix_curvature(original(v)); }
  [[nodiscard]] Vector curvature_times(const Vector& v) const override {
    return unit_.cwiseProduct(cost_.curvature_times(original(v)));
  }
  [[nodiscard]] bool has_small_hessian() const override { return cost_.has_small_hessian(); }
  [[nodiscard]] Matrix hessian() const override { return unit_.asDiagonal() * cost_.hessian() * unit_.asDiagonal(); }
  [[nodiscard]] bool falls_along(const Vector& v) const override { return cost_.falls_along(original(v)); }
  [[nodiscard]] bool is_positive() const override { return cost_.is_positive(); }
  [[nodiscard]] bool is_smooth() const override { return cost_.is_smooth(); }
  [[nodiscard]] double work() const override { return cost_.work(); }

 private:
  Cost& cost_;
  Vector unit_;
};

}  // namespace

Reference by_descent(Cost& cost, const Vector& start) {
  Descent descent{cost};
  std::vector<double> x(start.begin(), start.end());
  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.m = 20;
  parameters.epsilon = 1e-11;
  parameters.max_iterations = affordable_gradients(cost);
  parameters.past = 10;
  parameters.delta = 10 * negligible(cost);
  // Interpolation needs finite values everywhere.
  parameters.linesearch = cost.is_smooth() ? LBFGS_LINESEARCH_MORETHUENTE : LBFGS_LINESEARCH_BACKTRACKING_STRONG_WOLFE;
  parameters.max_linesearch = 60;
  // Any return code is fine: the point that was reached is judged below.
  lbfgs(static_cast<int>(x.size()), x.data(), nullptr, lbfgs_evaluate, lbfgs_progress, &descent, &parameters);
  if (descent.error != nullptr) std::rethrow_exception(descent.error);
  if (descent.falls) {
    Reference reference;
    reference.accuracy = 0;
    reference.how = "the classes are separable: no minimiser, infimum 0";
    return reference;
  }
  Vector w = Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
  const bool small = cost.has_small_hessian();
  double accuracy = small ? newton_by_factorisation(cost, w) : newton_by_conjugate_gradients(cost, w);
  const double least = cost.penalty.minCoeff();
  if (!small && least > 0) accuracy = std::max(accuracy, cost.gradient(w).squaredNorm() / (2 * least));
  Reference reference =
      finish(cost, w, accuracy,
             small ? "L-BFGS, then Newton's method" : "L-BFGS, then Newton's method by conjugate gradients");
  const double drop = std::max(cost.value(start) - reference.value, std::abs(reference.value));
  if (!(reference.accuracy <= 1e-6 * drop)) reference.how += ", which did not converge";
  return reference;
}

Reference by_descent(Cost& cost) {
  constexpr double orders = 1e3;
  constexpr double far = 1e6;  // from 1: what counts as small there may be everything
  const Vector zero = Vector::Zero(cost.penalty.size());
  const Vector unit = even_units(cost.squares() + cost.penalty);
  const bool even = unit.maxCoeff() <= orders * unit.minCoeff();
  if (even && unit.maxCoeff() <= far && unit.minCoeff() >= 1 / far) return by_descent(cost, zero);
  Scaled scaled(cost, unit);
  Reference reference = by_descent(scaled, zero);
  if (!reference.minimiser) return reference;
  // Samples that are fitted almost exactly curve differently at the minimum than at 0.
  if (reference.accuracy > 1e-12 * std::max(1.0, std::abs(reference.value))) {
    Reference plain = by_descent(cost, zero);
    if (plain.value < reference.value) return plain;
  }
  const Vector w = scaled.original(Eigen::Map<const Vector>(reference.minimiser->data(), zero.size()));
  reference.minimiser->assign(w.begin(), w.end());
  return reference;
}

}  // namespace polyhop::optimum

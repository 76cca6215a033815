// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/newton.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "polyhop/problem/optimum/conjugate_gradients.hpp"

namespace polyhop::optimum {
namespace {

// Solves (Hessian + damping * identity) d = -g, with the Hessian at the stored curvatures.
using Solve = std::function<Vector(const Vector& g, double damping)>;

double least_gain(const Cost& cost, double value) { return negligible(cost) * std::max(1.0, std::abs(value)); }

// What a step d promises. Where curvatures explain little of the slope, for example where a loss is linear, they
// promise nothing: the gain is then bounded by the slope itself over a distance of the order of that from 0.
double promised_gain(const Cost& cost, const Vector& w, const Vector& g, const Vector& d) {
  const double gain = 0.5 * std::abs(g.dot(d));
  const double slope = g.norm();
  if ((cost.curvature_times(d) + g).norm() <= 0.5 * slope) return gain;
  return std::max(gain, slope * std::max(1.0, w.norm()));
}

// Newton's method with halving, from a point that is already good; returns the last decrement's predicted gain.
double polish(Cost& cost, Vector& w, int steps, const Solve& solve) {
  double gain = 0;
  double value = cost.value(w);
  for (int step = 0; step < steps; ++step) {
    const Vector g = cost.gradient(w);
    cost.fix_curvature(w);
    const Vector d = solve(g, 0);
    gain = promised_gain(cost, w, g, d);
    if (!(gain > least_gain(cost, value))) break;
    double a = 1;
    while (a > 1e-6 && !(cost.value(w + a * d) < value)) a /= 2;
    if (a <= 1e-6) break;
    w += a * d;
    value = cost.value(w);
  }
  return gain;
}

// A point with what is known of the cost there.
struct Known {
  Vector w;
  Vector g;
  double value = 0;
};

Known known_at(const Cost& cost, Vector w) {
  Known out{std::move(w), {}, 0};
  out.value = cost.evaluate(out.w, &out.g);
  return out;
}

// Where rounding hides which of two values is lower, the slope at the end of step d decides.
bool is_lower(const Known& there, const Known& here, const Vector& d) {
  if (!std::isfinite(there.value)) return false;
  const double rounding = 1e-14 * std::abs(here.value);
  return there.value < here.value || (there.value <= here.value + rounding && there.g.dot(d) <= 0);
}

// Levenberg-Marquardt: damping grows where the quadratic model fails, so that steps end before curvatures change, and
// shrinks where it holds. Continues while `left`, from which `solve` deducts its price, is above 0.
void descend_damped(Cost& cost, Vector& w, const int& left, const Solve& solve) {
  Known here = known_at(cost, w);
  double damping = here.g.norm() / std::max(1.0, w.norm());
  const double least = 1e-12 * damping;
  cost.fix_curvature(here.w);
  while (left > 0 && damping > least) {
    const Vector d = solve(here.g, damping);
    if (!(-here.g.dot(d) > least_gain(cost, here.value))) {
      damping /= 10;
      continue;
    }
    Known there = known_at(cost, here.w + d);
    // Both are exact if curvatures are constant, and neither is a difference of values.
    const double promised = 0.5 * (damping * d.squaredNorm() - here.g.dot(d));
    const double kept = -0.5 * (here.g + there.g).dot(d);
    const bool lower = is_lower(there, here, d);
    if (lower) {
      here = std::move(there);
      cost.fix_curvature(here.w);
    }
    if (lower && kept > 0.75 * promised) {
      damping /= 10;
    } else if (!lower || kept < 0.25 * promised) {
      damping *= 4;
    }
  }
  w = here.w;
}

// Polishes; if that does not come close, polishes again from a point found by damped steps.
double reach(Cost& cost, Vector& w, int steps, const int& left, const Solve& solve) {
  const double gain = polish(cost, w, steps, solve);
  const double close = std::max(1e-10, 100 * negligible(cost)) * std::max(1.0, std::abs(cost.value(w)));
  if (gain <= close) return gain;
  descend_damped(cost, w, left, solve);
  return polish(cost, w, steps, solve);
}

}  // namespace

double newton_by_factorisation(Cost& cost, Vector& w) {
  constexpr int steps = 30;
  // In gradients.
  const int price = 1 + static_cast<int>(w.size()) / 4;
  int left = std::max(affordable_gradients(cost), 2 * steps * price);
  return reach(cost, w, steps, left, [&](const Vector& g, double damping) -> Vector {
    left -= price;
    Matrix hessian = cost.hessian();
    hessian.diagonal().array() += 1e-14 * hessian.diagonal().maxCoeff() + damping;
    return Eigen::LDLT<Matrix>(hessian).solve(-g);
  });
}

double newton_by_conjugate_gradients(Cost& cost, Vector& w) {
  // If gradients are expensive, one good step; its gain tells how far off the point was.
  const int steps = negligible(cost) > 1e-12 ? 1 : 8;
  const int most = std::min(affordable_gradients(cost) / (steps == 1 ? 4 : 8), 20 + 2 * static_cast<int>(w.size()));
  int left = affordable_gradients(cost) / 4;
  return reach(cost, w, steps, left, [&](const Vector& g, double damping) {
    Vector d;
    left -= 1 + static_cast<int>(conjugate_gradients(cost, -g, 1e-6, most, d, damping).size());
    return d;
  });
}

}  // namespace polyhop::optimum

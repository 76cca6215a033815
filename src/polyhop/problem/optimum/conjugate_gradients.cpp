// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/conjugate_gradients.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>

namespace polyhop::optimum {
namespace {

// The error of conjugate gradients is the sum of all future gains; estimated here by the most recent ones.
double last_gains(const std::vector<double>& gains) {
  const auto count = std::min<std::ptrdiff_t>(10, static_cast<std::ptrdiff_t>(gains.size()));
  return std::accumulate(gains.end() - count, gains.end(), 0.0);
}

}  // namespace

std::vector<double> conjugate_gradients(const Cost& cost, Vector r, double enough, int most, Vector& d,
                                        double damping) {
  d = Vector::Zero(r.size());
  Vector p = r;
  double rr = r.squaredNorm();
  const double last = enough * enough * rr;
  std::vector<double> gains;
  while (static_cast<int>(gains.size()) < most && rr > last) {
    Vector q = cost.curvature_times(p);
    if (damping > 0) q += damping * p;
    const double curvature = p.dot(q);
    if (!(curvature > 0)) break;
    const double a = rr / curvature;
    d += a * p;
    r -= a * q;
    gains.push_back(0.5 * a * rr);
    const double next = r.squaredNorm();
    p = r + (next / rr) * p;
    rr = next;
  }
  return gains;
}

Reference by_conjugate_gradients(Cost& cost) {
  const Vector zero = Vector::Zero(cost.penalty.size());
  cost.fix_curvature(zero);
  Vector w;
  const auto gains = conjugate_gradients(cost, -cost.gradient(zero), 1e-14, affordable_gradients(cost), w);
  const double least = cost.penalty.minCoeff();
  const double accuracy = least > 0 ? cost.gradient(w).squaredNorm() / (2 * least) : last_gains(gains);
  return finish(cost, w, accuracy, "least squares, " + std::to_string(gains.size()) + " conjugate gradient steps");
}

}  // namespace polyhop::optimum

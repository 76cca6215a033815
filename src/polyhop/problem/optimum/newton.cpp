// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/newton.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>

#include "polyhop/problem/optimum/conjugate_gradients.hpp"

namespace polyhop::optimum {
namespace {

// Newton's method with halving, from a point that is already good; returns the last decrement's predicted gain.
double polish(Cost& cost, Vector& w, int steps, const std::function<Vector(const Vector& g)>& direction) {
  double gain = 0;
  double value = cost.value(w);
  for (int step = 0; step < steps; ++step) {
    const Vector g = cost.gradient(w);
    cost.fix_curvature(w);
    const Vector d = direction(g);
    gain = 0.5 * std::abs(g.dot(d));
    if (!(gain > negligible(cost) * std::max(1.0, std::abs(value)))) break;
    double a = 1;
    while (a > 1e-6 && !(cost.value(w + a * d) < value)) a /= 2;
    if (a <= 1e-6) break;
    w += a * d;
    value = cost.value(w);
  }
  return gain;
}

}  // namespace

double polish_by_factorisation(Cost& cost, Vector& w) {
  return polish(cost, w, 30, [&](const Vector& g) -> Vector {
    Matrix hessian = cost.hessian();
    hessian.diagonal().array() += 1e-14 * hessian.diagonal().maxCoeff();
    return Eigen::LDLT<Matrix>(hessian).solve(-g);
  });
}

double polish_by_conjugate_gradients(Cost& cost, Vector& w) {
  // Where gradients are dear, one good step; its gain says how far the point was.
  const int steps = negligible(cost) > 1e-12 ? 1 : 8;
  const int most = std::min(affordable_gradients(cost) / (steps == 1 ? 4 : 8), 20 + 2 * static_cast<int>(w.size()));
  return polish(cost, w, steps, [&](const Vector& g) {
    Vector d;
    (void)conjugate_gradients(cost, -g, 1e-6, most, d);
    return d;
  });
}

}  // namespace polyhop::optimum

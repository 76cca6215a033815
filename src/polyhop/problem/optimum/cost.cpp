// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/cost.hpp"

#include <algorithm>
#include <cmath>

namespace polyhop::optimum {

Reference finish(const Cost& cost, const Vector& w, double accuracy, std::string how) {
  Reference reference;
  reference.minimiser.emplace(w.begin(), w.end());
  reference.value = cost.value(w);
  reference.accuracy = accuracy + 1e-15 * std::abs(reference.value);
  // If no cost is negative, the value itself bounds the error.
  if (cost.is_positive()) reference.accuracy = std::min(reference.value, reference.accuracy);
  reference.how = std::move(how);
  return reference;
}

int affordable_gradients(const Cost& cost) {
  constexpr double work = 2e11;
  return static_cast<int>(std::clamp(work / cost.work(), 200.0, 5000.0));
}

double negligible(const Cost& cost) { return cost.work() > 2e8 ? 1e-9 : 1e-17; }

Vector even_units(const Vector& curvature) {
  return curvature.unaryExpr([](double x) { return x > 0 ? 1 / std::sqrt(x) : 1.0; });
}

}  // namespace polyhop::optimum

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace polyhop {

double Lanczos::dot(const Vector& x, const Vector& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

Lanczos::Lanczos(Product product, Vector start)
    : product_(std::move(product)), v_(std::move(start)), previous_(v_.size(), 0.0), w_(v_.size()) {
  const double norm = std::sqrt(dot(v_, v_));
  for (double& x : v_) x /= norm;
}

bool Lanczos::step() {
  if (!off_.empty()) {
    const double beta = off_.back();
    for (std::size_t k = 0; k < w_.size(); ++k) {
      previous_[k] = v_[k];
      v_[k] = w_[k] / beta;
    }
  }
  product_(v_, w_);
  const double alpha = dot(v_, w_);
  const double beta_before = off_.empty() ? 0.0 : off_.back();
  for (std::size_t k = 0; k < w_.size(); ++k) w_[k] -= alpha * v_[k] + beta_before * previous_[k];
  diagonal_.push_back(alpha);
  off_.push_back(std::sqrt(dot(w_, w_)));
  double scale = 0;
  for (const double a : diagonal_) scale = std::max(scale, std::abs(a));
  return off_.back() > 1e-13 * std::max(scale, off_.front());
}

bool Lanczos::time_to_look() const { return steps() % std::max<Index>(10, steps() / 200 * 10) == 0; }

void Lanczos::look() {
  // While a copy of a converged value is forming, the residual rises again although nothing got worse: keep what was
  // known, unless the value has moved on.
  const auto learn = [](Ritz& known, const Ritz& now) {
    if (now.residual < known.residual || std::abs(now.value - known.value) > known.residual) known = now;
  };
  learn(largest_, end(1));
  learn(smallest_, end(-1));
}

double Lanczos::largest_eigenvalue(double sign) const {
  const std::size_t n = diagonal_.size();
  // Gershgorin's discs contain it.
  double high = sign * diagonal_[0];
  double low = high;
  double scale = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double around = (i > 0 ? off_[i - 1] : 0.0) + (i + 1 < n ? off_[i] : 0.0);
    high = std::max(high, sign * diagonal_[i] + around);
    low = std::max(low, sign * diagonal_[i]);
    scale = std::max(scale, std::abs(diagonal_[i]) + around);
  }
  // Bisection: an eigenvalue exceeds x unless all pivots of x I - sign T are positive.
  const auto exceeds = [&](double x) {
    double pivot = x - sign * diagonal_[0];
    for (std::size_t i = 1; i < n && pivot > 0; ++i)
      pivot = x - sign * diagonal_[i] - off_[i - 1] * off_[i - 1] / pivot;
    return pivot <= 0;
  };
  while (high - low > 1e-15 * scale) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (exceeds(middle) ? low : high) = middle;
  }
  return high;
}

double Lanczos::last_component(double sign, double value) const {
  const std::size_t n = diagonal_.size();
  // Factors x I - sign T from above and from below; the twist, where both meet, goes where the eigenvector is largest.
  Vector down(n);
  Vector up(n);
  for (std::size_t i = 0; i < n; ++i) {
    down[i] = value - sign * diagonal_[i] - (i > 0 ? off_[i - 1] * off_[i - 1] / down[i - 1] : 0.0);
  }
  for (std::size_t i = n; i-- > 0;) {
    up[i] = value - sign * diagonal_[i] - (i + 1 < n ? off_[i] * off_[i] / up[i + 1] : 0.0);
  }
  const auto gap = [&](std::size_t i) { return std::abs(down[i] + up[i] - (value - sign * diagonal_[i])); };
  std::size_t twist = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (gap(i) < gap(twist)) twist = i;
  }
  double square = 1;
  double component = 1;
  for (std::size_t i = twist; i > 0; --i) {
    component *= off_[i - 1] / down[i - 1];
    square += component * component;
  }
  component = 1;
  for (std::size_t i = twist; i + 1 < n; ++i) {
    component *= off_[i] / up[i + 1];
    square += component * component;
  }
  return std::abs(component) / std::sqrt(square);
}

Lanczos::Ritz Lanczos::end(double sign) const {
  const double value = largest_eigenvalue(sign);
  return {sign * value, off_.back() * last_component(sign, value)};
}

}  // namespace polyhop

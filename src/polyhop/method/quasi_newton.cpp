// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/quasi_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "polyhop/core/block.hpp"

namespace polyhop {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double enough_decrease = 1e-4;  // Armijo's and Wolfe's constants, as everybody has them
constexpr double enough_turn = 0.9;
constexpr double rounding = 1e-12;  // how much a value may rise, relative to its size, and count as the same
constexpr int max_tries = 40;

}  // namespace

QuasiNewton::QuasiNewton(std::span<const double> start, Index memory)
    : columns_(static_cast<Index>(start.size())),
      point_(1, columns_),
      trial_(1, columns_),
      direction_(1, columns_),
      gradient_(1, columns_),
      at_trial_(1, columns_),
      moves_(memory, columns_),
      turns_(memory, columns_),
      products_(memory),
      value_(infinite) {
  std::ranges::copy(start, point_.row(0).begin());
  std::ranges::copy(start, trial_.row(0).begin());
}

double QuasiNewton::gradient_norm() const { return std::sqrt(dot(gradient_, 0, gradient_, 0)); }

QuasiNewton::Outcome QuasiNewton::take(double value, std::span<const double> gradient) {
  std::ranges::copy(gradient, at_trial_.row(0).begin());
  if (!started_) {
    started_ = true;
    accept(value, gradient);
    return Outcome::moved;
  }
  const double slope = dot(at_trial_, 0, direction_, 0);
  const bool is_finite = std::isfinite(value) && std::isfinite(slope);
  const bool falls = value <= value_ + enough_decrease * step_ * slope_;
  // Hager and Zhang (2005): a slope that says the same where the values' last digits cannot.
  const bool falls_by_slope =
      slope <= (2 * enough_decrease - 1) * slope_ && value <= value_ + rounding * std::abs(value_);
  const bool is_lower = is_finite && (falls || falls_by_slope);
  if (is_lower && slope >= enough_turn * slope_) {
    accept(value, gradient);
    return Outcome::moved;
  }
  // The slope of a convex cost rises along the direction: a line through two slopes says where it vanishes.
  const bool rises = is_finite && slope > low_slope_;
  const double guess = rises ? step_ - slope * (step_ - low_) / (slope - low_slope_) : infinite;
  if (is_lower) {
    low_ = step_;  // and still steep
    low_slope_ = slope;
  } else {
    high_ = step_;
  }
  const double width = high_ - low_;
  if (std::isinf(width)) {
    step_ = std::clamp(guess, 2 * step_, 20 * step_);
  } else {
    step_ = std::isfinite(guess) ? std::clamp(guess, low_ + 0.1 * width, high_ - 0.1 * width) : low_ + 0.25 * width;
  }
  if (++tries_ == max_tries || !(step_ > low_)) {
    if (remembered_ == 0) return Outcome::stuck;
    // What is remembered may mislead, near the limits of the arithmetic; straight down it goes once more.
    remembered_ = 0;
    choose_direction();
    return Outcome::searching;
  }
  place_trial();
  return Outcome::searching;
}

void QuasiNewton::accept(double value, std::span<const double> gradient) {
  if (!std::isinf(value_)) {
    const Index slot = next_;
    for (Index j = 0; j < columns_; ++j) {
      moves_(slot, j) = trial_(0, j) - point_(0, j);
      turns_(slot, j) = at_trial_(0, j) - gradient_(0, j);
    }
    const double product = dot(moves_, slot, turns_, slot);
    // Without curvature along it, a step tells nothing.
    if (product > 1e-16 * std::sqrt(dot(moves_, slot, moves_, slot) * dot(turns_, slot, turns_, slot))) {
      products_[slot] = product;
      next_ = (next_ + 1) % moves_.rows();
      remembered_ = std::min(remembered_ + 1, moves_.rows());
    }
  }
  std::ranges::copy(trial_.row(0), point_.row(0).begin());
  std::ranges::copy(gradient, gradient_.row(0).begin());
  value_ = value;
  choose_direction();
}

// direction = -H gradient, H from the steps remembered (the two loops of L-BFGS).
void QuasiNewton::choose_direction() {
  scale_row(-1, gradient_, 0, direction_, 0);
  const Index memory = moves_.rows();
  std::vector<double> weights(memory);
  for (Index n = 1; n <= remembered_; ++n) {
    const Index slot = (next_ + memory - n) % memory;
    const double weight = dot(moves_, slot, direction_, 0) / products_[slot];
    weights[slot] = weight;
    add_row(-weight, turns_, slot, direction_, 0);
  }
  if (remembered_ > 0) {
    const Index last = (next_ + memory - 1) % memory;
    scale(products_[last] / dot(turns_, last, turns_, last), direction_);
  }
  for (Index n = remembered_; n >= 1; --n) {
    const Index slot = (next_ + memory - n) % memory;
    const double weight = dot(turns_, slot, direction_, 0) / products_[slot];
    add_row(weights[slot] - weight, moves_, slot, direction_, 0);
  }
  slope_ = dot(gradient_, 0, direction_, 0);
  step_ = remembered_ > 0 ? 1 : 1 / std::max(double{1}, gradient_norm());
  low_ = 0;
  low_slope_ = slope_;
  high_ = infinite;
  tries_ = 0;
  place_trial();
}

void QuasiNewton::place_trial() { add_rows(step_, direction_, 0, point_, 0, trial_, 0); }

}  // namespace polyhop

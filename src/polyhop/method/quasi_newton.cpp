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
constexpr Index max_tries = 40;
constexpr Index few_tries = 6;

// How much a value may rise, relative to its size, and count as the same.
double rounding_in(Element element) { return element == Element::float64 ? 1e-12 : 1e-6; }

}  // namespace

double unit_in(Element element) {
  return element == Element::float64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

QuasiNewton::QuasiNewton(std::span<const double> start, Index memory)
    : QuasiNewton(static_cast<Index>(start.size()), memory, Element::float64) {
  begin(start);
}

QuasiNewton::QuasiNewton(Index columns, Index memory, Element element)
    : columns_(columns),
      element_(element),
      point_(1, columns_),
      trial_(1, columns_),
      direction_(1, columns_),
      gradient_(1, columns_),
      at_trial_(1, columns_),
      moves_(memory, columns_),
      turns_(memory, columns_),
      products_(1, memory),
      weights_(memory),
      value_(infinite) {}

void QuasiNewton::begin(std::span<const double> start) {
  std::ranges::copy(start, point_.row(0).begin());
  place_trial();
}

void QuasiNewton::register_state(StateRegistry& state, const std::string& name) {
  state.shared(name + ".point", point_);
  state.shared(name + ".trial", trial_);
  state.shared(name + ".direction", direction_);
  state.shared(name + ".gradient", gradient_);
  state.shared(name + ".moves", moves_);
  state.shared(name + ".turns", turns_);
  state.shared(name + ".products", products_);
  state.number(name + ".remembered", remembered_);
  state.number(name + ".next", next_);
  state.number(name + ".value", value_);
  state.number(name + ".slope", slope_);
  state.number(name + ".started", started_);
  state.number(name + ".step", step_);
  state.number(name + ".low", low_);
  state.number(name + ".high", high_);
  state.number(name + ".low_slope", low_slope_);
  state.number(name + ".tries", tries_);
}

double QuasiNewton::gradient_norm() const { return std::sqrt(dot(gradient_, 0, gradient_, 0)); }

bool QuasiNewton::is_at_rest() const {
  if (remembered_ == 0) return gradient_norm() == 0;
  const double unit = unit_in(element_);
  return squared_distance(trial_, 0, point_, 0) <= unit * unit * dot(point_, 0, point_, 0);
}

QuasiNewton::Outcome QuasiNewton::take(double value, std::span<const double> gradient) {
  std::ranges::copy(gradient, at_trial_.row(0).begin());
  if (started_ == 0) {
    started_ = 1;
    accept(value, gradient);
    return Outcome::moved;
  }
  const double slope = dot(at_trial_, 0, direction_, 0);
  const bool is_finite = std::isfinite(value) && std::isfinite(slope);
  const bool falls = value <= value_ + enough_decrease * step_ * slope_;
  // Hager and Zhang (2005): a slope that says the same where the values' last digits cannot.
  const bool falls_by_slope =
      slope <= (2 * enough_decrease - 1) * slope_ && value <= value_ + rounding_in(element_) * std::abs(value_);
  const bool is_lower = is_finite && (falls || falls_by_slope);
  if (is_lower && slope >= enough_turn * slope_) {
    accept(value, gradient);
    return Outcome::moved;
  }
  // The slope of a convex cost rises along the direction: a line through two slopes says where it vanishes.
  const bool rises = is_finite && slope > low_slope_;
  double guess = rises ? step_ - slope * (step_ - low_) / (slope - low_slope_) : infinite;
  // The first step has no unit of length, so the minimum may be orders of magnitude nearer. Where the cost is nearly
  // straight, slopes do not say so.
  if (remembered_ == 0 && tries_ >= few_tries && tries_ % 2 == 0 && low_ == 0) guess = 0;
  if (is_lower) {
    low_ = step_;  // and still steep
    low_slope_ = slope;
  } else {
    high_ = step_;
  }
  const double width = high_ - low_;
  if (high_ == 0) {
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
      products_(0, slot) = product;
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
  for (Index n = 1; n <= remembered_; ++n) {
    const Index slot = (next_ + memory - n) % memory;
    const double weight = dot(moves_, slot, direction_, 0) / products_(0, slot);
    weights_[slot] = weight;
    add_row(-weight, turns_, slot, direction_, 0);
  }
  if (remembered_ > 0) {
    const Index last = (next_ + memory - 1) % memory;
    scale(products_(0, last) / dot(turns_, last, turns_, last), direction_);
  }
  for (Index n = remembered_; n >= 1; --n) {
    const Index slot = (next_ + memory - n) % memory;
    const double weight = dot(turns_, slot, direction_, 0) / products_(0, slot);
    add_row(weights_[slot] - weight, moves_, slot, direction_, 0);
  }
  slope_ = dot(gradient_, 0, direction_, 0);
  step_ = remembered_ > 0 ? 1 : 1 / std::max(double{1}, gradient_norm());
  low_ = 0;
  low_slope_ = slope_;
  high_ = 0;
  tries_ = 0;
  place_trial();
}

void QuasiNewton::place_trial() {
  add_rows(step_, direction_, 0, point_, 0, trial_, 0);
  if (element_ == Element::float64) return;
  for (double& x : trial_.row(0)) x = static_cast<float>(x);
}

}  // namespace polyhop

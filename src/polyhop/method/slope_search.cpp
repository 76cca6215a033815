// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/slope_search.hpp"

#include <cmath>

namespace polyhop {
namespace {

constexpr int most_looks = 6;
constexpr double flat = 0.05;  // of the slope at the start
// How much a cost may rise, relative to its size, and count as the same.
constexpr double same = 1e-12;

}  // namespace

SlopeSearch::SlopeSearch(double value, double slope)
    : value_(value), slope_(slope), low_slope_(slope), best_slope_(std::abs(slope)) {}

bool SlopeSearch::take(std::span<const double, points> values, std::span<const double, points> slopes) {
  for (std::size_t n = 0; n < points; ++n) note(trials_[n], values[n], slopes[n]);
  const bool falls_on = high_ == infinite;  // as it does for ever where classes can be separated
  if (best_slope_ == 0 || (!falls_on && best_slope_ <= flat * std::abs(slope_)) || ++looks_ == most_looks) return true;
  place();
  return false;
}

void SlopeSearch::note(double at, double value, double slope) {
  const bool is_lower = std::isfinite(slope) && value <= value_ + same * std::abs(value_);
  if (is_lower && std::abs(slope) < best_slope_) {
    best_ = at;
    best_slope_ = std::abs(slope);
  }
  if (std::isfinite(slope) && slope < 0) {
    if (at <= low_) return;
    low_ = at;
    low_slope_ = slope;
  } else if (at < high_) {
    high_ = at;
    high_slope_ = slope;
  }
}

void SlopeSearch::place() {
  if (high_ == infinite) {
    for (double a = low_; double& trial : trials_) trial = a *= 4;
    return;
  }
  if (low_ == 0) {
    for (double a = high_ / 512; double& trial : trials_) trial = a *= 2;
    trials_.back() = 0.75 * high_;
    return;
  }
  const double width = high_ - low_;
  for (std::size_t n = 0; n < points; ++n) trials_[n] = low_ + static_cast<double>(n + 1) / (points + 1) * width;
  // A line through the two slopes says where it vanishes.
  const double root = low_ - low_slope_ * width / (high_slope_ - low_slope_);
  if (root > low_ && root < high_) trials_[points / 2] = root;
}

}  // namespace polyhop

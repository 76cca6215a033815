// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <limits>
#include <span>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// A line search for a convex cost, if evaluating eight points at once costs little more than evaluating one. It stops
/// when the slope is a twentieth of the initial one. The first points are 1/64, 1/16, 1/4, 1, ..., 256; while the cost
/// falls at all of them, more follow by factors of 4, and between two ends they divide the interval. At most six
/// rounds. No point with a higher cost than the start is taken.
class SlopeSearch {
 public:
  static constexpr std::size_t points = 8;
  /// The cost and its slope at the start; the slope is below 0.
  SlopeSearch(double value, double slope);

  /// Where to evaluate next.
  [[nodiscard]] std::span<const double, points> trials() const { return trials_; }
  /// The costs and slopes there, which need not be finite; true when the search is over.
  bool take(std::span<const double, points> values, std::span<const double, points> slopes);
  /// The point with the smallest slope so far; 0 if no point is better than the start.
  [[nodiscard]] double best() const { return best_; }

 private:
  void note(double at, double value, double slope);
  void place();

  static constexpr double infinite = std::numeric_limits<double>::infinity();

  double value_;
  double slope_;
  // An interval around the point to find, and the slopes at its ends.
  double low_ = 0, high_ = infinite;
  double low_slope_, high_slope_ = infinite;
  double best_ = 0;
  double best_slope_;
  int looks_ = 0;
  std::array<double, points> trials_ = {1.0 / 64, 1.0 / 16, 1.0 / 4, 1, 4, 16, 64, 256};
};

}  // namespace polyhop

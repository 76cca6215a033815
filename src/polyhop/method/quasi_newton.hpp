// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"

namespace polyhop {

/// The distance between numbers of about 1.
double unit_in(Element element);

/// Minimises a smooth convex cost by L-BFGS (Liu and Nocedal 1989), one evaluation at a time: evaluate at `trial()`,
/// then `take` the result. The same numbers give the same steps to the bit, so agents that share sums need no leader.
/// Libraries do not fit here, because they call the cost themselves. Near the minimum, where values are equal up to
/// rounding, this class judges a step by its slope.
class QuasiNewton {
 public:
  /// `memory`: how many steps it remembers, two vectors each.
  QuasiNewton(std::span<const double> start, Index memory);
  /// From a start that is not known yet. `element`: the number type of the points where the cost is evaluated. Trials
  /// are rounded to it, so that values and gradients are those of exactly these points.
  QuasiNewton(Index columns, Index memory, Element element);
  void begin(std::span<const double> start);

  /// Where to evaluate next.
  [[nodiscard]] std::span<const double> trial() const { return trial_.row(0); }
  /// How far along the direction that is; 1 is the full quasi-Newton step.
  [[nodiscard]] double step() const { return step_; }

  enum class Outcome {
    searching,  // the step along the present direction is not found yet
    moved,      // `trial` was accepted: `point` is new, and so is the next trial
    stuck,      // no step along the direction lowers the cost: as far as rounding allows, this is the minimum
  };
  /// The value and the gradient at `trial()`; neither has to be finite.
  Outcome take(double value, std::span<const double> gradient);

  /// The last point accepted, its value and its gradient's norm. Before the first: the start, infinity.
  [[nodiscard]] std::span<const double> point() const { return point_.row(0); }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] double gradient_norm() const;
  /// The largest gain expected of the last step: half of the slope along its direction.
  [[nodiscard]] double expected_gain() const { return -slope_ / 2; }

  /// Whether rounding would swallow the next step: a gradient of 0, or a quasi-Newton step of less than a unit in the
  /// last place.
  [[nodiscard]] bool is_at_rest() const;

  /// Registers what survives a `take`, all of it shared, under names that begin with `name`.
  void register_state(StateRegistry& state, const std::string& name);

 private:
  void accept(double value, std::span<const double> gradient);
  void choose_direction();
  void place_trial();

  Index columns_;
  Element element_;
  Rows point_, trial_, direction_;
  Rows gradient_, at_trial_;     // the gradients at the point and at the trial
  Rows moves_, turns_;           // the last steps, and how the gradient changed along them, in a ring
  Rows products_;                // of the two
  std::vector<double> weights_;  // of the two loops, kept for its room
  Index remembered_ = 0;
  Index next_ = 0;  // where in the ring the next one goes
  double value_;
  double slope_ = 0;  // along the direction, at the point
  Index started_ = 0;
  // The search along the direction: the step tried, an interval around the one to find, its upper end 0 while there is
  // none, and the slope at its lower end.
  double step_ = 0, low_ = 0, high_ = 0, low_slope_ = 0;
  Index tries_ = 0;
};

}  // namespace polyhop

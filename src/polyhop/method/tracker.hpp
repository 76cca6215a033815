// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "polyhop/core/gradients.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/network/network.hpp"

namespace polyhop {

/// Dynamic consensus on the agents' gradients: rows Y whose mean is the mean of the last gradients, starting at Y_0 =
/// G_0.
class Tracker {
 public:
  /// `zeros`: rows like the models'.
  explicit Tracker(const Rows& zeros);
  /// Y <- A^rounds (Y + G - G_before): what an agent adds is mixed at once. 1 vector per round.
  void add_then_combine(Index i, const Gradients& g, Network& network, Index rounds = 1);
  /// Y <- A Y + G - G_before. 1 vector.
  void combine_then_add(Index i, const Gradients& g, Network& network);
  /// The same for values, f <- A (f + J - J_before), counted for the step size. 1 scalar.
  std::span<const double> follow(Index i, std::span<const double> values, Network& network);

  /// Y, the direction to step along.
  [[nodiscard]] const Gradients& direction() const { return direction_; }
  void register_state(StateRegistry& state);

 private:
  void add_change(const Gradients& g);

  Rows y_;
  Rows before_;  // the gradients that Y has counted so far
  std::vector<double> f_;
  std::vector<double> values_before_;
  Gradients direction_;
};

}  // namespace polyhop

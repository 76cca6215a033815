// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/network/network.hpp"
#include "polyhop/problem/oracle.hpp"

namespace polyhop {

/// Sums all agents' values and gradients along the tree, with the same bits along any tree: every number is first
/// rounded to a multiple of a power of two, for which sums of K of them are exact. Otherwise hundreds of quasi-Newton
/// steps would turn different rounding into a different model. All agents know the powers. With the sums come two
/// counts: of agents whose numbers are too large for the power, in which case everything is sent again, and of agents
/// for which a smaller power would do.
class GridSums {
 public:
  /// `slope`: the rough size of a gradient. `agents`: in the block.
  GridSums(double slope, Index agents);

  /// Replaces row 0 of `gradient`, which has one row per agent of the block, by the sum of all gradients, and returns
  /// the sum of all values: infinity if any of them is not finite.
  double of(const Evaluation& evaluation, Rows& gradient, Network& network);

 private:
  int value_;  // the exponents: no number is larger than 2 to their power
  int gradient_;
  std::vector<double> values_, unlike_, large_, small_values_, small_gradients_;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/network/network.hpp"
#include "polyhop/problem/oracle.hpp"

namespace polyhop {

/// Sums of all agents' values and gradients along the tree that are the same to the bit along any other: every number
/// is first rounded to a multiple of one power of two, for which sums of K of them are exact. Hundreds of quasi-Newton
/// steps would otherwise make a different model of a different rounding. All agents know the powers; with the sums come
/// counts of those whose numbers are too large for them, in which case all is sent again, and of those for whom a
/// smaller one would do.
class GridSums {
 public:
  /// `slope`: about how large a gradient is. `agents`: of the block.
  GridSums(double slope, Index agents);

  /// Row 0 of `gradient`, which has a row for each agent of the block, becomes the sum of all gradients, and the sum of
  /// all values is returned: infinity where any of them is not finite.
  double of(const Evaluation& evaluation, Rows& gradient, Network& network);

 private:
  int value_;  // the exponents: no number is larger than 2 to their power
  int gradient_;
  std::vector<double> values_, unlike_, large_, small_values_, small_gradients_;
};

}  // namespace polyhop

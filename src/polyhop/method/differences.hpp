// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// What an agent's last move says about the curvature of its own cost: the products of s = w_i - w_{i-1} and z, the
/// difference of its own gradients at the two points on the current sample, whatever the recursion steps along. Full
/// gradients are remembered, and cost nothing; otherwise this costs 1 more gradient per iteration, so that the noise of
/// two samples is not mistaken for curvature. No communication.
class Differences {
 public:
  /// `zeros`: rows like the models'.
  explicit Differences(const Rows& zeros);
  /// Takes the iterate; false at iteration 0, where there is no previous one. Call it once per iteration.
  bool update(const Iterate& at);
  /// s.s, s.z and z.z of the block's agents, after `update` has returned true.
  [[nodiscard]] std::span<const double> ss() const { return ss_; }
  [[nodiscard]] std::span<const double> sz() const { return sz_; }
  [[nodiscard]] std::span<const double> zz() const { return zz_; }
  void register_state(StateRegistry& state, const std::string& prefix);

 private:
  void compare(const Iterate& at);

  Rows points_;     // w_{i-1}
  Rows gradients_;  // at these points: of all samples, or of the current one
  Rows s_, z_;      // one row each, of the agent at hand
  std::vector<double> ss_, sz_, zz_;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/method/step_size.hpp"
#include "polyhop/network/network.hpp"

namespace polyhop {

/// A level l_k, starting at 0, that stands in for an unknown Jhat_k(w^o). e_k averages Jhat_k(w_k) exponentially, at
/// the rate 1/epoch, starting with the first value; an epoch lasts until the slowest agent has seen all its samples,
/// and at least 50 iterations. At its end, with ebar_k = sum_l a_kl e_l:
///  - if the last raise did harm, ebar_k > 1.05 (ebar_k at that raise), it is undone, and later raises are half as
///    large;
///  - otherwise, if no agent nearby has made progress (e_l < 0.99 times e_l one epoch earlier),
///    l_k <- l_k + share (ebar_k - l_k), share = 1/2 at first;
///  - no level exceeds ebar_k.
/// A level that is too low acts like a constant step; one that is too high stalls. Costs 2 scalars per epoch, and once
/// as many as the diameter.
class LevelEstimate {
 public:
  explicit LevelEstimate(Index agents);
  /// Takes the values of one iteration; call it in every iteration.
  void observe(const Iterate& at, Network& network);
  [[nodiscard]] std::span<const double> levels() const { return level_; }
  void register_state(StateRegistry& state);

 private:
  void begin(const Iterate& at, Network& network);
  void end_epoch(Network& network);
  void move(std::size_t k, bool progress);

  Index epoch_ = 0;  // iterations; 0: not agreed on yet
  std::vector<double> level_, share_;
  std::vector<double> average_, epoch_before_;        // e_k now, and at the end of the last epoch
  std::vector<double> before_raise_, mean_at_raise_;  // the level and ebar_k at the raise that may be taken back
  std::vector<double> mean_, progress_;               // ebar_k, and 1 if an agent nearby made progress
};

}  // namespace polyhop

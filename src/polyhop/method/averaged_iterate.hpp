// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/method/algorithm.hpp"

namespace polyhop {

/// wbar <- wbar + 4/(i+4) (w - wbar) after iteration i = 0, 1, ...: an average that forgets the start, for any
/// algorithm and rule: at i = 0 it is w. Always in double, whatever the type of the models. No communication.
class AveragedIterate {
 public:
  explicit AveragedIterate(const Rows& start) : average_(converted(start, Element::float64)) {}
  void update(Index i, const Rows& w) { update_by(share(i), w); }
  /// Takes the algorithm's iteration i and updates the average. An algorithm that blends does so in every second
  /// iteration, for two iterations at a time; until then, or until it is needed, the first one's share is due.
  void step(Index i, Algorithm& algorithm, Oracle& oracle, StepSize& rule, Network& network) {
    if (!algorithm.blends()) {
      algorithm.step(i, oracle, rule, network);
      update(algorithm.is_noisy() ? i : 0, algorithm.models());
    } else if (due_ == 0) {
      algorithm.step(i, oracle, rule, network);
      due_ = share(i);
    } else {
      algorithm.blend_next({share(i), &average_, std::exchange(due_, 0)});
      algorithm.step(i, oracle, rule, network);
    }
  }
  /// The averages, including what was still due; `w`: the algorithm's models.
  const Rows& settled(const Rows& w) {
    if (due_ != 0) update_by(std::exchange(due_, 0), w);
    return average_;
  }
  void register_state(StateRegistry& state) { state.rows("averaged", average_); }

 private:
  void update_by(double share, const Rows& w) { blend(share, w, average_); }
  static double share(Index i) { return 4.0 / static_cast<double>(i + 4); }

  Rows average_;
  double due_ = 0;
};

}  // namespace polyhop

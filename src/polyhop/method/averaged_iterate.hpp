// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/block.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/method/algorithm.hpp"

namespace polyhop {

/// wbar <- wbar + 4/(i+4) (w - wbar) after iteration i = 0, 1, ...: an average that forgets the start, for any
/// algorithm and rule; i = 0 starts afresh with w. Always in double, whatever type the models have. No communication.
class AveragedIterate {
 public:
  explicit AveragedIterate(const Rows& start) : average_(converted(start, Element::float64)) {}
  void update(Index i, const Rows& w) { blend(share(i), w, average_); }
  /// Takes the algorithm's iteration i and updates the average.
  void step(Index i, Algorithm& algorithm, Oracle& oracle, StepSize& rule, Network& network) {
    algorithm.blend_next({share(i), &average_});
    algorithm.step(i, oracle, rule, network);
    if (algorithm.has_blended()) return;
    algorithm.blend_next({});
    update(algorithm.is_noisy() ? i : 0, algorithm.models());
  }
  [[nodiscard]] const Rows& models() const { return average_; }
  void register_state(StateRegistry& state) { state.rows("averaged", average_); }

 private:
  static double share(Index i) { return 4.0 / static_cast<double>(i + 4); }

  Rows average_;
};

}  // namespace polyhop

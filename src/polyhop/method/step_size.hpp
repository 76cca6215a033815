// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "polyhop/core/real.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/network/network.hpp"
#include "polyhop/problem/oracle.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop {

/// Where the recursion W+ = A(W - diag(mu) G) stands when it asks for its step sizes.
struct Iterate {
  Index i;                 // 0, 1, ...
  const Rows& w;           // w_{k,i-1}
  const Evaluation& at_w;  // gradients there, and values where the rule needs them
  Oracle& oracle;          // for more on the same sample
};

/// A rule that chooses every agent's step size, seen from one block.
class StepSize {
 public:
  virtual ~StepSize() = default;
  /// Fills the block's step sizes; what it sends is charged to the step size, apart from the algorithm.
  void choose(const Iterate& at, Network& network, std::span<Real> mu) {
    const Network::StepAccount account(network);
    do_choose(at, network, mu);
  }
  /// True when `at.at_w.values` must be there.
  [[nodiscard]] virtual bool needs_values() const { return false; }
  /// Registers what survives an iteration.
  virtual void register_state(StateRegistry& /*state*/) {}

 protected:
  virtual void do_choose(const Iterate& at, Network& network, std::span<Real> mu) = 0;
};

/// What a rule may know when it is built for a block.
struct Setting {
  Network& network;
  const Reference* reference = nullptr;  // only for options that study a known optimum
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "polyhop/core/real.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/method/step_size.hpp"
#include "polyhop/network/network.hpp"
#include "polyhop/problem/oracle.hpp"

namespace polyhop {

/// A recursion over a block of agents.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  /// Iteration i = 0, 1, ...
  virtual void step(Index i, Oracle& oracle, StepSize& rule, Network& network) = 0;
  /// The current models, one agent a row.
  [[nodiscard]] virtual const Rows& models() const = 0;
  /// The step sizes of the last iteration.
  [[nodiscard]] virtual std::span<const Real> steps() const = 0;
  virtual void register_state(StateRegistry& state) = 0;
};

}  // namespace polyhop

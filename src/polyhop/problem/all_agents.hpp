// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "polyhop/core/real.hpp"

namespace polyhop {

/// How processes that have some of the agents each form what belongs to all. Every process makes the same calls.
struct AllAgents {
  /// From zeros, every process in its turn does something to the same numbers; afterwards all hold the result.
  std::function<void(std::span<double> numbers, const std::function<void(std::span<double>)>& turn)> in_order;
  /// The same agent by agent, in order of the agents' numbers; k: the agent's place among those here.
  std::function<void(std::span<double> numbers, const std::function<void(std::span<double>, Index k)>& turn)> by_agent;
  Block here;            // the agents whose data are here
  bool is_first = true;  // of the processes
};

/// All agents are in this process.
AllAgents all_in_one_process(Index agents);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/all_agents.hpp"

#include <algorithm>

namespace polyhop {

AllAgents all_in_one_process(Index agents) {
  AllAgents all;
  all.in_order = [](std::span<double> numbers, const auto& turn) {
    std::ranges::fill(numbers, 0.0);
    turn(numbers);
  };
  all.by_agent = [agents](std::span<double> numbers, const auto& turn) {
    std::ranges::fill(numbers, 0.0);
    for (Index k = 0; k < agents; ++k) turn(numbers, k);
  };
  all.here = {0, agents};
  return all;
}

}  // namespace polyhop

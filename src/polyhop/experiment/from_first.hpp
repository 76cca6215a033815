// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <vector>

#include "polyhop/network/team.hpp"

namespace polyhop {

/// What the first process knows and all must: its numbers take the place of everybody's.
inline void from_first(Team& team, std::span<double> numbers) {
  const std::vector<double> mine(numbers.begin(), numbers.end());
  team.collective().in_order(numbers, [&](std::span<double> shared) {
    if (team.is_first()) std::ranges::copy(mine, shared.begin());
  });
}

/// What the first process decides, for all of them; it alone asks.
inline bool first_says(Team& team, const std::function<bool()>& ask) {
  std::array<double, 1> answer = {team.is_first() && ask && ask() ? 1.0 : 0.0};
  from_first(team, answer);
  return answer[0] != 0;
}

/// What the first process alone does; where it fails, all of them throw.
inline void on_first(Team& team, const std::function<void()>& work) {
  team.together([&] {
    if (team.is_first()) work();
  });
}

}  // namespace polyhop

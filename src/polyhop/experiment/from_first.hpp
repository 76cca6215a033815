// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "polyhop/core/codec.hpp"
#include "polyhop/network/team.hpp"

namespace polyhop {

/// Passes the first process's decision to all; only the first asks.
inline bool first_says(Team& team, const std::function<bool()>& ask) {
  MessageReader in(team.collective().from_first(message(team.is_first() && ask && ask())));
  const bool answer = in.take<bool>();
  in.end();
  return answer;
}

/// Does something in the first process only; if it fails, all of them throw.
inline void on_first(Team& team, const std::function<void()>& work) {
  team.together([&] {
    if (team.is_first()) work();
  });
}

}  // namespace polyhop

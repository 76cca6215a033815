// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace polyhop {

/// Agents, samples, coordinates, iterations: signed, so that differences can be negative.
using Index = std::int64_t;

/// An order of the agents other than by number: agent[p] is at place p, agent k is at place[k].
struct Numbering {
  std::vector<std::int32_t> agent;
  std::vector<std::int32_t> place;
};

/// A contiguous range of places [first, last) that one worker (thread or rank) owns. A place is its agent's number,
/// unless a numbering says otherwise. Random numbers and sums go by the agents' numbers, never by places.
struct Block {
  Index first = 0;
  Index last = 0;
  const Numbering* numbering = nullptr;
  [[nodiscard]] Index size() const { return last - first; }
  /// The number of the k-th agent.
  [[nodiscard]] Index agent(Index k) const { return numbering == nullptr ? first + k : numbering->agent[first + k]; }
  /// The place of an agent, of this block or not.
  [[nodiscard]] Index place(Index agent) const { return numbering == nullptr ? agent : numbering->place[agent]; }
  [[nodiscard]] bool holds(Index agent) const { return place(agent) >= first && place(agent) < last; }
};

/// The block of worker `worker` if `agents` agents are dealt to `workers` as evenly as possible.
inline Block block_of(Index agents, Index workers, Index worker) {
  return {agents * worker / workers, agents * (worker + 1) / workers};
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace polyhop {

/// State and kernels speak of Real; decisions and sums over a row are always double.
using Real = double;

/// Agents, samples, coordinates, iterations: signed, so that differences mean what they say.
using Index = std::int64_t;

/// A contiguous range of agents [first, last): what one worker (thread or rank) owns.
struct Block {
  Index first = 0;
  Index last = 0;
  [[nodiscard]] Index size() const { return last - first; }
  [[nodiscard]] bool holds(Index agent) const { return agent >= first && agent < last; }
};

/// The block of worker `worker` when `agents` agents are dealt to `workers` as evenly as possible.
inline Block block_of(Index agents, Index workers, Index worker) {
  return {agents * worker / workers, agents * (worker + 1) / workers};
}

}  // namespace polyhop

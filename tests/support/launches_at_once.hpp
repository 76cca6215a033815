// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <thread>
#include <vector>

#include "polyhop/network/team.hpp"
#include "support/networks.hpp"

namespace polyhop::test {

/// How many of 4 x 50 launches of a process that is alone, from four threads at once, do not give the sum that their
/// own agents add up to. The thread sanitizer sees what two launches share even where all sums are right.
inline Index wrong_launches(Team& team) {
  constexpr Index agents = 3;
  const CombinationMatrix matrix = network_of(Topology::path, agents);
  const Ownership own{{0, agents}, nullptr};
  std::atomic<Index> wrong = 0;
  const auto work = [&](int thread) {
    for (int n = 0; n < 50; ++n) {
      const double mine = 100 * thread + n;
      std::array<double, 1> sum{};
      team.launch(matrix, own, 1, 1, [&](Worker& worker) {
        worker.collective.by_agent(sum, agents, [&](std::span<double> shared, Index) { shared[0] += mine; });
      });
      if (sum[0] != agents * mine) ++wrong;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) threads.emplace_back(work, thread);
  }
  return wrong;
}

}  // namespace polyhop::test

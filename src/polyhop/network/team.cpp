// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/team.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "polyhop/core/serial_collective.hpp"

namespace polyhop {

Ownership balanced_ownership(std::span<const double> cost, Index processes) {
  const auto agents = static_cast<Index>(cost.size());
  const double total = std::accumulate(cost.begin(), cost.end(), 0.0);
  Ownership out{{0}, nullptr};
  double before = 0;
  Index agent = 0;
  for (Index r = 1; r < processes; ++r) {
    const double share = total * static_cast<double>(r) / static_cast<double>(processes);
    const Index most = agents - (processes - r);  // each later process needs one
    const Index least = out.first.back() + 1;
    // An agent belongs to the side that holds the larger part of it.
    while (agent < most && (agent < least || before + cost[agent] / 2 < share)) {
      before += cost[agent++];
    }
    out.first.push_back(agent);
  }
  out.first.push_back(agents);
  return out;
}

void Team::launch(const CombinationMatrix& matrix, const Ownership& ownership, VectorType vectors, Index workers,
                  const Body& body) {
  polyhop::launch(matrix, vectors, workers, body, ownership.numbering.get());
}

Collective& Team::collective() {
  static SerialCollective serial;
  return serial;
}

void Team::abort(int code) { std::_Exit(code); }

Team& alone() {
  static Team team;
  return team;
}

}  // namespace polyhop

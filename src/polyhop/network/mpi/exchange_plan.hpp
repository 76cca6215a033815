// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "polyhop/graph/sparse_rows.hpp"
#include "polyhop/network/roster.hpp"
#include "polyhop/network/team.hpp"

namespace polyhop::mpi {

/// What one process exchanges with another in one phase: the slots of the rows it sends, and of those it receives.
struct Correspondence {
  int rank = 0;
  std::vector<std::int32_t> sent;
  std::vector<std::int32_t> received;
  Index here = -1;  // an edge between the two: the agent here, and its neighbour there
  Index there = -1;
  bool owns_received = true;  // nothing that it forwards for others: nobody else sends these rows
};

/// Who writes to whom in mail of one hop, or of two. Two hops are two phases: one's own rows to the processes that have
/// neighbours of theirs; then every process forwards what its agents would forward to their other neighbours. A row
/// goes at most once from one process to another in an exchange, whichever agents there want it. With one agent a
/// process that is what agents send each other; with more, rows that the receiver owns or has got in the first phase
/// need no forwarding.
struct ExchangePlan {
  Roster roster;
  std::vector<std::vector<Correspondence>> phases;
};

ExchangePlan plan_exchange(const SparseRows& a, const Ownership& ownership, Index rank, int hops);

}  // namespace polyhop::mpi

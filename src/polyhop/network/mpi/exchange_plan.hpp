// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "polyhop/graph/spanning_tree.hpp"
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
};

/// Who writes to whom. In a message of one hop, a process sends its agents' rows to the processes of their neighbours.
/// A message of two hops takes two phases: first these rows, and own rows that agents here would forward there; then
/// rows that agents here received from third processes and forward. A row comes to a process once per exchange,
/// whichever agents there need it: from its owner if it can send it, otherwise from the process of the agent with the
/// smallest number that can forward it. With one agent per process, this is what agents send each other. Rows from one
/// peer in one phase are consecutive. Peers are the same, and in the same order, everywhere.
struct ExchangePlan {
  Roster roster;
  std::vector<Correspondence> one_hop;
  std::array<std::vector<Correspondence>, 2> two_hops = {};  // of a plan for two hops
};

ExchangePlan plan_exchange(const SparseRows& a, const Ownership& ownership, Index rank, int hops);

/// Who writes to whom in one round along the spanning tree: for l > 0 the agents at depth l to those above them, for -l
/// the way back. Rows are ordered as in the roster of any plan.
std::vector<Correspondence> plan_level(const SpanningTree& tree, const Ownership& ownership, Index rank,
                                       const Roster& roster, Index level);

}  // namespace polyhop::mpi

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/graph/sparse_rows.hpp"

namespace polyhop {

/// Shortest paths from agent 0 to every other, along the links of a connected network.
struct SpanningTree {
  std::vector<Index> depth;  // of every agent, 0 for the root
  std::vector<Index> above;  // the next agent on the way to the root; the root's is itself
  Index height = 0;          // the largest depth
};

/// `a`: any matrix with the network's pattern. Among several shortest paths, agents with small numbers win, so that
/// everybody finds the same tree.
SpanningTree spanning_tree(const SparseRows& a);

}  // namespace polyhop

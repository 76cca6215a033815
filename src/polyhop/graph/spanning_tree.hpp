// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/graph/sparse_rows.hpp"

namespace polyhop {

/// Shortest paths from agent 0 to every other, along the links of a connected network.
struct SpanningTree {
  std::vector<Index> depth;  // of every agent, 0 for the root
  std::vector<Index> above;  // the next agent on the way to the root; the root's is itself
  Index height = 0;          // the largest depth
  std::vector<Index> begin;  // the agents at depth d, by number, are by_depth[begin[d]] .. by_depth[begin[d + 1]]
  std::vector<std::int32_t> by_depth;

  [[nodiscard]] std::span<const std::int32_t> at_depth(Index d) const {
    return std::span(by_depth).subspan(begin[d], begin[d + 1] - begin[d]);
  }
};

/// `a`: any matrix with the network's pattern. Among several shortest paths, agents with small numbers win, so that
/// everybody finds the same tree.
SpanningTree spanning_tree(const SparseRows& a);

}  // namespace polyhop

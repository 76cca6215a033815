// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/memory_limit.hpp"

namespace polyhop {

using Edge = std::pair<std::int32_t, std::int32_t>;

/// The links between agents: undirected, without self loops or parallel links, immutable. Compressed rows: 8 bytes per
/// agent and 8 bytes per link.
class Graph {
 public:
  /// Links may come in any order and repeatedly; the result does not depend on either. Self loops and agents outside
  /// 0..agents-1 are rejected. O(agents + edges log degree).
  static Graph from_edges(Index agents, const std::vector<Edge>& edges);

  [[nodiscard]] Index agents() const { return static_cast<Index>(offset_.size()) - 1; }
  [[nodiscard]] Index edges() const { return static_cast<Index>(neighbour_.size()) / 2; }
  [[nodiscard]] Index degree(Index k) const { return offset_[k + 1] - offset_[k]; }
  [[nodiscard]] Index max_degree() const;
  /// Sorted, without k itself.
  [[nodiscard]] std::span<const std::int32_t> neighbours(Index k) const {
    return {neighbour_.data() + offset_[k], static_cast<std::size_t>(degree(k))};
  }

 private:
  std::vector<Index> offset_ = {0};
  MeteredVector<std::int32_t> neighbour_;
};

/// The first agent that agent 0 cannot reach, if any.
std::optional<Index> unreachable_agent(const Graph& graph);
bool is_connected(const Graph& graph);

/// The largest distance between two agents lies in [low, high].
struct Diameter {
  Index low = 0;
  Index high = 0;
  [[nodiscard]] bool exact() const { return low == high; }
};

/// Exact up to 5,000 agents, bounds from a few searches above that. A search from one agent bounds the eccentricity of
/// all others, |ecc(v) - d(v,w)| <= ecc(w) <= ecc(v) + d(v,w), so a few searches usually suffice (Takes and Kosters
/// 2011). Throws Error if the graph is not connected.
Diameter diameter(const Graph& graph);

}  // namespace polyhop

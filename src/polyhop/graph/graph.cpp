// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/graph.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

void check_edge(const Edge& edge, Index agents) {
  const auto [k, l] = edge;
  if (k < 0 || l < 0 || k >= agents || l >= agents) {
    throw InputError("graph", "link " + std::to_string(k) + "-" + std::to_string(l) + ", expected agents from 0 to " +
                                  std::to_string(agents - 1));
  }
  if (k == l) throw InputError("graph", "agent " + std::to_string(k) + " is linked to itself");
}

/// Breadth-first search that reuses its memory for many sources.
class Sweep {
 public:
  explicit Sweep(const Graph& graph) : graph_(graph), distance_(graph.agents()) { queue_.reserve(distance_.size()); }

  /// Finds distances from `source` and returns the largest. Ends as soon as everybody is reached, so that a dense graph
  /// costs O(agents), not O(edges).
  Index from(Index source) {
    std::fill(distance_.begin(), distance_.end(), unreached);
    queue_.assign(1, static_cast<std::int32_t>(source));
    distance_[source] = 0;
    for (std::size_t head = 0; head < queue_.size() && queue_.size() < distance_.size(); ++head) {
      const std::int32_t k = queue_[head];
      for (const std::int32_t l : graph_.neighbours(k)) {
        if (distance_[l] != unreached) continue;
        distance_[l] = distance_[k] + 1;
        queue_.push_back(l);
      }
    }
    return distance_[queue_.back()];
  }

  [[nodiscard]] bool reached(Index k) const { return distance_[k] != unreached; }
  [[nodiscard]] bool reached_all() const { return queue_.size() == distance_.size(); }
  [[nodiscard]] Index distance(Index k) const { return distance_[k]; }

 private:
  static constexpr std::int32_t unreached = -1;
  const Graph& graph_;
  std::vector<std::int32_t> distance_;
  std::vector<std::int32_t> queue_;
};

/// What is known of every agent's eccentricity.
struct Eccentricities {
  std::vector<Index> low;
  std::vector<Index> high;

  explicit Eccentricities(Index agents) : low(agents, 0), high(agents, std::numeric_limits<Index>::max()) {}

  void learn(const Sweep& sweep, Index source, Index eccentricity) {
    for (Index k = 0; k < static_cast<Index>(low.size()); ++k) {
      const Index d = sweep.distance(k);
      low[k] = std::max({low[k], d, eccentricity - d});
      high[k] = std::min(high[k], eccentricity + d);
    }
    low[source] = high[source] = eccentricity;
  }

  /// The next source: alternately the agent that may be most remote and the one that may be most central, among those
  /// that can still raise the diameter above `best`; -1 if there is none.
  [[nodiscard]] Index next(Index best, bool remote) const {
    Index chosen = -1;
    for (Index k = 0; k < static_cast<Index>(low.size()); ++k) {
      if (low[k] == high[k] || high[k] <= best) continue;
      if (chosen < 0 || (remote ? high[k] > high[chosen] : low[k] < low[chosen])) chosen = k;
    }
    return chosen;
  }
};

}  // namespace

Graph Graph::from_edges(Index agents, const std::vector<Edge>& edges) {
  if (agents < 1) throw InputError("graph.agents", "found " + std::to_string(agents) + ", expected at least 1");
  if (agents > std::numeric_limits<std::int32_t>::max()) {
    throw InputError("graph.agents", "found " + std::to_string(agents) + ", expected at most 2147483647");
  }
  std::vector<Index> place(agents + 1, 0);
  for (const Edge& edge : edges) {
    check_edge(edge, agents);
    ++place[edge.first + 1];
    ++place[edge.second + 1];
  }
  for (Index k = 0; k < agents; ++k) place[k + 1] += place[k];
  const std::vector<Index> start = place;
  MeteredVector<std::int32_t> all(2 * edges.size());
  for (const auto& [k, l] : edges) {
    all[place[k]++] = l;
    all[place[l]++] = k;
  }
  // Sort every row and close the gaps that repeated links leave.
  Graph graph;
  graph.offset_.reserve(agents + 1);
  auto end = all.begin();
  for (Index k = 0; k < agents; ++k) {
    const auto first = all.begin() + start[k];
    const auto last = all.begin() + start[k + 1];
    std::sort(first, last);
    end = std::copy(first, std::unique(first, last), end);
    graph.offset_.push_back(end - all.begin());
  }
  all.erase(end, all.end());
  all.shrink_to_fit();
  graph.neighbour_ = std::move(all);
  return graph;
}

Index Graph::max_degree() const {
  Index most = 0;
  for (Index k = 0; k < agents(); ++k) most = std::max(most, degree(k));
  return most;
}

std::optional<Index> unreachable_agent(const Graph& graph) {
  if (graph.agents() == 0) return std::nullopt;
  Sweep sweep(graph);
  sweep.from(0);
  if (sweep.reached_all()) return std::nullopt;
  Index k = 0;
  while (sweep.reached(k)) ++k;
  return k;
}

bool is_connected(const Graph& graph) { return !unreachable_agent(graph).has_value(); }

Diameter diameter(const Graph& graph) {
  constexpr Index exact_up_to = 5000;
  constexpr Index searches_above = 16;
  const Index agents = graph.agents();
  if (agents == 0) return {};
  const Index searches = agents <= exact_up_to ? agents : searches_above;
  Sweep sweep(graph);
  Eccentricities known(agents);
  Index best = 0;
  Index source = 0;
  for (Index i = 0; i < searches && source >= 0; ++i) {
    const Index eccentricity = sweep.from(source);
    if (!sweep.reached_all()) throw Error("the diameter of a graph that is not connected");
    known.learn(sweep, source, eccentricity);
    best = std::max(best, eccentricity);
    source = known.next(best, i % 2 == 0);
  }
  return {best, std::max(best, *std::max_element(known.high.begin(), known.high.end()))};
}

}  // namespace polyhop

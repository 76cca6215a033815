// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/graph.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/graph/generators.hpp"

namespace polyhop::graph_test {
namespace {

std::vector<std::int32_t> neighbours(const Graph& graph, Index k) {
  return {graph.neighbours(k).begin(), graph.neighbours(k).end()};
}

TEST(Graph, SortsNeighboursAndDropsRepeatedLinks) {
  const Graph graph = Graph::from_edges(4, {{3, 0}, {0, 1}, {1, 0}, {0, 3}, {2, 0}});
  EXPECT_EQ(graph.agents(), 4);
  EXPECT_EQ(graph.edges(), 3);
  EXPECT_EQ(neighbours(graph, 0), (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(neighbours(graph, 3), (std::vector<std::int32_t>{0}));
  EXPECT_EQ(graph.degree(0), 3);
  EXPECT_EQ(graph.max_degree(), 3);
}

TEST(Graph, DoesNotDependOnTheOrderOfItsLinks) {
  const Graph a = Graph::from_edges(4, {{0, 1}, {1, 2}, {2, 3}});
  const Graph b = Graph::from_edges(4, {{3, 2}, {1, 0}, {2, 1}});
  for (Index k = 0; k < 4; ++k) EXPECT_EQ(neighbours(a, k), neighbours(b, k));
}

TEST(Graph, RefusesSelfLoopsStrangersAndEmptyNetworks) {
  const auto message = [](Index agents, const std::vector<Edge>& edges) -> std::string {
    try {
      static_cast<void>(Graph::from_edges(agents, edges));
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(3, {{1, 1}}), "graph: agent 1 is linked to itself");
  EXPECT_EQ(message(3, {{0, 3}}), "graph: link 0-3, expected agents from 0 to 2");
  EXPECT_EQ(message(3, {{-1, 0}}), "graph: link -1-0, expected agents from 0 to 2");
  EXPECT_EQ(message(0, {}), "graph.agents: found 0, expected at least 1");
  EXPECT_EQ(message(Index{1} << 31, {}), "graph.agents: found 2147483648, expected at most 2147483647");
}

TEST(Graph, TellsWhoCannotBeReached) {
  EXPECT_TRUE(is_connected(Graph::from_edges(1, {})));
  EXPECT_TRUE(is_connected(Graph::from_edges(3, {{0, 1}, {1, 2}})));
  const Graph two_pairs = Graph::from_edges(4, {{0, 2}, {1, 3}});
  EXPECT_FALSE(is_connected(two_pairs));
  EXPECT_EQ(unreachable_agent(two_pairs), 1);
}

TEST(Diameter, IsKnownForSimpleGraphs) {
  const auto exact = [](Index agents, const std::vector<Edge>& edges) {
    const Diameter d = diameter(Graph::from_edges(agents, edges));
    EXPECT_TRUE(d.exact());
    return d.low;
  };
  EXPECT_EQ(exact(1, {}), 0);
  EXPECT_EQ(exact(5, generate::path(5)), 4);
  EXPECT_EQ(exact(5, generate::ring(5)), 2);
  EXPECT_EQ(exact(5, generate::star(5)), 2);
  EXPECT_EQ(exact(5, generate::complete(5)), 1);
  EXPECT_EQ(exact(6, generate::grid(2, 3)), 3);
  EXPECT_EQ(exact(5000, generate::ring(5000)), 2500);
}

TEST(Diameter, IsBoundedForLargeGraphs) {
  const Diameter path = diameter(Graph::from_edges(6000, generate::path(6000)));
  EXPECT_EQ(path.low, 5999);
  EXPECT_EQ(path.high, 5999);
  const Diameter ring = diameter(Graph::from_edges(6000, generate::ring(6000)));
  EXPECT_EQ(ring.low, 3000);
  EXPECT_GE(ring.high, 3000);
}

TEST(Diameter, NeedsAConnectedGraph) { EXPECT_THROW(static_cast<void>(diameter(Graph::from_edges(2, {}))), Error); }

}  // namespace
}  // namespace polyhop::graph_test

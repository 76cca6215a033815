// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/near_order.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "support/networks.hpp"

namespace polyhop::near_order_test {
namespace {

GraphOptions topology(Topology kind, Index agents) {
  GraphOptions options;
  options.topology = kind;
  options.agents = agents;
  return options;
}

// Any matrix with the pattern of these links.
SparseRows linked(Index agents, const std::vector<Edge>& edges) {
  test::Dense dense = test::zeros(agents, agents);
  for (Index k = 0; k < agents; ++k) dense[k][k] = 1;
  for (const auto& [k, l] : edges) dense[k][l] = dense[l][k] = 1;
  SparseRows out;
  for (const auto& row : dense) {
    for (std::size_t l = 0; l < row.size(); ++l) {
      if (row[l] != 0) out.add(static_cast<std::int32_t>(l), 1);
    }
    out.end_row();
  }
  return out;
}

TEST(NearOrder, MeasuresHowFarNeighboursAreApart) {
  const SparseRows star = linked(4, {{0, 1}, {0, 2}, {0, 3}});
  EXPECT_EQ(mean_distance(star), 2);
  const Numbering hub_second = {{1, 0, 2, 3}, {1, 0, 2, 3}};
  EXPECT_EQ(mean_distance(star, &hub_second), 4.0 / 3);
  EXPECT_EQ(mean_distance(linked(1, {})), 0);
}

TEST(NearOrder, FindsTheChainInAPathThatIsNumberedAnyhow) {
  // 0 - 3 - 1 - 4 - 2
  const SparseRows path = linked(5, {{0, 3}, {3, 1}, {1, 4}, {4, 2}});
  const Numbering order = near_order(path);
  EXPECT_EQ(mean_distance(path, &order), 1);
  EXPECT_TRUE(order.agent == (std::vector<std::int32_t>{0, 3, 1, 4, 2}) ||
              order.agent == (std::vector<std::int32_t>{2, 4, 1, 3, 0}));
}

TEST(NearOrder, HasEveryAgentOnceInEveryPart) {
  // Two parts, and an agent that nobody is linked with.
  const SparseRows parts = linked(7, {{0, 4}, {4, 2}, {1, 3}, {3, 5}, {5, 1}});
  const Numbering order = near_order(parts);
  EXPECT_EQ(std::set<std::int32_t>(order.agent.begin(), order.agent.end()).size(), 7U);
  for (std::size_t place = 0; place < 7; ++place) EXPECT_EQ(order.place[order.agent[place]], place);
  EXPECT_LE(mean_distance(parts, &order), 1.5);
}

TEST(NearOrder, PaysWhereNeighboursWithFarNumbersCanBeBroughtTogether) {
  GraphOptions options = topology(Topology::random_geometric, 900);
  options.radius = 0.07;
  const CombinationMatrix geometric = make_network(options, 1).matrix;
  const auto order = paying_order(geometric.rows());
  ASSERT_TRUE(order.has_value());
  // Agents with linked agents in the other half.
  const auto crossing = [&](const Numbering* numbering) {
    const Block half{0, 450, numbering};
    Index count = 0;
    for (Index k = 0; k < 900; ++k) {
      bool crosses = false;
      for (const Index l : geometric.rows().columns_of(k)) crosses = crosses || half.holds(l) != half.holds(k);
      count += crosses ? 1 : 0;
    }
    return count;
  };
  EXPECT_GT(crossing(nullptr), 850);
  EXPECT_LT(crossing(&*order), 150);
}

TEST(NearOrder, LeavesNetworksAloneThatItDoesNotHelp) {
  for (const Topology kind : {Topology::ring, Topology::path, Topology::star}) {
    EXPECT_FALSE(paying_order(make_network(topology(kind, 400), 0).matrix.rows()).has_value());
  }
  GraphOptions grid;
  grid.topology = Topology::grid;
  grid.rows = grid.columns = 20;
  EXPECT_FALSE(paying_order(make_network(grid, 0).matrix.rows()).has_value());
  EXPECT_FALSE(paying_order(test::random_network(400, 0.03, 1).rows()).has_value());
  // A few agents fit into any cache.
  GraphOptions few = topology(Topology::random_geometric, 90);
  few.radius = 0.2;
  EXPECT_FALSE(paying_order(make_network(few, 1).matrix.rows()).has_value());
}

}  // namespace
}  // namespace polyhop::near_order_test

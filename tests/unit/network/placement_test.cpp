// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/placement.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <vector>

#include "support/networks.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::placement_test {
namespace {

std::vector<double> even(Index agents) { return std::vector<double>(agents, 1.0); }

std::set<Index> owned(const Ownership& ownership, Index rank) {
  std::set<Index> agents;
  const Block block = ownership.block(rank);
  for (Index k = 0; k < block.size(); ++k) agents.insert(block.agent(k));
  return agents;
}

Index edges_between_processes(const CombinationMatrix& matrix, const Ownership& ownership) {
  Index cut = 0;
  for (Index r = 0; r + 1 < static_cast<Index>(ownership.first.size()); ++r) {
    const Block block = ownership.block(r);
    for (const Index k : owned(ownership, r)) {
      for (const Index l : matrix.rows().columns_of(k)) cut += block.holds(l) ? 0 : 1;
    }
  }
  return cut / 2;
}

TEST(Placement, ContiguousSharesHaveAboutTheSameCost) {
  const auto path = test::network_of(Topology::path, 6);
  const Ownership ownership = choose_ownership(path, std::vector<double>{5, 1, 1, 1, 1, 1}, 2);
  EXPECT_EQ(ownership.first, (std::vector<Index>{0, 1, 6}));
  EXPECT_EQ(ownership.numbering, nullptr);
  // 3 and 6 are more even than 7 and 2.
  EXPECT_EQ(balanced_ownership(std::vector<double>{3, 4, 1, 1}, 2).first, (std::vector<Index>{0, 1, 4}));
}

TEST(Placement, LeavesAnAgentForEveryProcessThatComesLater) {
  EXPECT_EQ(balanced_ownership(std::vector<double>{1, 1, 100}, 3).first, (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(balanced_ownership(std::vector<double>{100, 1, 1}, 3).first, (std::vector<Index>{0, 1, 2, 3}));
}

TEST(Placement, RefusesMoreProcessesThanAgents) {
  const auto path = test::network_of(Topology::path, 3);
  const InputError error = refusal([&] { return choose_ownership(path, even(3), 4); });
  EXPECT_STREQ(error.what(),
               "graph.agents: there are 4 processes for 3 agents; start at most as many as there are agents");
}

// Two rings whose agents have odd and even numbers, joined by one edge: contiguous shares cut most edges.
CombinationMatrix two_rings(Index each) {
  std::vector<Edge> edges = {{0, 1}};
  for (std::int32_t n = 0; n < each; ++n) {
    const auto next = static_cast<std::int32_t>((n + 1) % each);
    for (std::int32_t parity : {0, 1}) edges.push_back({2 * n + parity, 2 * next + parity});
  }
  return with_weights(Graph::from_edges(2 * each, edges), Weights::metropolis).matrix;
}

// A path 0, n/2, 1, n/2 + 1, ...: every edge joins the two halves.
CombinationMatrix shuffled_path(Index agents) {
  std::vector<Edge> edges;
  const auto at = [&](Index n) { return static_cast<std::int32_t>(n / 2 + (n % 2) * (agents / 2)); };
  for (Index n = 0; n + 1 < agents; ++n) edges.push_back({at(n), at(n + 1)});
  return with_weights(Graph::from_edges(agents, edges), Weights::metropolis).matrix;
}

TEST(Placement, MetisCutsFewEdges) {
  if (!has_metis()) GTEST_SKIP() << "METIS is not built in";
  const auto matrix = two_rings(20);
  const Ownership ownership = choose_ownership(matrix, even(40), 2, Placement::metis);
  EXPECT_EQ(edges_between_processes(matrix, ownership), 1);
  EXPECT_EQ(ownership.first, (std::vector<Index>{0, 20, 40}));
  // Places and agents are each other's inverse.
  for (Index p = 0; p < 40; ++p) {
    const auto agent = static_cast<std::size_t>(ownership.numbering->agent[p]);
    EXPECT_EQ(ownership.numbering->place[agent], p);
  }
  // Of a process those stand first that others hear of along one hop, then along two; the rest by number.
  for (Index process = 0; process < 2; ++process) {
    const Block block = ownership.block(process);
    const auto heard = matrix.rows().columns_of(block.agent(0));
    EXPECT_EQ(std::set<Index>(heard.begin(), heard.end()),
              (std::set{ownership.block(1 - process).agent(0), block.agent(0), block.agent(1), block.agent(2)}));
    for (Index k = 4; k < 20; ++k) EXPECT_LT(block.agent(k - 1), block.agent(k));
  }
}

TEST(Placement, MetisGivesEveryProcessAnAgentAndBalancesCost) {
  if (!has_metis()) GTEST_SKIP() << "METIS is not built in";
  const auto star = test::network_of(Topology::star, 9);
  for (const double of_the_hub : {1.0, 1e6}) {
    for (const Index processes : {2, 3, 7, 8}) {
      std::vector<double> cost = even(9);
      cost[0] = of_the_hub;
      const Ownership ownership = choose_ownership(star, cost, processes, Placement::metis);
      std::set<Index> all;
      for (Index r = 0; r < processes; ++r) {
        EXPECT_GE(ownership.block(r).size(), 1);
        all.merge(owned(ownership, r));
      }
      EXPECT_EQ(all.size(), 9U);
    }
  }
  std::vector<double> cost = even(41);
  cost[0] = 40;
  const Ownership heavy = choose_ownership(test::network_of(Topology::ring, 41), cost, 2, Placement::metis);
  const Index with_heavy = heavy.block(0).holds(0) ? 0 : 1;
  EXPECT_LT(heavy.block(with_heavy).size(), 8);
}

TEST(Placement, AProcessThatIsAloneBringsNeighboursNearEachOtherWhereThatPays) {
  const auto rings = two_rings(100);  // neighbours are two places apart
  EXPECT_EQ(choose_ownership(rings, even(200), 1).numbering, nullptr);
  const auto path = shuffled_path(200);
  EXPECT_EQ(edges_between_processes(path, choose_ownership(path, even(200), 2, Placement::contiguous)), 199);
  const Ownership alone = choose_ownership(path, even(200), 1);
  ASSERT_NE(alone.numbering, nullptr);
  const Ownership halves{{0, 100, 200}, alone.numbering};
  EXPECT_EQ(edges_between_processes(path, halves), 1);
  EXPECT_EQ(choose_ownership(path, even(200), 1, Placement::contiguous).numbering, nullptr);
  EXPECT_EQ(choose_ownership(path, even(200), 2).numbering, nullptr);
}

TEST(Placement, MetisIsAskedOnlyWhereThereIsAChoice) {
  if (!has_metis()) {
    const auto path = test::network_of(Topology::path, 3);
    EXPECT_EQ(refusal([&] { return choose_ownership(path, even(3), 2, Placement::metis); }).path(), "placement");
    return;
  }
  const auto ring = test::network_of(Topology::ring, 5);
  EXPECT_EQ(choose_ownership(ring, even(5), 1, Placement::metis).numbering, nullptr);
  EXPECT_EQ(choose_ownership(ring, even(5), 5, Placement::metis).numbering, nullptr);
}

}  // namespace
}  // namespace polyhop::placement_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/network_summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "support/temporary_folder.hpp"

namespace polyhop::network_summary_test {
namespace {

// 0 - 1 - 2 - 3, and 4 beside 1.
Graph small_tree() { return Graph::from_edges(5, {{0, 1}, {1, 2}, {2, 3}, {1, 4}}); }

GraphOptions options(Topology topology, Index agents) {
  GraphOptions o;
  o.topology = topology;
  o.agents = agents;
  return o;
}

const WeightsTrial& trial(const NetworkSummary& summary, Weights rule) {
  return *std::ranges::find(summary.weights, rule, &WeightsTrial::rule);
}

TEST(DegreeHistogram, HasOneBinForEachDegreeWhereTheyAreFew) {
  const auto bins = degree_histogram(small_tree());
  ASSERT_EQ(bins.size(), 3U);
  const std::vector<Index> expected = {3, 1, 1};  // of one, two, three neighbours
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(bins[n].low, static_cast<Index>(n) + 1);
    EXPECT_EQ(bins[n].high, bins[n].low);
    EXPECT_EQ(bins[n].agents, expected[n]);
  }
}

TEST(DegreeHistogram, CoversAllDegreesWithFewBins) {
  const auto bins = degree_histogram(small_tree(), 2);
  ASSERT_EQ(bins.size(), 2U);
  EXPECT_EQ(bins[0].low, 1);
  EXPECT_EQ(bins[0].high, 2);
  EXPECT_EQ(bins[0].agents, 4);
  EXPECT_EQ(bins[1].low, 3);
  EXPECT_EQ(bins[1].high, 3);
  EXPECT_EQ(bins[1].agents, 1);
}

TEST(TwoHopSizes, CountOneselfNeighboursAndTheirs) {
  const auto sizes = two_hop_sizes(small_tree());
  ASSERT_TRUE(sizes);
  // 0: 0 1 2 4; 1: all; 2: all; 3: 3 2 1; 4: 4 1 0 2
  EXPECT_EQ(sizes->total, 4 + 5 + 5 + 3 + 4);
  EXPECT_EQ(sizes->most, 5);
  EXPECT_DOUBLE_EQ(sizes->mean, 21.0 / 5);
}

TEST(TwoHopSizes, AreNotCountedWhereThatTakesTooLong) {
  // Agent 0 looks at the three links of 1, agent 1 at one, two and one, and so on: 12 in all.
  EXPECT_FALSE(two_hop_sizes(small_tree(), 2));
  EXPECT_TRUE(two_hop_sizes(small_tree(), 100));
}

TEST(TwoHopSizes, OfAStarCostNothing) {
  const Graph star = make_network(options(Topology::star, 1000), 0).graph;
  const auto sizes = two_hop_sizes(star, 0);
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->most, 1000);
  EXPECT_DOUBLE_EQ(sizes->mean, 1000);
}

TEST(NetworkSummary, DescribesAPath) {
  const NetworkSummary s = summarise(options(Topology::path, 4), 0);
  EXPECT_EQ(s.agents, 4);
  EXPECT_EQ(s.links, 3);
  EXPECT_EQ(s.least_degree, 1);
  EXPECT_EQ(s.max_degree, 2);
  EXPECT_DOUBLE_EQ(s.mean_degree, 1.5);
  EXPECT_TRUE(s.diameter.exact());
  EXPECT_EQ(s.diameter.low, 3);
  EXPECT_TRUE(s.weights.front().chosen);
  EXPECT_EQ(s.weights.front().rule, Weights::metropolis);
}

TEST(NetworkSummary, TriesEveryRuleButGivenWeights) {
  const NetworkSummary s = summarise(options(Topology::complete, 5), 0);
  EXPECT_EQ(s.weights.size(), EnumNames<Weights>::names.size() - 1);
  for (const WeightsTrial& t : s.weights) {
    EXPECT_TRUE(t.objection.empty()) << t.objection;
    EXPECT_TRUE(t.gap.computed);
  }
  EXPECT_NEAR(trial(s, Weights::uniform).gap.value, 1, 1e-12);
  EXPECT_NEAR(trial(s, Weights::lazy).gap.value, 0.5, 1e-12);
}

TEST(NetworkSummary, SaysWhyARuleDoesNotServe) {
  const NetworkSummary s = summarise(options(Topology::star, 4), 0);
  EXPECT_NE(trial(s, Weights::uniform).objection.find("complete graph"), std::string::npos);
  // The centre keeps 1 - 3 * 2/5 for itself.
  EXPECT_TRUE(trial(s, Weights::best_constant).negative);
  EXPECT_FALSE(trial(s, Weights::metropolis).negative);
}

TEST(NetworkSummary, CountsLinksThatCarryNothing) {
  GraphOptions o = options(Topology::complete, 5);
  o.weights = Weights::fastest_mixing;
  const NetworkSummary s = summarise(o, 0);
  EXPECT_EQ(s.links, 10);
  EXPECT_EQ(s.weights.front().idle + make_network(o, 0).graph.edges(), 10);
}

class GivenWeights : public test::TemporaryFolder {};

TEST_F(GivenWeights, OfZeroAreLinksThatCarryNothing) {
  std::ofstream(file("g.edges")) << "0 1 0.5\n1 2 0.25\n0 2 0\n";
  GraphOptions o;
  o.topology = Topology::file;
  o.file = file("g.edges");
  o.weights = Weights::given;
  const NetworkSummary s = summarise(o, 0);
  EXPECT_EQ(s.links, 3);
  EXPECT_EQ(s.weights.front().idle, 1);
}

}  // namespace
}  // namespace polyhop::network_summary_test

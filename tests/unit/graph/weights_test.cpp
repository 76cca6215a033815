// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/graph/generators.hpp"
#include "polyhop/graph/spectrum.hpp"

namespace polyhop::weights_test {
namespace {

void expect_weights(const NetworkGraph& network, const std::vector<double>& expected) {
  const auto& weight = network.matrix.rows().weight;
  ASSERT_EQ(weight.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(weight[i], expected[i], 1e-15);
}

Graph star_of_four() { return Graph::from_edges(4, generate::star(4)); }
Graph path_of_three() { return Graph::from_edges(3, generate::path(3)); }

TEST(Weights, MetropolisTakesTheLargerDegree) {
  // Path 0-1-2-3 with 1-3 as well: degrees 1, 3, 2, 2.
  const Graph graph = Graph::from_edges(4, {{0, 1}, {1, 2}, {2, 3}, {1, 3}});
  expect_weights(with_weights(graph, Weights::metropolis),
                 {3. / 4, 1. / 4, 1. / 4, 1. / 4, 1. / 4, 1. / 4, 1. / 4, 5. / 12, 1. / 3, 1. / 4, 1. / 3, 5. / 12});
}

TEST(Weights, MaxDegreeGivesEveryLinkTheSame) {
  expect_weights(with_weights(path_of_three(), Weights::max_degree),
                 {2. / 3, 1. / 3, 1. / 3, 1. / 3, 1. / 3, 1. / 3, 2. / 3});
}

TEST(Weights, LazyIsHalfWayToTheIdentity) {
  expect_weights(with_weights(path_of_three(), Weights::lazy),
                 {5. / 6, 1. / 6, 1. / 6, 2. / 3, 1. / 6, 1. / 6, 5. / 6});
}

TEST(Weights, BestConstantOfTheStarOfFourIsNegativeAtTheHub) {
  // The Laplacian has the eigenvalues 0, 1, 1, 4: alpha = 2/5.
  const NetworkGraph network = with_weights(star_of_four(), Weights::best_constant);
  expect_weights(network, {-0.2, 0.4, 0.4, 0.4, 0.4, 0.6, 0.4, 0.6, 0.4, 0.6});
  EXPECT_FALSE(network.matrix.non_negative());
}

TEST(Weights, BestConstantMayHaveNoPositiveDiagonal) {
  // Two triangles joined by a link: what makes it converge is its spectrum, not its diagonal.
  const Graph graph = Graph::from_edges(6, {{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}, {2, 3}});
  EXPECT_GT(spectral_gap(with_weights(graph, Weights::best_constant).matrix).value, 0);
}

TEST(Weights, UniformIsForTheCompleteGraphOnly) {
  expect_weights(with_weights(Graph::from_edges(2, {{0, 1}}), Weights::uniform), {0.5, 0.5, 0.5, 0.5});
  try {
    static_cast<void>(with_weights(path_of_three(), Weights::uniform));
    FAIL() << "expected a refusal";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(),
                 "graph.weights: \"uniform\" needs the complete graph with 3 links, found 2; \"metropolis\" suits any "
                 "connected graph");
  }
}

TEST(Weights, FastestMixingFindsTheOptimumOfTheStar) {
  // Every leaf gets 1/n, the hub keeps nothing: the gap is 1/n.
  const NetworkGraph network = with_weights(star_of_four(), Weights::fastest_mixing);
  EXPECT_NEAR(spectral_gap(network.matrix).value, 1. / 3, 1e-3);
}

TEST(Weights, FastestMixingLeavesOutLinksWithoutWeight) {
  const NetworkGraph network = with_weights(Graph::from_edges(5, generate::ring(5)), Weights::fastest_mixing);
  EXPECT_EQ(network.matrix.rows().entries(), 5 + 2 * network.graph.edges());
}

TEST(Weights, FastestMixingServesTwoHundredAgentsAtMost) {
  // Of the complete graph the weights that it starts from are the best, so that it need not search.
  const NetworkGraph complete = with_weights(Graph::from_edges(200, generate::complete(200)), Weights::fastest_mixing);
  EXPECT_EQ(complete.graph.agents(), 200);
  EXPECT_NEAR(spectral_gap(complete.matrix).value, 1, 1e-12);
  try {
    static_cast<void>(with_weights(Graph::from_edges(201, generate::ring(201)), Weights::fastest_mixing));
    FAIL() << "expected a refusal";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(),
                 "graph.weights: \"fastest-mixing\" works for at most 200 agents, found 201; \"metropolis\" or "
                 "\"best-constant\" work for any number");
  }
}

TEST(Weights, RelabellingTheAgentsRelabelsTheMatrix) {
  Stream random(3, Purpose::graph);
  const auto edges = generate::erdos_renyi(12, 0.5, random);
  std::vector<std::int32_t> name(12);
  for (std::int32_t k = 0; k < 12; ++k) name[k] = (5 * k + 3) % 12;
  std::vector<Edge> renamed;
  for (const auto& [k, l] : edges) renamed.emplace_back(name[k], name[l]);
  for (const Weights rule : {Weights::metropolis, Weights::max_degree, Weights::lazy}) {
    const SparseRows a = with_weights(Graph::from_edges(12, edges), rule).matrix.rows();
    const SparseRows b = with_weights(Graph::from_edges(12, renamed), rule).matrix.rows();
    for (Index k = 0; k < 12; ++k) {
      for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) {
        const auto columns = b.columns_of(name[k]);
        const auto place = std::lower_bound(columns.begin(), columns.end(), name[a.column[e]]) - columns.begin();
        ASSERT_EQ(columns[place], name[a.column[e]]);
        EXPECT_NEAR(b.weights_of(name[k])[place], a.weight[e], 1e-15);
      }
    }
  }
}

}  // namespace
}  // namespace polyhop::weights_test

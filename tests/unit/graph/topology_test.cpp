// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/topology.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/graph/generators.hpp"
#include "support/memory_scope.hpp"

namespace polyhop::topology_test {
namespace {

GraphOptions options_of(const Value::Table& table) { return GraphOptions::fields().read(Value(table), "graph"); }

Graph graph_of(const Value::Table& table, std::uint64_t seed = 0) {
  return make_network(options_of(table), seed).graph;
}

std::string error_of(const Value::Table& table) {
  try {
    static_cast<void>(graph_of(table));
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::vector<Edge> edges_of(const Graph& graph) {
  std::vector<Edge> edges;
  for (Index k = 0; k < graph.agents(); ++k) {
    for (const std::int32_t l : graph.neighbours(k)) {
      if (l > k) edges.emplace_back(static_cast<std::int32_t>(k), l);
    }
  }
  return edges;
}

using Edges = std::vector<Edge>;

TEST(Topology, RingOfFourHasFourEdges) {
  EXPECT_EQ(edges_of(graph_of({{"topology", "ring"}, {"agents", 4}})), (Edges{{0, 1}, {0, 3}, {1, 2}, {2, 3}}));
}

TEST(Topology, RingOfTwoIsThePathOfTwo) {
  EXPECT_EQ(edges_of(graph_of({{"topology", "ring"}, {"agents", 2}})), (Edges{{0, 1}}));
}

TEST(Topology, StarHasItsHubAtZero) {
  EXPECT_EQ(edges_of(graph_of({{"topology", "star"}, {"agents", 4}})), (Edges{{0, 1}, {0, 2}, {0, 3}}));
}

TEST(Topology, GridNumbersItsAgentsRowByRow) {
  EXPECT_EQ(edges_of(graph_of({{"topology", "grid"}, {"rows", 2}, {"columns", 2}})),
            (Edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(edges_of(graph_of({{"topology", "grid"}, {"rows", 1}, {"columns", 3}, {"agents", 3}})),
            (Edges{{0, 1}, {1, 2}}));
}

TEST(Topology, TorusClosesTheGrid) {
  const Graph torus = graph_of({{"topology", "torus"}, {"rows", 3}, {"columns", 3}});
  for (Index k = 0; k < 9; ++k) EXPECT_EQ(torus.degree(k), 4);
  EXPECT_EQ(edges_of(graph_of({{"topology", "torus"}, {"rows", 1}, {"columns", 3}})), (Edges{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(graph_of({{"topology", "torus"}, {"rows", 2}, {"columns", 2}}).edges(), 4);
}

TEST(Topology, HypercubeLinksNumbersThatDifferInOneBit) {
  EXPECT_EQ(edges_of(graph_of({{"topology", "hypercube"}, {"agents", 4}})), (Edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}}));
}

TEST(Topology, BinaryTreeLinksParentsWithTwoChildren) {
  EXPECT_EQ(edges_of(graph_of({{"topology", "binary-tree"}, {"agents", 5}})), (Edges{{0, 1}, {0, 2}, {1, 3}, {1, 4}}));
}

TEST(Topology, ExponentialLinksPowersOfTwo) {
  // From 0: 1, 2, 4, and backwards 5, 4, 2.
  const Graph graph = graph_of({{"topology", "exponential"}, {"agents", 6}});
  EXPECT_EQ((std::vector<std::int32_t>(graph.neighbours(0).begin(), graph.neighbours(0).end())),
            (std::vector<std::int32_t>{1, 2, 4, 5}));
}

TEST(Topology, OneAgentAloneIsANetwork) {
  const std::vector<Value::Table> tables = {
      {{"topology", "ring"}},
      {{"topology", "path"}},
      {{"topology", "star"}},
      {{"topology", "complete"}},
      {{"topology", "hypercube"}},
      {{"topology", "binary-tree"}},
      {{"topology", "exponential"}},
      {{"topology", "grid"}, {"rows", 1}, {"columns", 1}},
      {{"topology", "torus"}, {"rows", 1}, {"columns", 1}},
      {{"topology", "erdos-renyi"}, {"probability", 0.5}},
      {{"topology", "random-geometric"}, {"radius", 0.5}},
      {{"topology", "watts-strogatz"}, {"degree", 0}, {"rewire", 0.5}},
      {{"topology", "barabasi-albert"}, {"attach", 0}},
      {{"topology", "random-regular"}, {"degree", 0}},
      {{"topology", "stochastic-block"}, {"blocks", 1}, {"within", 0.5}, {"between", 0.5}}};
  for (Value::Table table : tables) {
    table.emplace_back("agents", 1);
    for (const char* weights : {"metropolis", "max-degree", "best-constant", "lazy", "fastest-mixing", "uniform"}) {
      Value::Table with = table;
      with.emplace_back("weights", weights);
      const NetworkGraph network = make_network(options_of(with), 0);
      EXPECT_EQ(network.matrix.rows().weight, std::vector<double>{1}) << Value(with).text();
    }
  }
}

TEST(Topology, RandomGraphsFollowTheSeedAndTheGraphSeedOverridesIt) {
  const Value::Table table = {{"topology", "erdos-renyi"}, {"agents", 30}, {"probability", 0.3}};
  EXPECT_EQ(edges_of(graph_of(table, 1)), edges_of(graph_of(table, 1)));
  EXPECT_NE(edges_of(graph_of(table, 1)), edges_of(graph_of(table, 2)));
  Value::Table fixed = table;
  fixed.emplace_back("seed", 1);
  EXPECT_EQ(edges_of(graph_of(fixed, 2)), edges_of(graph_of(table, 1)));
}

TEST(Topology, ErdosRenyiWithProbabilityOneIsComplete) {
  EXPECT_EQ(graph_of({{"topology", "erdos-renyi"}, {"agents", 5}, {"probability", 1}}).edges(), 10);
}

TEST(Topology, RandomGeometricWithALargeRadiusIsComplete) {
  EXPECT_EQ(graph_of({{"topology", "random-geometric"}, {"agents", 5}, {"radius", 1.5}}).edges(), 10);
}

TEST(Topology, WattsStrogatzWithoutRewiringIsTheRingOfNearestNeighbours) {
  const Graph graph = graph_of({{"topology", "watts-strogatz"}, {"agents", 7}, {"degree", 4}, {"rewire", 0}});
  EXPECT_EQ((std::vector<std::int32_t>(graph.neighbours(0).begin(), graph.neighbours(0).end())),
            (std::vector<std::int32_t>{1, 2, 5, 6}));
}

TEST(Topology, BarabasiAlbertAttachesEveryNewcomer) {
  const Graph graph = graph_of({{"topology", "barabasi-albert"}, {"agents", 20}, {"attach", 3}});
  EXPECT_EQ(graph.edges(), 3 + 16 * 3);
  for (Index k = 4; k < 20; ++k) EXPECT_GE(graph.degree(k), 3);
}

TEST(Topology, RandomRegularGivesEverybodyTheSameDegree) {
  for (const int degree : {2, 3, 4, 5, 8, 9}) {
    const Graph graph = graph_of({{"topology", "random-regular"}, {"agents", 10}, {"degree", degree}});
    for (Index k = 0; k < 10; ++k) EXPECT_EQ(graph.degree(k), degree);
  }
}

// Points of the unit square, two uniforms each in order of the agents; every pair is looked at.
TEST(Topology, RandomGeometricLinksWhoeverIsNear) {
  constexpr Index agents = 60;
  constexpr double radius = 0.2;
  Stream points(3, Purpose::graph);
  std::vector<double> x;
  std::vector<double> y;
  for (Index k = 0; k < agents; ++k) {
    x.push_back(points.uniform());
    y.push_back(points.uniform());
  }
  Edges expected;
  for (std::int32_t k = 0; k < agents; ++k) {
    for (std::int32_t l = k + 1; l < agents; ++l) {
      if (std::hypot(x[k] - x[l], y[k] - y[l]) <= radius) expected.emplace_back(k, l);
    }
  }
  Stream random(3, Purpose::graph);
  EXPECT_EQ(edges_of(Graph::from_edges(agents, generate::random_geometric(agents, radius, random))), expected);
}

TEST(Topology, WattsStrogatzLeavesThoseAloneThatAreLinkedWithAll) {
  EXPECT_EQ(graph_of({{"topology", "watts-strogatz"}, {"agents", 5}, {"degree", 4}, {"rewire", 1.0}}).edges(), 10);
}

TEST(Topology, StochasticBlockWithoutLinksInsideLinksTheGroupsAlone) {
  EXPECT_EQ(edges_of(graph_of(
                {{"topology", "stochastic-block"}, {"agents", 4}, {"blocks", 2}, {"within", 0.0}, {"between", 1.0}})),
            (Edges{{0, 2}, {0, 3}, {1, 2}, {1, 3}}));
}

TEST(Topology, StochasticBlockWithCertainLinksIsCliquesAndBridges) {
  const Graph graph =
      graph_of({{"topology", "stochastic-block"}, {"agents", 5}, {"blocks", 2}, {"within", 1}, {"between", 1}});
  EXPECT_EQ(graph.edges(), 10);
}

TEST(Topology, AHundredThousandAgentsOfDegreeTenAreBuilt) {
  const Index agents = 100000;
  const std::vector<Value::Table> tables = {
      {{"topology", "random-regular"}, {"agents", agents}, {"degree", 10}},
      {{"topology", "watts-strogatz"}, {"agents", agents}, {"degree", 10}, {"rewire", 0.1}},
      {{"topology", "barabasi-albert"}, {"agents", agents}, {"attach", 5}},
      {{"topology", "erdos-renyi"}, {"agents", agents}, {"probability", 0.00015}},
      {{"topology", "random-geometric"}, {"agents", agents}, {"radius", 0.0075}}};
  for (const Value::Table& table : tables) {
    const NetworkGraph network = make_network(options_of(table), 1);
    EXPECT_EQ(network.matrix.agents(), agents);
    EXPECT_EQ(network.matrix.rows().entries(), agents + 2 * network.graph.edges());
  }
}

TEST(TopologyErrors, AskForMissingKeys) {
  EXPECT_EQ(error_of({{"agents", 4}}).substr(0, 33), "graph.topology: missing; expected");
  EXPECT_EQ(error_of({{"topology", "ring"}}), "graph.agents: missing; topology \"ring\" needs it, such as agents = 10");
  EXPECT_EQ(error_of({{"topology", "erdos-renyi"}, {"agents", 4}}),
            "graph.probability: missing; topology \"erdos-renyi\" needs it: probability of a link between any two "
            "agents, such as "
            "probability = 0.3");
  EXPECT_EQ(error_of({{"topology", "random-geometric"}, {"agents", 4}}),
            "graph.radius: missing; topology \"random-geometric\" needs it: agents in the unit square are linked if "
            "they are this "
            "close, such as radius = 0.4");
  EXPECT_EQ(error_of({{"topology", "watts-strogatz"}, {"agents", 4}, {"degree", 2}}),
            "graph.rewire: missing; topology \"watts-strogatz\" needs it: probability that a link is rewired, such as "
            "rewire = 0.1");
  EXPECT_EQ(
      error_of({{"topology", "barabasi-albert"}, {"agents", 4}}),
      "graph.attach: missing; topology \"barabasi-albert\" needs it: links that a new agent makes, such as attach = 2");
  EXPECT_EQ(error_of({{"topology", "grid"}, {"rows", 4}}),
            "graph.columns: missing; topology \"grid\" needs it: number of columns, such as columns = 4");
  EXPECT_EQ(
      error_of({{"topology", "grid"}}),
      "graph.rows, graph.columns: missing; topology \"grid\" needs them: rows (number of rows), columns (number of "
      "columns), such as rows = 4, columns = 4");
  EXPECT_EQ(
      error_of({{"topology", "random-regular"}}),
      "graph.agents, graph.degree: missing; topology \"random-regular\" needs them: degree (neighbours per agent), "
      "such as agents = 10, degree = 4");
  EXPECT_EQ(error_of({{"topology", "stochastic-block"}, {"agents", 4}, {"blocks", 2}, {"within", 1}}),
            "graph.between: missing; topology \"stochastic-block\" needs it: probability of a link between groups, "
            "such as between = 0.1");
  EXPECT_EQ(error_of({{"topology", "file"}}),
            "graph.file: missing; topology \"file\" needs it: edge list (.txt .edges .csv), GraphML (.graphml .xml), "
            "Matrix Market (.mtx), "
            "dense matrix (.mat .dense), such as file = \"net.txt\"");
}

TEST(TopologyErrors, RefuseKeysThatAreNotUsed) {
  EXPECT_EQ(error_of({{"topology", "ring"}, {"agents", 4}, {"probability", 0.5}}),
            "graph.probability: topology \"ring\" does not use this key");
  EXPECT_EQ(error_of({{"topology", "ring"}, {"agents", 4}, {"file", "a.txt"}}),
            "graph.file: topology \"ring\" does not use this key");
  EXPECT_EQ(error_of({{"topology", "random-regular"}, {"agents", 4}, {"degree", 2}, {"rewire", 0.5}}),
            "graph.rewire: topology \"random-regular\" does not use this key");
}

TEST(TopologyErrors, NameNumbersThatDoNotFit) {
  EXPECT_EQ(error_of({{"topology", "ring"}, {"agents", 0}}), "graph.agents: found 0, expected an integer >= 1");
  EXPECT_EQ(error_of({{"topology", "rong"}, {"agents", 4}}),
            "graph.topology: unknown name \"rong\"; did you mean 'ring'?");
  EXPECT_EQ(error_of({{"topology", "hypercube"}, {"agents", 6}}),
            "graph.agents: found 6, expected a power of two for topology \"hypercube\"");
  EXPECT_EQ(error_of({{"topology", "grid"}, {"rows", 2}, {"columns", 3}, {"agents", 5}}),
            "graph.agents: found 5, expected rows * columns = 6, or nothing");
  EXPECT_EQ(error_of({{"topology", "random-regular"}, {"agents", 4}, {"degree", 4}}),
            "graph.degree: found 4, expected less than the number of agents, 4");
  EXPECT_EQ(error_of({{"topology", "random-regular"}, {"agents", 5}, {"degree", 3}}),
            "graph.degree: found 3, expected an even number when the number of agents, 5, is odd");
  EXPECT_EQ(error_of({{"topology", "random-regular"}, {"agents", 4}, {"degree", 1}}),
            "graph.degree: found 1, expected at least 2: pairs are not connected");
  EXPECT_EQ(error_of({{"topology", "random-regular"}, {"agents", 4}, {"degree", 0}}),
            "graph.degree: found 0, expected at least 1");
  EXPECT_EQ(error_of({{"topology", "watts-strogatz"}, {"agents", 6}, {"degree", 3}, {"rewire", 0}}),
            "graph.degree: found 3, expected an even number for topology \"watts-strogatz\"");
  EXPECT_EQ(error_of({{"topology", "barabasi-albert"}, {"agents", 4}, {"attach", 4}}),
            "graph.attach: found 4, expected less than the number of agents, 4");
  EXPECT_EQ(error_of({{"topology", "barabasi-albert"}, {"agents", 4}, {"attach", 0}}),
            "graph.attach: found 0, expected at least 1");
  EXPECT_EQ(error_of({{"topology", "stochastic-block"}, {"agents", 2}, {"blocks", 3}, {"within", 1}, {"between", 1}}),
            "graph.blocks: found 3, expected at most the number of agents, 2");
  EXPECT_EQ(error_of({{"topology", "erdos-renyi"}, {"agents", 4}, {"probability", 1.5}}),
            "graph.probability: found 1.5, expected a number in [0, 1]");
}

TEST(TopologyErrors, OptionsBuiltInCodeAreCheckedToo) {
  GraphOptions options;
  options.topology = Topology::random_geometric;
  options.agents = 4;
  options.radius = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(make_network(options, 0)), InputError);
}

TEST(TopologyErrors, AdviseWhenNoDrawIsConnected) {
  EXPECT_EQ(
      error_of({{"topology", "erdos-renyi"}, {"agents", 50}, {"probability", 0.01}}),
      "graph.topology: none of 1000 draws of \"erdos-renyi\" (agents = 50, probability = 0.01) is connected; raise "
      "probability above log(agents)/agents = 0.0782");
  EXPECT_EQ(
      error_of({{"topology", "random-geometric"}, {"agents", 50}, {"radius", 0.01}}),
      "graph.topology: none of 1000 draws of \"random-geometric\" (agents = 50, radius = 0.01) is connected; raise "
      "radius above sqrt(log(agents)/(pi agents)) = 0.158");
  EXPECT_NE(error_of({{"topology", "stochastic-block"}, {"agents", 6}, {"blocks", 2}, {"within", 1}, {"between", 0}})
                .find("blocks need links between them"),
            std::string::npos);
}

TEST(TopologyErrors, RefuseWhatWouldNotFitIntoMemory) {
  const MemoryScope scope(4e9);
  const std::string complete = error_of({{"topology", "complete"}, {"agents", 100000}});
  EXPECT_TRUE(
      complete.starts_with("graph.agents: topology \"complete\" with 100000 agents has about 4999950000 links "
                           "and would take about 200 GB; the memory limit is 4 GB"))
      << complete;
  EXPECT_TRUE(complete.ends_with("raise it with --memory-limit, or use fewer agents")) << complete;
  EXPECT_NE(error_of({{"topology", "ring"}, {"agents", std::numeric_limits<Index>::max()}}), "");
  EXPECT_NE(error_of({{"topology", "grid"}, {"rows", Index{1} << 40}, {"columns", Index{1} << 40}}), "");
}

TEST(TopologyErrors, GivenWeightsNeedAFile) {
  EXPECT_EQ(error_of({{"topology", "ring"}, {"agents", 4}, {"weights", "given"}}),
            "graph.weights: \"given\" needs topology \"file\", with the weights in that file");
}

}  // namespace
}  // namespace polyhop::topology_test

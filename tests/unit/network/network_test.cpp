// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "polyhop/network/runtime.hpp"
#include "support/isolated_runtime.hpp"
#include "support/networks.hpp"
#include "support/thread_team.hpp"
#include "support/trial.hpp"

namespace polyhop::network_test {
namespace {

using test::Dense;
using test::dense;
using test::network_of;
using test::rows_of;

// Agent 0 is linked with 1, 2 and 3. Metropolis: 1/4 along links, 1/4 for the hub itself, 3/4 for a leaf itself.
const Topology star = Topology::star;

// Gradients that stand in rows, times a number each.
Gradients gradients_of(const Rows& rows, const std::vector<double>& scale) {
  Gradients g;
  g.columns = rows.columns();
  g.scale = scale;
  for (Index k = 0; k < rows.rows(); ++k) g.row.push_back(rows.row(k).data());
  return g;
}

void expect_near(const Dense& found, const Dense& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].size(), expected[k].size());
    for (std::size_t j = 0; j < found[k].size(); ++j) EXPECT_NEAR(found[k][j], expected[k][j], 1e-14) << k << ", " << j;
  }
}

// Runs the body on one worker that holds all agents, with vectors of two numbers.
void on_star(const std::function<void(Network&)>& body) {
  launch_serial(network_of(star, 4), 2, [&](Worker& worker) { body(worker.network); });
}

void expect_traffic(const Traffic& traffic, Index rounds, Index vectors, Index scalars) {
  EXPECT_EQ(traffic.rounds, rounds);
  EXPECT_EQ(traffic.vectors, vectors);
  EXPECT_EQ(traffic.scalars, scalars);
}

TEST(Network, CombineAveragesWithTheWeightsOfTheLinks) {
  on_star([](Network& network) {
    const Rows x = rows_of({{4, 8}, {0, 4}, {8, 0}, {-4, 12}});
    Rows out(4, 2);
    network.combine(x, out);
    expect_near(dense(out), {{2, 6}, {1, 5}, {7, 2}, {-2, 11}});
    expect_near(dense(out), test::product(dense(network.matrix()), dense(x)));
  });
}

TEST(Network, CombineKeepsTheMean) {
  on_star([](Network& network) {
    Rows x = rows_of({{1, 0.1}, {2, -0.7}, {3, 1e3}, {10, 3}});
    for (int round = 0; round < 20; ++round) network.combine(x, x);
    for (Index j = 0; j < 2; ++j) {
      const double mean = j == 0 ? 4.0 : (0.1 - 0.7 + 1e3 + 3) / 4;
      EXPECT_NEAR((x(0, j) + x(1, j) + x(2, j) + x(3, j)) / 4, mean, 1e-14 * 1e3);
    }
  });
}

TEST(Network, CombineTakesGradientsTimesNumbers) {
  on_star([](Network& network) {
    const Rows h = rows_of({{1, 0}, {0, 1}, {1, 1}, {2, 0}});
    Rows out(4, 2);
    // c_l times the scale: 4, 4, 8, -4
    network.combine(std::vector<double>{2, 4, 1, 1}, gradients_of(h, {2, 1, 8, -4}), out);
    expect_near(dense(out), {{(4 + 8 - 8) / 4.0, (4 + 8) / 4.0}, {1, 3}, {1 + 6, 6}, {1 - 6, 0}});
  });
}

TEST(Network, CombineTwiceIsCombineAndCombineAgain) {
  const CombinationMatrix matrix = test::random_network(9, 0.3, 4);
  for (const Index workers : {1, 3}) {
    launch(matrix, 5, workers, [](Worker& worker) {
      Network& network = worker.network;
      Rows x = network.zeros(network.block().size());
      std::vector<double> c(x.rows());
      for (Index k = 0; k < x.rows(); ++k) {
        c[k] = 1.0 / static_cast<double>(network.block().agent(k) + 3);
        for (Index j = 0; j < 5; ++j) x(k, j) = std::sin(static_cast<double>(5 * network.block().agent(k) + j));
      }
      Rows expected = x;
      Rows got = x;
      for (int again = 0; again < 3; ++again) {
        const Gradients g = along(expected);
        network.combine(c, g, expected);
        network.combine(expected, expected);
        network.combine_twice(c, along(got), got);
        EXPECT_EQ(dense(got), dense(expected));
        network.combine(expected, expected);
        network.combine(expected, expected);
        network.combine_twice(got, got);
        EXPECT_EQ(dense(got), dense(expected));
      }
    });
  }
}

TEST(Network, AdaptCombineStepsDownTheGradientsFirst) {
  on_star([](Network& network) {
    Rows w = rows_of({{4, 8}, {0, 4}, {8, 0}, {0, 12}});
    const Rows h = rows_of({{1, 0}, {0, 1}, {1, 1}, {2, 0}});
    // psi = (4 - 2, 8), (0, 4 + 4), (8 - 0, 0 - 0), (0 - 4, 12): only the last gradient's scale is not 1
    network.adapt_combine(w, std::vector<double>{2, -4, 0, 0.5}, gradients_of(h, {1, 1, 1, 4}));
    expect_near(dense(w), {{(2 + 0 + 8 - 4) / 4.0, (8 + 8 + 0 + 12) / 4.0}, {0.5, 8}, {6.5, 2}, {-2.5, 11}});
  });
}

TEST(Network, HearTakesANanForTheExtremeWhereverItStands) {
  on_star([](Network& network) {
    const double unknown = std::nan("");
    for (std::size_t place = 0; place < 4; ++place) {
      std::vector<double> x = {4, 0, 8, -4};
      x[place] = unknown;
      std::vector<double> low(4), high(4);
      network.hear({x}).min(0, low);
      network.hear({x}).max(0, high);
      EXPECT_TRUE(std::isnan(low[0]) && std::isnan(high[0])) << "the hub hears everyone, the NaN of agent " << place;
    }
  });
}

TEST(Network, HearGivesTheNeighbourhoodsMinimumMaximumAndMean) {
  on_star([](Network& network) {
    const std::vector<double> x = {4, 0, 8, -4};
    const std::vector<double> y = {1, 2, 3, 4};
    std::vector<double> out(4);
    const Heard heard = network.hear({x, y});
    heard.min(0, out);
    EXPECT_EQ(out, (std::vector<double>{-4, 0, 4, -4}));
    heard.max(1, out);
    EXPECT_EQ(out, (std::vector<double>{4, 2, 3, 4}));
    heard.combine(0, out);
    EXPECT_EQ(out, (std::vector<double>{2, 1, 7, -2}));
  });
}

TEST(Network, HearTakesAnyCountOfNumbers) {
  on_star([](Network& network) {
    const std::vector<double> x = {1, 2, 3, 4};
    const std::vector<double> y = {5, 6, 7, 8};
    std::vector<double> out(4);
    network.hear({x}).max(0, out);
    EXPECT_EQ(out, (std::vector<double>{4, 2, 3, 4}));
    network.hear({x, x, x, x, x, x, x, x, x, y}).max(9, out);  // more than a line
    EXPECT_EQ(out, (std::vector<double>{8, 6, 7, 8}));
    network.hear({y, x}).max(1, out);
    EXPECT_EQ(out, (std::vector<double>{4, 2, 3, 4}));
  });
}

TEST(Network, DifferWeighsWhatAnAgentHasMoreThanItsNeighbours) {
  on_star([](Network& network) {
    const Rows x = rows_of({{4, 8}, {0, 4}, {8, 0}, {-4, 12}});
    Rows out(4, 2, 99);
    // One divisor for all: (1/4) (x_k - x_l) / 2 along every link.
    network.differ(x, std::vector<double>{2, 2, 2, 2}, true, out);
    expect_near(dense(out), {{(4 - 4 + 8) / 8.0, (4 + 8 - 4) / 8.0}, {-0.5, -0.5}, {0.5, -1}, {-1, 0.5}});
    // The larger of the two, and a link without any is left out: the hub's divisors are 1, 4 and, with agent 3, 2.
    network.differ(x, std::vector<double>{1, 0.5, 4, 2}, false, out);
    expect_near(dense(out), {{1 - 0.25 - (-1), 1 + 0.5 - 0.5}, {-1, -1}, {0.25, -0.5}, {-1, 0.5}});
    network.differ(x, std::vector<double>{0, 0, 4, 0}, false, out);
    expect_near(dense(out), {{-0.25, 0.5}, {0, 0}, {0.25, -0.5}, {0, 0}});
    network.differ(x, std::vector<double>{0, 0, 0, 0}, true, out);
    expect_near(dense(out), test::zeros(4, 2));
  });
}

TEST(Network, DifferIsAntisymmetricSoThatItsRowsAddUpToZero) {
  // Along one edge to the bit, whoever has the larger divisor.
  launch_serial(network_of(Topology::path, 2), 2, [](Worker& worker) {
    const Rows x = rows_of({{0.1, 1.0 / 3}, {0.7, -1e9}});
    for (const bool common : {true, false}) {
      Rows out(2, 2);
      const double other = common ? 0.3 : 0.7;
      worker.network.differ(x, std::vector<double>{0.3, other}, common, out);
      for (Index j = 0; j < 2; ++j) EXPECT_EQ(out(0, j), -out(1, j)) << common;
    }
  });
  // In a network to rounding, with steps that differ.
  const CombinationMatrix matrix = test::random_network(9, 0.4, 3);
  launch_threads(matrix, 5, 3, [&](Worker& worker) {
    const Block block = worker.network.block();
    const Rows x = test::normal_models(block, 5, 4);
    const Rows m = test::normal_models(block, 1, 5);
    std::vector<double> divisors;
    for (Index k = 0; k < block.size(); ++k) divisors.push_back(std::abs(m(k, 0)));
    Rows out(block.size(), 5);
    worker.network.differ(x, divisors, false, out);
    std::vector<double> sums(10);
    worker.collective.in_order(sums, [&](std::span<double> total) {
      for (Index k = 0; k < block.size(); ++k) {
        for (std::size_t j = 0; j < 5; ++j) {
          total[j] += out(k, static_cast<Index>(j));
          total[5 + j] += std::abs(out(k, static_cast<Index>(j)));
        }
      }
    });
    for (std::size_t j = 0; j < 5; ++j) {
      EXPECT_GT(sums[5 + j], 0.1);
      EXPECT_NEAR(sums[j], 0, 1e-14 * sums[5 + j]);
    }
  });
}

TEST(Network, SpreadMaxReachesEverybodyInAsManyRoundsAsTheDiameter) {
  // From one end of a path to the other it takes every one of the 4 rounds.
  launch_serial(network_of(Topology::path, 5), 1, [](Worker& worker) {
    std::vector<double> x = {7, -1, -2, -3, -4};
    worker.network.spread_max(x);
    EXPECT_EQ(x, (std::vector<double>(5, 7.0)));
    expect_traffic(worker.network.algorithm_traffic(), 4, 0, 4 * 8);
  });
  on_star([](Network& network) {
    std::vector<double> x = {-7, -5, -6, -8};
    network.spread_max(x);
    EXPECT_EQ(x, (std::vector<double>(4, -5.0)));
    EXPECT_EQ(network.algorithm_traffic().rounds, 2);
  });
}

// Numbers whose sum depends on the order in which they are added.
double uneven(Index agent, double scale) { return scale * (0.1 + 1.0 / static_cast<double>(agent + 3)); }

// What every agent gets for two lists, each twice, and what all of them sent.
struct Sums {
  std::vector<double> first, second, vectors;
  Traffic traffic;
};
Sums spread_sums(const CombinationMatrix& matrix, const test::Launch& launch) {
  const auto agents = static_cast<std::size_t>(matrix.agents());
  Sums out{std::vector<double>(agents), std::vector<double>(agents), std::vector<double>(agents), {}};
  std::vector<Traffic> sent(agents);
  launch(matrix, 1, [&](Worker& worker) {
    const Block block = worker.network.block();
    for (int again = 0; again < 2; ++again) {
      std::vector<double> x, y;
      for (Index k = block.first; k < block.last; ++k) {
        x.push_back(uneven(k, 1));
        y.push_back(uneven(k, -1e9));
      }
      worker.network.spread_sum({x, y});
      std::ranges::copy(x, out.first.begin() + block.first);
      std::ranges::copy(y, out.second.begin() + block.first);
    }
    Rows rows(block.size(), 1);
    std::vector<double> beside;
    for (Index k = 0; k < block.size(); ++k) beside.push_back(rows(k, 0) = uneven(block.agent(k), 1));
    worker.network.spread_sum(rows, {beside});
    for (Index k = 0; k < block.size(); ++k) out.vectors[block.first + k] = rows(k, 0);
    EXPECT_EQ(beside[0], rows(0, 0));
    sent[worker.number] = worker.network.algorithm_traffic();
    // The same of rows that are made when they are sent.
    Rows room(block.size(), 1);
    for (int again = 0; again < 2; ++again) {
      worker.network.spread_sum_of([&](Index k, Rows& to, Index r) { to(r, 0) = uneven(block.agent(k), 1); }, room);
      EXPECT_EQ(room(0, 0), rows(0, 0));
    }
    // As many vectors as that of `rows`, which were all that there were.
    EXPECT_EQ(worker.network.algorithm_traffic().vectors, 3 * sent[worker.number].vectors);
    EXPECT_EQ(worker.network.algorithm_traffic().scalars, sent[worker.number].scalars);
  });
  for (const Traffic& traffic : sent) {
    out.traffic.vectors += traffic.vectors;
    out.traffic.scalars += traffic.scalars;
  }
  out.traffic.rounds = sent[0].rounds;
  return out;
}

TEST(Network, SpreadSumGivesEverybodyTheSameSumUpATreeAndDown) {
  // How far the farthest agent is from agent 0. In a ring of 6 that one has two ways there.
  const std::vector<std::pair<CombinationMatrix, Index>> networks = {{network_of(Topology::path, 5), 4},
                                                                     {network_of(star, 4), 1},
                                                                     {network_of(Topology::ring, 6), 3},
                                                                     {network_of(Topology::complete, 6), 1},
                                                                     {network_of(star, 1), 0}};
  const test::Launch isolated = [](const CombinationMatrix& matrix, VectorType vectors, const Body& body) {
    (void)test::launch_isolated(matrix, vectors, body);
  };
  for (const auto& [matrix, height] : networks) {
    SCOPED_TRACE(std::to_string(matrix.agents()) + " agents, height " + std::to_string(height));
    double sum = 0;
    for (Index k = 0; k < matrix.agents(); ++k) sum += uneven(k, 1);
    const double expected = spread_sums(matrix, test::serial()).first[0];
    EXPECT_NEAR(expected, sum, 1e-15 * sum * static_cast<double>(matrix.agents()));
    const std::vector<test::Launch> launches = {test::serial(), test::threads(std::min<Index>(2, matrix.agents())),
                                                test::threads(matrix.agents()), isolated};
    for (const test::Launch& launch : launches) {
      const Sums found = spread_sums(matrix, launch);
      for (const double x : found.first) EXPECT_EQ(x, expected);
      for (const double x : found.second) {
        EXPECT_EQ(x, found.second[0]);
        EXPECT_NEAR(x, -1e9 * sum, 1e-5);
      }
      // Two sums of two lists and a vector; each goes once up every link of the tree, and once down.
      const Index links = matrix.agents() - 1;
      expect_traffic(found.traffic, 2 * 2 * height + 2 * height, 2 * links, (2 * 2 + 1) * 2 * links);
      for (const double x : found.vectors) EXPECT_EQ(x, expected);
    }
  }
}

TEST(Network, ReachHoldsTheTwoHopWeightsAndRows) {
  for (const auto& [topology, agents] : {std::pair{Topology::path, Index{5}}, {star, 4}, {Topology::ring, 5}}) {
    const CombinationMatrix matrix = network_of(topology, agents);
    const Dense b = test::two_hop_weights(matrix);
    launch_serial(matrix, 2, [&](Worker& worker) {
      Rows x(matrix.agents(), 2);
      for (Index k = 0; k < x.rows(); ++k) x(k, 0) = static_cast<double>(k + 1);
      const Reach reach = worker.network.reach(x);
      Dense found = test::zeros(matrix.agents(), matrix.agents());
      for (std::size_t k = 0; k < b.size(); ++k) {
        for (Index e = reach.pattern.offset[k]; e < reach.pattern.offset[k + 1]; ++e) {
          const auto l = static_cast<std::size_t>(reach.row(e)[0]) - 1;
          found[k][l] = reach.pattern.weight[e];
        }
      }
      expect_near(found, b);
      EXPECT_EQ(reach.entries, worker.network.two_hop().entries());
    });
  }
  // On a path of 5 the ends reach 3 agents, their neighbours 4, the middle all 5.
  launch_serial(network_of(Topology::path, 5), 1, [](Worker& worker) {
    worker.network.prepare_two_hop();
    EXPECT_EQ(worker.network.two_hop().entries(), 3 + 4 + 5 + 4 + 3);
  });
}

TEST(Network, PairwiseIsTheGramMatrixOverTheTwoHopPattern) {
  const CombinationMatrix matrix = network_of(Topology::path, 5);
  const Rows h = rows_of({{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}});
  const std::vector<double> scale = {1, -1, 2, 0.5, 1};
  launch_serial(matrix, 2, [&](Worker& worker) {
    const Reach reach = worker.network.reach(gradients_of(h, scale));
    std::vector<double> products(reach.entries);
    worker.network.pairwise(reach, products);
    for (std::size_t k = 0; k < 5; ++k) {
      for (Index e = reach.pattern.offset[k]; e < reach.pattern.offset[k + 1]; ++e) {
        const auto l = static_cast<std::size_t>(reach.pattern.slot[e]);
        const auto row = [&](std::size_t n) { return h.row(static_cast<Index>(n)); };
        const double dot = row(k)[0] * row(l)[0] + row(k)[1] * row(l)[1];
        EXPECT_EQ(products[e], scale[k] * scale[l] * dot) << k << ", " << l;
      }
    }
  });
}

// Agents of two processes that stand in another order than that of their numbers: a product of two agents of one
// process is computed once, and must be found again by the other.
TEST(Network, PairwiseFindsProductsAgainWhereverAgentsStand) {
  const CombinationMatrix matrix = network_of(Topology::path, 6);
  const auto numbering = std::make_shared<Numbering>();
  numbering->agent = {3, 0, 2, 5, 1, 4};
  numbering->place = {1, 4, 2, 0, 5, 3};
  const Ownership ownership{{0, 2, 6}, numbering};
  test::ThreadTeam::run(2, [&](Team& team) {
    team.launch(matrix, ownership, 1, 1, [&](Worker& worker) {
      const Block block = worker.network.block();
      const auto number = [](Index agent) { return static_cast<double>(10 + agent * agent); };
      Rows h(block.size(), 1);
      for (Index k = 0; k < block.size(); ++k) h(k, 0) = number(block.agent(k));
      const std::vector<double> ones(block.size(), 1.0);
      const Reach reach = worker.network.reach(gradients_of(h, ones));
      std::vector<double> products(reach.entries);
      worker.network.pairwise(reach, products);
      const SparseRows& near = worker.network.two_hop();
      for (Index k = 0; k < block.size(); ++k) {
        for (Index e = near.offset[k]; e < near.offset[k + 1]; ++e) {
          const Index l = near.column[e];
          EXPECT_EQ(products[e], number(block.agent(k)) * number(l)) << block.agent(k) << l;
        }
      }
    });
  });
}

TEST(Network, ReachOfPointsComesWithProductsOfGradients) {
  on_star([](Network& network) {
    const Rows w = rows_of({{1, 2}, {3, 4}, {5, 6}, {7, 8}});
    SampleProducts memory(ProductUse::automatic, 0);
    std::vector<double> products(16);
    const Reach points = network.reach(w, gradients_of(w, {10, 10, 10, 10}), memory, products);
    EXPECT_EQ(points.entries, 16);
    for (Index k = 0; k < 4; ++k) {
      for (Index e = points.pattern.offset[k]; e < points.pattern.offset[k + 1]; ++e) {
        EXPECT_EQ(products[e], 100 * (w(k, 0) * points.row(e)[0] + w(k, 1) * points.row(e)[1]));
      }
    }
    const std::vector<double> x = {1, 2, 3, 4};
    const Reach numbers = network.reach(x);
    for (Index e = 0; e < numbers.entries; ++e) {
      EXPECT_EQ(*numbers.row(e), static_cast<double>(numbers.pattern.slot[e] + 1));
    }
  });
}

// What the agents of a block may draw: `count` samples each, agent k's n-th one is row of_agent[k] + n.
class DrawnRows final : public SampleRows {
 public:
  DrawnRows(const Rows& rows, Block block, std::vector<Index> counts) : rows_(rows), block_(block), counts_(counts) {}
  [[nodiscard]] Index count(Index k) const override { return counts_[block_.agent(k)]; }
  [[nodiscard]] const void* sample_row(Index k, Index n) const override {
    const auto first = std::accumulate(counts_.begin(), counts_.begin() + block_.agent(k), Index{0});
    return n < count(k) ? rows_.row(first + n).data() : nothing_.row(0).data();
  }
  [[nodiscard]] double squared_norm(Index k, Index n) const override {
    const auto* row = static_cast<const double*>(sample_row(k, n));
    return kernels::dot(row, row, rows_.columns());
  }
  // Agent k draws sample i mod N_k, and its gradient is i + k + 1/3 times that.
  [[nodiscard]] Gradients draw(Index i) const {
    Gradients g;
    g.columns = rows_.columns();
    g.samples = this;
    for (Index k = 0; k < block_.size(); ++k) {
      g.sample.push_back(count(k) == 0 ? 0 : i % count(k));
      g.row.push_back(sample_row(k, g.sample[k]));
      g.scale.push_back(count(k) == 0 ? 0 : static_cast<double>(i + block_.agent(k)) + 1 / 3.0);
    }
    return g;
  }

 private:
  const Rows& rows_;
  Rows nothing_{1, 2};
  Block block_;
  std::vector<Index> counts_;
};

// The same bits whether products of samples are remembered or formed anew, on any number of workers, and the same
// messages are charged: a vector and its scale. Remembering is free of charge.
TEST(Network, ProductsOfSamplesAreTheSameRememberedAndComputed) {
  const CombinationMatrix matrix = network_of(Topology::path, 5);
  const Rows samples = rows_of({{1.1, 2}, {3, -4.3}, {5, 6}, {7, 1 / 3.0}, {-9, 0.1}, {2, 2.7}});
  const std::vector<Index> counts = {1, 3, 0, 1, 1};
  for (const Index workers : {1, 2, 5}) {
    launch_threads(matrix, 2, workers, [&](Worker& worker) {
      Network& network = worker.network;
      const DrawnRows drawn(samples, network.block(), counts);
      SampleProducts remembered(ProductUse::remembered, 0);
      SampleProducts computed(ProductUse::computed, 0);
      network.prepare_two_hop();
      const SparseRows& near = network.two_hop();
      std::vector<double> one(near.entries());
      std::vector<double> other(near.entries());
      for (Index i = 0; i < 4; ++i) {
        const Gradients g = drawn.draw(i);
        const Traffic before = network.algorithm_traffic();
        network.products(g, computed, one);
        const Traffic between = network.algorithm_traffic();
        network.products(g, remembered, other);
        const Traffic after = network.algorithm_traffic();
        EXPECT_EQ(one, other);
        EXPECT_EQ(between.vectors - before.vectors, near.entries() - network.block().size());
        EXPECT_EQ(between.scalars - before.scalars, near.entries() - network.block().size());
        EXPECT_EQ(after.vectors - between.vectors, between.vectors - before.vectors);
        EXPECT_EQ(after.scalars - between.scalars, between.scalars - before.scalars);
        EXPECT_EQ(after.rounds - between.rounds, 2);
        for (Index k = 0; k < network.block().size(); ++k) {
          const auto e = near.offset[k] + (std::ranges::lower_bound(near.columns_of(k), network.block().agent(k)) -
                                           near.columns_of(k).begin());
          EXPECT_NEAR(one[e], g.squared_norm(k), 1e-12 * one[e]);
        }
      }
      EXPECT_TRUE(remembered.is_made());
      EXPECT_FALSE(computed.is_made());
    });
  }
}

TEST(Network, ProductsAreRememberedByAllWorkersOrByNone) {
  const CombinationMatrix matrix = network_of(Topology::path, 5);
  const Rows samples = rows_of({{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 1}, {2, 2}});
  const std::vector<Index> counts = {1, 2, 1, 1, 1};
  for (const auto& [times, made] : {std::pair{Index{15}, false}, {16, true}}) {  // 4 N^2 pay, N = 2
    std::vector<char> found(2);
    launch_threads(matrix, 2, 2, [&, iterations = times](Worker& worker) {
      const DrawnRows drawn(samples, worker.network.block(), counts);
      SampleProducts memory(ProductUse::automatic, iterations);
      worker.network.prepare_two_hop();
      std::vector<double> products(worker.network.two_hop().entries());
      worker.network.products(drawn.draw(0), memory, products);
      found[worker.number] = memory.is_made();
    });
    EXPECT_EQ(found, std::vector<char>(2, made));
  }
}

TEST(Network, ReachHoldsAsManyNumbersAnAgentAsAsked) {
  const CombinationMatrix matrix = network_of(Topology::path, 5);
  for (const Index workers : {1, 2, 5}) {
    launch_threads(matrix, 2, workers, [&](Worker& worker) {
      const Block block = worker.network.block();
      const auto number = [](Index agent, Index j, Index width) {
        return static_cast<double>(1000 * width + 100 * agent + j);
      };
      // A wider message after a narrow one, and a narrow one again.
      for (const Index width : {1, 3, 40, 2}) {
        std::vector<double> x;
        for (Index k = block.first; k < block.last; ++k) {
          for (Index j = 0; j < width; ++j) x.push_back(number(k, j, width));
        }
        const Reach reach = worker.network.reach(x, width);
        EXPECT_EQ(reach.columns, width);
        EXPECT_EQ(reach.entries, worker.network.two_hop().entries());
        for (Index e = 0; e < reach.entries; ++e) {
          for (Index j = 0; j < width; ++j) EXPECT_EQ(reach.row(e)[j], number(reach.pattern.slot[e], j, width));
        }
      }
    });
  }
}

// Every worker's share of what one list of vectors and one of numbers cost within two hops, worker by worker.
std::vector<Traffic> cost_of_lists(const CombinationMatrix& matrix, Index workers) {
  std::vector<Traffic> out(workers);
  launch(matrix, 1, workers, [&](Worker& worker) {
    worker.network.reach(Rows(worker.network.block().size(), 1));
    worker.network.reach(std::vector<double>(3 * worker.network.block().size()), 3);
    out[worker.number] = worker.network.algorithm_traffic();
  });
  return out;
}

TEST(Network, SendsEachRowOnceOverTwoHops) {
  std::vector<CombinationMatrix> networks = {network_of(Topology::path, 1),      network_of(Topology::path, 5),
                                             network_of(Topology::complete, 64), network_of(Topology::ring, 4),
                                             network_of(Topology::ring, 9),      network_of(star, 12)};
  for (const double probability : {0.05, 0.2, 0.6}) networks.push_back(test::random_network(40, probability, 7));
  for (const CombinationMatrix& matrix : networks) {
    const std::vector<Index> expected = test::rows_over_two_hops(matrix);
    const Index sum = std::accumulate(expected.begin(), expected.end(), Index{0});
    expect_traffic(cost_of_lists(matrix, 1)[0], 4, sum, 3 * sum);
    const auto alone = cost_of_lists(matrix, matrix.agents());
    for (std::size_t k = 0; k < alone.size(); ++k) expect_traffic(alone[k], 4, expected[k], 3 * expected[k]);
  }
  // By hand: on a complete graph everybody is a neighbour; on a ring of 4 the row of the one across comes once.
  expect_traffic(cost_of_lists(network_of(Topology::complete, 64), 1)[0], 4, 64 * 63, 3 * 64 * 63);
  expect_traffic(cost_of_lists(network_of(Topology::ring, 4), 1)[0], 4, 4 * 3, 3 * 4 * 3);
}

// Half of what it would be along every path, where an agent forwards every neighbour's row to every neighbour. GAP with
// `bound = "tight"` sends 3 more vectors per edge: 5202 per iteration, not 8488.
TEST(Network, SendsHalfAsManyRowsOverTwoHopsOfARandomGraph) {
  GraphOptions options;
  options.topology = Topology::erdos_renyi;
  options.agents = 64;
  options.probability = 0.155;
  const CombinationMatrix matrix = make_network(options, 83).matrix;
  Index along_every_path = 0;
  for (Index k = 0; k < 64; ++k) {
    const auto degree = static_cast<Index>(matrix.rows().columns_of(k).size()) - 1;
    along_every_path += degree * degree;
  }
  EXPECT_EQ(along_every_path, 6598);
  expect_traffic(cost_of_lists(matrix, 1)[0], 4, 3312, 3 * 3312);
}

// A ring of 4 in which the two ways to the agent across cancel each other: b_02 = b_13 = 0. So is b_01, of neighbours
// with no weight of their own.
TEST(Network, SendsRowsOverTwoHopsThatHaveAWeightOfZero) {
  SparseRows rows;
  for (const auto& row :
       {std::vector<double>{0, 0.5, 0, 0.5}, {0.5, 0, 0.5, 0}, {0, 0.5, 1, -0.5}, {0.5, 0, -0.5, 1}}) {
    for (std::size_t l = 0; l < row.size(); ++l) rows.add(static_cast<std::int32_t>(l), row[l]);
    rows.end_row();
  }
  const CombinationMatrix matrix(std::move(rows), Sign::any);
  EXPECT_EQ(test::two_hop_weights(matrix)[0], (std::vector<double>{0.5, 0, 0, 0.5}));
  expect_traffic(cost_of_lists(matrix, 1)[0], 4, 4 * 3, 3 * 4 * 3);
}

// The star of 4 has 3 links, so a message goes over 6 directed edges. Of what the hub got it forwards to each of its 3
// neighbours the rows of the 2 others, and a leaf has nobody to forward to: 6 rows more.
TEST(Network, CountsEachRowThatIsHandedOver) {
  const Rows w = rows_of({{1, 2}, {3, 4}, {5, 6}, {7, 8}});
  const std::vector<double> x = {1, 2, 3, 4};
  const Gradients g = gradients_of(w, x);
  const auto cost = [](const std::function<void(Network&)>& call) {
    Traffic traffic;
    on_star([&](Network& network) {
      call(network);
      traffic = network.algorithm_traffic();
      expect_traffic(network.step_traffic(), 0, 0, 0);
    });
    return traffic;
  };
  Rows out(4, 2);
  expect_traffic(cost([&](Network& network) { network.combine(w, out); }), 1, 6, 0);
  expect_traffic(cost([&](Network& network) { network.combine(x, g, out); }), 1, 6, 0);
  expect_traffic(cost([&](Network& network) { network.combine_twice(w, out); }), 2, 12, 0);
  expect_traffic(cost([&](Network& network) { network.adapt_combine(out, x, g); }), 1, 6, 0);
  expect_traffic(cost([&](Network& network) { network.hear({x}); }), 1, 0, 6);
  expect_traffic(cost([&](Network& network) { network.hear({x, x, x}); }), 1, 0, 18);
  expect_traffic(cost([&](Network& network) { network.reach(g); }), 2, 6 + 6, 0);
  expect_traffic(cost([&](Network& network) { network.reach(w); }), 2, 6 + 6, 0);
  SampleProducts none(ProductUse::computed, 0);
  std::vector<double> z(16);
  expect_traffic(cost([&](Network& network) { network.reach(w, g, none, z); }), 2, 2 * (6 + 6), 0);
  expect_traffic(cost([&](Network& network) { network.products(g, none, z); }), 2, 6 + 6, 0);
  expect_traffic(cost([&](Network& network) { network.reach(x); }), 2, 0, 6 + 6);
  const std::vector<double> numbers(4 * 32, 1.0);
  expect_traffic(cost([&](Network& network) { network.reach(numbers, 32); }), 2, 0, 32 * (6 + 6));
  expect_traffic(cost([&](Network& network) { network.differ(w, x, true, out); }), 1, 6, 0);
  expect_traffic(cost([&](Network& network) { network.differ(w, x, false, out); }), 1, 6, 6);
  std::vector<double> products(16);
  expect_traffic(cost([&](Network& network) { network.pairwise(network.reach(g), products); }), 2, 6 + 6, 0);
}

TEST(Network, SharesTheRoundsOfTheLongest) {
  on_star([](Network& network) {
    const Rows w = rows_of({{1, 2}, {3, 4}, {5, 6}, {7, 8}});
    const std::vector<double> x = {1, 2, 3, 4};
    Rows out(4, 2);
    network.hear({x});
    network.share_rounds([&] { network.hear({x}); },
                         [&] {
                           for (int round = 0; round < 3; ++round) network.combine(w, out);
                         },
                         [] {}, [&] { network.reach(x); });
    expect_traffic(network.algorithm_traffic(), 1 + 3, 3 * 6, 6 + 6 + 12);
    network.share_rounds([] {});
    network.hear({x});
    expect_traffic(network.algorithm_traffic(), 4 + 1, 18, 24 + 6);
    // Those of the step size are its own.
    const Network::StepAccount account(network);
    network.share_rounds([&] { network.hear({x}); }, [&] { network.hear({x}); });
    expect_traffic(network.step_traffic(), 1, 0, 12);
    expect_traffic(network.algorithm_traffic(), 5, 18, 30);
  });
}

TEST(Network, ChargesTheStepSizeApart) {
  on_star([](Network& network) {
    const std::vector<double> x = {1, 2, 3, 4};
    network.hear({x});
    {
      const Network::StepAccount account(network);
      network.hear({x, x});
    }
    network.hear({x});
    expect_traffic(network.algorithm_traffic(), 2, 0, 12);
    expect_traffic(network.step_traffic(), 1, 0, 12);
  });
}

TEST(Network, OfOneAgentSendsNothing) {
  launch_serial(network_of(star, 1), 2, [](Worker& worker) {
    const Rows x = rows_of({{3, 5}});
    Rows out(1, 2);
    worker.network.combine(x, out);
    expect_near(dense(out), {{3, 5}});
    const Reach reach = worker.network.reach(x);
    EXPECT_EQ(reach.entries, 1);
    EXPECT_EQ(reach.pattern.weight[0], 1);
    std::vector<double> number = {2};
    worker.network.spread_max(number);
    EXPECT_EQ(number[0], 2);
    worker.network.spread_sum({number});
    EXPECT_EQ(number[0], 2);
    EXPECT_EQ(worker.network.algorithm_traffic().vectors, 0);
    EXPECT_EQ(worker.network.algorithm_traffic().scalars, 0);
  });
}

}  // namespace
}  // namespace polyhop::network_test

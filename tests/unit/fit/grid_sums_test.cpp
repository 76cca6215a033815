// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/grid_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/network/runtime.hpp"
#include "support/networks.hpp"

namespace polyhop::grid_sums_test {
namespace {

constexpr Index agents = 12;
constexpr Index columns = 5;

// What the agents of a block have: normal numbers, each agent's of another size.
Evaluation evaluation_of(const Block& block, double size) {
  Evaluation out;
  out.written = Rows(block.size(), columns);
  out.gradients.columns = columns;
  for (Index k = 0; k < block.size(); ++k) {
    Stream random(4, Purpose::start, block.agent(k));
    const double own = size * std::pow(3.0, static_cast<double>(block.agent(k) % 5 - 2));
    out.values.push_back(own * random.normal());
    random.normals(out.written.row(k));
    for (double& x : out.written.row(k)) x *= own;
    out.gradients.row.push_back(out.written.row(k).data());
    out.gradients.scale.push_back(1);
  }
  return out;
}

struct Sums {
  double value = 0;
  std::vector<double> gradient;
  Index vectors = 0;
};

Sums summed(Topology topology, Index workers, double size, int times = 1, double slope = 1) {
  Sums out;
  launch(test::network_of(topology, agents), columns, workers, [&](Worker& worker) {
    const Evaluation evaluation = evaluation_of(worker.network.block(), size);
    GridSums sums(slope, worker.network.block().size());
    Rows gradient(worker.network.block().size(), columns);
    double value = 0;
    for (int n = 0; n < times; ++n) value = sums.of(evaluation, gradient, worker.network);
    if (worker.number != 0) return;
    out = {value, {gradient.row(0).begin(), gradient.row(0).end()}, worker.network.algorithm_traffic().vectors};
  });
  return out;
}

Sums plain(double size) {
  const Evaluation all = evaluation_of({0, agents}, size);
  Sums out{0, std::vector<double>(columns), 0};
  for (Index k = 0; k < agents; ++k) {
    out.value += all.values[k];
    for (std::size_t j = 0; j < columns; ++j) out.gradient[j] += all.written(k, static_cast<Index>(j));
  }
  return out;
}

TEST(GridSums, AreTheSameBitsAlongAnyTree) {
  for (const double size : {1.0, 1e-7, 3e11}) {
    const Sums expected = summed(Topology::path, 1, size);
    for (const Topology topology : {Topology::ring, Topology::star, Topology::complete}) {
      for (const Index workers : {1, 2, 3}) {
        const Sums found = summed(topology, workers, size);
        EXPECT_EQ(found.value, expected.value);
        EXPECT_EQ(found.gradient, expected.gradient);
      }
    }
  }
}

TEST(GridSums, AreTheSameBitsAlsoWhereManyAgentsHaveNumbersAsLargeAsTheGridAllows) {
  constexpr Index many = 64;
  // With a slope of 1, values below 2^10 and gradients below 2^6 are summed without a second try.
  const auto sum = [](Topology topology) {
    std::vector<double> out(2);
    launch(test::network_of(topology, many), 1, 1, [&](Worker& worker) {
      Evaluation all;
      all.written = Rows(many, 1);
      all.gradients.columns = 1;
      for (Index k = 0; k < many; ++k) {
        Stream random(4, Purpose::start, k);
        all.values.push_back(std::ldexp(1 - 0.1 * random.uniform(), 10));
        all.written(k, 0) = std::ldexp(1 - 0.1 * random.uniform(), 6);
        all.gradients.row.push_back(all.written.row(k).data());
        all.gradients.scale.push_back(1);
      }
      GridSums sums(1, many);
      Rows gradient(many, 1);
      out[0] = sums.of(all, gradient, worker.network);
      out[1] = gradient(0, 0);
    });
    return out;
  };
  EXPECT_EQ(sum(Topology::path), sum(Topology::star));
  EXPECT_EQ(sum(Topology::path), sum(Topology::ring));
}

TEST(GridSums, AreNearlyExactOnceTheGridHasFollowed) {
  for (const double size : {1.0, 1e-7, 3e11}) {
    const Sums expected = plain(size);
    const Sums found = summed(Topology::ring, 1, size, 40);
    EXPECT_NEAR(found.value, expected.value, 1e-11 * size);
    for (std::size_t j = 0; j < columns; ++j) EXPECT_NEAR(found.gradient[j], expected.gradient[j], 1e-11 * size);
  }
}

TEST(GridSums, AreSentAgainWhereNumbersAreTooLarge) {
  const Index once = summed(Topology::ring, 1, 1.0).vectors;
  EXPECT_EQ(once, 2 * (agents - 1));
  EXPECT_GT(summed(Topology::ring, 1, 3e11).vectors, once);
}

TEST(GridSums, AreInfiniteWhereAnyNumberIsNotFinite) {
  for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    for (const bool in_value : {true, false}) {
      launch(test::network_of(Topology::ring, agents), columns, 1, [&](Worker& worker) {
        Evaluation evaluation = evaluation_of(worker.network.block(), 1);
        (in_value ? evaluation.values[3] : evaluation.written(3, 2)) = bad;
        GridSums sums(1, agents);
        Rows gradient(agents, columns);
        EXPECT_TRUE(std::isinf(sums.of(evaluation, gradient, worker.network)));
      });
    }
  }
}

}  // namespace
}  // namespace polyhop::grid_sums_test

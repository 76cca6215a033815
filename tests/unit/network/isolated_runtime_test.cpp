// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "support/isolated_runtime.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/trial.hpp"

namespace polyhop::isolated_runtime_test {
namespace {

using test::launch_isolated;
using test::network_of;

const std::vector<std::pair<Topology, Index>> graphs = {
    {Topology::ring, 5}, {Topology::star, 5}, {Topology::path, 4}, {Topology::complete, 4}, {Topology::path, 1}};

// Every sample is fitted by one w^o, so that no rule diverges.
test::Instance interpolating(Topology topology, Index agents) {
  ProblemOptions options;
  options.dimension = 7;
  options.samples = 3;
  return test::synthetic_instance(network_of(topology, agents), options, 11);
}

class Isolated : public testing::TestWithParam<std::pair<Topology, Index>> {};

TEST(IsolatedNetwork, LeavesRowsBeyondOneOrTwoHopsUnknown) {
  launch_isolated(network_of(Topology::path, 4), 1, [](Worker& worker) {
    Network& network = worker.network;
    const Index self = network.block().first;
    const Rows own(1, 1, static_cast<double>(self));
    const Reach reach = network.reach(own);
    for (Index row = 0; row < 4; ++row) {
      const double held = reach.all()[row * reach.stride];
      if (std::abs(row - self) <= 2) {
        EXPECT_EQ(held, static_cast<double>(row));
      } else {
        EXPECT_TRUE(std::isnan(held)) << "agent " << self << " holds the row of " << row;
      }
    }
    // A table that was read once is unknown again as soon as the next exchange begins.
    const double* before = reach.all() + self * reach.stride;
    Rows out(1, 1);
    network.combine(own, out);
    EXPECT_TRUE(std::isfinite(out(0, 0)));
    EXPECT_EQ(*before, static_cast<double>(self));
    const Index far = (self + 2) % 4;
    EXPECT_TRUE(std::isnan(reach.all()[far * reach.stride])) << "a row of two hops outlived an exchange of one";
  });
}

TEST(IsolatedNetwork, PassesOnTheFirstFailure) {
  const auto failing = [](Worker& worker) {
    if (worker.number == 1) throw std::runtime_error("agent 1 is out");
    std::vector<double> x = {0};
    for (;;) worker.network.hear({x}).max(0, x);
  };
  try {
    launch_isolated(network_of(Topology::path, 4), 1, failing);
    FAIL() << "no exception";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "agent 1 is out");
  }
}

TEST_P(Isolated, EveryRuleUsesOnlyWhatItWasSentAndIsChargedForIt) {
  const auto [topology, agents] = GetParam();
  const test::Instance instance = interpolating(topology, agents);
  for (const Value& step : test::all_sets()) {
    SCOPED_TRACE(step.text());
    // An exact solve takes hundreds of sweeps per iteration, sometimes many thousands.
    const Index iterations = test::is_exact(step) ? 3 : 60;
    std::vector<Traffic> copied;
    const auto isolated = [&](const CombinationMatrix& matrix, VectorType vectors, const Body& body) {
      copied = launch_isolated(matrix, vectors, body);
    };
    const test::Path alone = test::follow(instance, step, iterations, isolated, 3);
    const test::Path together = test::follow(instance, step, iterations, test::serial(), 3);
    ASSERT_TRUE(test::is_finite(alone.states.back()));
    for (std::size_t i = 0; i < alone.states.size(); ++i) {
      ASSERT_TRUE(test::same_bits(alone.states[i], together.states[i])) << "after " << i << " iterations";
    }
    Index vectors = 0;
    Index scalars = 0;
    for (std::size_t k = 0; k < copied.size(); ++k) {
      EXPECT_GE(copied[k].rounds, alone.traffic[k].rounds) << "agent " << k;
      if (!test::shares_rounds(step)) {
        EXPECT_EQ(copied[k].rounds, alone.traffic[k].rounds) << "agent " << k;
      }
      // Agents that remember products of samples are charged like others, but send every sample once.
      if (test::remembers(step)) {
        EXPECT_TRUE(agents == 1 || copied[k].vectors < alone.traffic[k].vectors) << "agent " << k;
        continue;
      }
      EXPECT_EQ(copied[k].vectors, alone.traffic[k].vectors) << "agent " << k;
      EXPECT_EQ(copied[k].scalars, alone.traffic[k].scalars) << "agent " << k;
      vectors += copied[k].vectors;
      scalars += copied[k].scalars;
    }
    EXPECT_EQ(together.traffic[0].rounds, alone.traffic[0].rounds);
    if (test::remembers(step)) continue;
    EXPECT_EQ(together.traffic[0].vectors, vectors);
    EXPECT_EQ(together.traffic[0].scalars, scalars);
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, Isolated, testing::ValuesIn(graphs), [](const auto& graph) {
  return name_of(graph.param.first) + std::to_string(graph.param.second);
});

}  // namespace
}  // namespace polyhop::isolated_runtime_test

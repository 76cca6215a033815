// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/backtracking_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "support/bowls.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/trial.hpp"

namespace polyhop::backtracking_step_test {
namespace {

using test::network_of;
using test::Options;
using test::problem_of;
using test::step_of;

// The steps of each iteration, what they cost, and what the agents had accepted themselves.
struct Steps {
  std::vector<std::vector<double>> mu;
  std::vector<double> accepted;
  Index values = 0;
  Traffic traffic;
};

Steps steps(const CombinationMatrix& matrix, const Problem& problem, const Options& options, Index iterations = 1,
            Rows start = {}) {
  if (start.rows() == 0) start = Rows(problem.agents(), problem.dimension());
  Steps out;
  launch_serial(matrix, problem.dimension(), [&](Worker& worker) {
    test::Solver solver(problem, nullptr, step_of("backtracking", options), worker.network, start, 0);
    for (Index i = 0; i < iterations; ++i) {
      solver.iterate(i, worker.network);
      out.mu.emplace_back(solver.algorithm->steps().begin(), solver.algorithm->steps().end());
    }
    Snapshot state = solver.state.shape(problem.agents());
    solver.state.save(worker.network.block(), state);
    for (const auto& entry : state.entries) {
      if (entry.name == "backtracking.accepted") out.accepted = entry.data;
    }
    out.values = solver.oracle->evaluations().values;
    out.traffic = worker.network.step_traffic();
  });
  return out;
}

// A step a is accepted on a sample h of least squares iff a <= delta / h^2. Agents 0, 1, 2 have h^2 = 25, 1, 1/16.
std::unique_ptr<LinearProblem> three_agents() { return problem_of({{{5, 5}}, {{1, 2}}, {{0.25, 1}}}); }

TEST(BacktrackingStep, HalvesUntilTheCostFallsEnough) {
  const Steps found = steps(network_of(Topology::path, 3), *three_agents(), {{"growth", 1.0}});
  // 1/32 is the first of 1, 1/2, 1/4, ... below 1/25.
  EXPECT_EQ(found.accepted, (std::vector<double>{1.0 / 32, 1, 1}));
}

TEST(BacktrackingStep, TakesTheSmallestStepOfTheNeighbourhood) {
  const Steps found = steps(network_of(Topology::path, 3), *three_agents(), {{"growth", 1.0}});
  EXPECT_EQ(found.mu[0], (std::vector<double>{1.0 / 32, 1.0 / 32, 1}));
  EXPECT_EQ(found.traffic.rounds, 1);
  EXPECT_EQ(found.traffic.scalars, 4) << "one number over two edges, both ways";
  EXPECT_EQ(found.traffic.vectors, 0);
}

TEST(BacktrackingStep, TakesTheSmallestStepOfTheNetworkIfAsked) {
  const Steps found = steps(network_of(Topology::path, 3), *three_agents(), {{"growth", 1.0}, {"reach", "network"}});
  EXPECT_EQ(found.mu[0], (std::vector<double>{1.0 / 32, 1.0 / 32, 1.0 / 32}));
  EXPECT_EQ(found.traffic.rounds, 2) << "the diameter";
  EXPECT_EQ(found.traffic.scalars, 8);
  EXPECT_EQ(found.accepted, (std::vector<double>{1.0 / 32, 1, 1})) << "an agent's own step is not the agreed one";
}

TEST(BacktrackingStep, ChargesEachAgentForItsOwnTrialsOnly) {
  // At w, then 1, 1/2, ..., 1/32 for agent 0 and 1 alone for the others.
  EXPECT_EQ(steps(network_of(Topology::path, 3), *three_agents(), {{"growth", 1.0}}).values, 3 + 6 + 1 + 1);
  EXPECT_EQ(steps(network_of(Topology::path, 3), *three_agents(), {}).values, 3 + 7 + 2 + 1);
}

TEST(BacktrackingStep, GrowsFromItsOwnLastStep) {
  // Every sample of agent 2 accepts up to 16, agent 0 falls back to 1/32 each time.
  const Steps found = steps(network_of(Topology::path, 3), *three_agents(), {{"growth", 2.0}}, 3);
  EXPECT_EQ(found.accepted, (std::vector<double>{1.0 / 32, 1, 8}));
  const Steps slow = steps(network_of(Topology::path, 3), *three_agents(), {{"growth", 1.25}}, 3);
  EXPECT_EQ(slow.accepted[2], 1.25 * 1.25 * 1.25);
}

TEST(BacktrackingStep, WithoutGrowthIsARunningMinimum) {
  // One agent whose samples take turns: h^2 = 1/4, 25, 1/4, 25.
  const auto problem = problem_of({{{0.5, 1}, {5, -1}}});
  const Steps found = steps(network_of(Topology::path, 1), *problem, {{"growth", 1.0}}, 4);
  EXPECT_EQ(found.mu, (std::vector<std::vector<double>>{{1}, {1.0 / 32}, {1.0 / 32}, {1.0 / 32}}));
}

TEST(BacktrackingStep, TakesItsNumbersFromTheOptions) {
  const auto accepted = [](const Options& options) {
    return steps(network_of(Topology::path, 3), *three_agents(), options).accepted;
  };
  // Up to delta / h^2 = 0.06, 1.5, 24.
  EXPECT_EQ(accepted({{"growth", 1.0}, {"delta", 1.5}, {"first", 3.0}}), (std::vector<double>{3.0 / 64, 1.5, 3}));
  // 10, 1, 1/10, 1/100 against 1/25, 1, 16.
  const auto tenths = accepted({{"growth", 1.0}, {"first", 10.0}, {"shrink", 0.1}});
  EXPECT_DOUBLE_EQ(tenths[0], 0.01);
  EXPECT_DOUBLE_EQ(tenths[1], 1);
  EXPECT_DOUBLE_EQ(tenths[2], 10);
}

TEST(BacktrackingStep, DoesNotGrowWhereRoundingDecides) {
  // The cost is 1e-14 / 2 there: any step passes the test, and 2 ||g||^2 = 2e-14 is below 1e4 units of rounding.
  const auto problem = problem_of({{{1, 1e-7}}});
  const Steps found = steps(network_of(Topology::path, 1), *problem, {{"growth", 2.0}}, 1);
  EXPECT_EQ(found.accepted, (std::vector<double>{1}));
  EXPECT_EQ(found.values, 2);
}

TEST(BacktrackingStep, DoesNotGrowWhereALargeCostHidesTheChange) {
  // 1e6 + w^2/2 at 1e-4: 2 ||g||^2 = 2e-8 is below 1e4 units of rounding of the cost, 2e-6.
  const auto problem = test::bowls({test::Bowl({1}, {0}, 1e6)});
  const Steps found = steps(network_of(Topology::path, 1), problem, {{"growth", 2.0}}, 1, Rows(1, 1, 1e-4));
  EXPECT_EQ(found.accepted, (std::vector<double>{1}));
}

TEST(BacktrackingStep, DoesNotShrinkAtTheMinimumBecauseOfRounding) {
  // 1 + w^2/2 at w^2 = 2e-16: the step to the minimum lowers the cost by the 1e-16 that is asked for, but both costs
  // round to 1.
  const auto problem = test::bowls({test::Bowl({1}, {0}, 1)});
  const Steps found = steps(network_of(Topology::path, 1), problem, {{"growth", 1.0}}, 1, Rows(1, 1, std::sqrt(2e-16)));
  EXPECT_EQ(found.accepted, (std::vector<double>{1}));
}

TEST(BacktrackingStep, KeepsItsStepWithoutAGradient) {
  const auto problem = problem_of({{{1, 0}}, {{5, 5}}});
  const Steps found = steps(network_of(Topology::path, 2), *problem, {}, 1);
  EXPECT_EQ(found.accepted, (std::vector<double>{1, 1.0 / 32}));
}

TEST(BacktrackingStep, GivesUpAfterFiftyHalvings) {
  Rows start(1, 1);
  start(0, 0) = std::numeric_limits<double>::quiet_NaN();
  const Steps found = steps(network_of(Topology::path, 1), *problem_of({{{1, 1}}}), {{"growth", 1.0}}, 1, start);
  EXPECT_EQ(found.accepted, (std::vector<double>{std::ldexp(1.0, -50)}));
  EXPECT_EQ(found.values, 51);
}

TEST(BacktrackingStep, RefusesOptionsThatCannotEnd) {
  for (const Options& options : std::vector<Options>{{{"growth", 0.9}},
                                                     {{"delta", 0.0}},
                                                     {{"delta", 2.0}},
                                                     {{"shrink", 1.0}},
                                                     {{"shrink", 0.0}},
                                                     {{"first", 0.0}},
                                                     {{"reach", "world"}}}) {
    EXPECT_THROW(read_rule(step_of("backtracking", options), "step"), InputError) << options[0].first;
  }
}

}  // namespace
}  // namespace polyhop::backtracking_step_test

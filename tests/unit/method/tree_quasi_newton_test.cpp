// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/tree_quasi_newton.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "polyhop/network/faults.hpp"
#include "support/bowls.hpp"
#include "support/networks.hpp"
#include "support/rule_run.hpp"
#include "support/trial.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::tree_quasi_newton_test {
namespace {

using test::largest_distance;
using test::network_of;
using test::problem_of;
using test::rows_of;

constexpr Batch everything = {0, true};

// Functions of one's own, whose sum is least at (15/13, 13/9).
ObjectiveProblem unlike_bowls() {
  return {test::as_objectives({{{1, 4}, {1, 0}}, {{10, 3}, {2, 1}}, {{2, 2}, {-3, 5}}}), everything};
}

test::RuleRun descend(const CombinationMatrix& matrix, const Problem& problem, const Rows& start, Index iterations) {
  return test::run_rule(matrix, problem, {}, start, iterations, "quasi-newton");
}

// What has been sent after each iteration.
std::vector<Traffic> traffic(const CombinationMatrix& matrix, const Problem& problem, Index iterations,
                             const FaultOptions& faults = {}) {
  std::vector<Traffic> out;
  launch_serial(matrix, problem.vectors(), [&](Worker& worker) {
    add_faults(faults, 1, worker.network);
    test::Solver solver(problem, nullptr, {}, worker.network, worker.network.zeros(matrix.agents()), 0, "quasi-newton");
    for (Index i = 0; i < iterations; ++i) {
      solver.iterate(i, worker.network);
      out.push_back(worker.network.algorithm_traffic());
    }
    EXPECT_EQ(worker.network.step_traffic().rounds, 0);
  });
  return out;
}

TEST(TreeQuasiNewton, SendsAVectorAndAScalarEachWayAlongTheTree) {
  ProblemOptions options;
  options.dimension = 30;
  options.samples = 10;
  options.noise = 1;
  options.model.batch = everything;
  for (const auto& [topology, agents, height] :
       {std::tuple{Topology::star, 7, 1}, {Topology::path, 5, 4}, {Topology::complete, 6, 1}, {Topology::path, 1, 0}}) {
    const auto instance = test::synthetic_instance(network_of(topology, agents), options, 3);
    const auto sent = traffic(instance.matrix, *instance.problem, 5);
    for (Index i = 0; i < 5; ++i) {
      // One sum of vectors more at first, of the models to start from.
      EXPECT_EQ(sent[i].vectors, (i + 2) * 2 * (agents - 1)) << name_of(topology);
      EXPECT_EQ(sent[i].scalars, (i + 1) * 2 * (agents - 1)) << name_of(topology);
      EXPECT_EQ(sent[i].rounds, (i + 2) * 2 * height) << name_of(topology);
    }
  }
}

TEST(TreeQuasiNewton, BeginsAtTheAverageOfTheStarts) {
  const ObjectiveProblem problem = unlike_bowls();
  const auto run = descend(network_of(Topology::path, 3), problem, rows_of({{1, 8}, {5, -2}, {0, 3}}), 1);
  for (Index k = 0; k < 3; ++k) {
    EXPECT_DOUBLE_EQ(run.w(k, 0), 2);
    EXPECT_DOUBLE_EQ(run.w(k, 1), 3);
    EXPECT_EQ(run.mu[0][k], 0);
  }
  EXPECT_EQ(run.evaluations.values, 3);
  EXPECT_EQ(run.evaluations.gradients, 3);
}

TEST(TreeQuasiNewton, RestsWhereNothingIsLowerAndSendsNothingMore) {
  const ObjectiveProblem problem = unlike_bowls();
  const CombinationMatrix matrix = network_of(Topology::path, 3);
  const auto run = descend(matrix, problem, Rows(3, 2), 400);
  EXPECT_LT(largest_distance(run.w, {15 / 13.0, 13 / 9.0}), 1e-9);
  EXPECT_EQ(run.mu.back(), std::vector<double>(3, 0.0));
  EXPECT_LT(run.evaluations.gradients, 3 * 400);
  const auto sent = traffic(matrix, problem, 400);
  EXPECT_EQ(sent[399].vectors, sent[398].vectors);
}

TEST(TreeQuasiNewton, StaysWhereTheCostIsNotFinite) {
  const auto problem = problem_of({{{1, 2}}, {{1, 3}}}, "poisson", 0, everything);
  const auto run = descend(network_of(Topology::path, 2), *problem, rows_of({{2000}, {2000}}), 5);
  for (Index k = 0; k < 2; ++k) EXPECT_EQ(run.w(k, 0), 2000);
  EXPECT_EQ(run.mu.back(), std::vector<double>(2, 0.0));
}

TEST(TreeQuasiNewton, ComesBackFromTrialsThatAreNotFinite) {
  // The first trial is a step of length 1 along a feature of 1000: e^1000.
  const auto problem = problem_of({{{1000, 2}}, {{1000, 4}}}, "poisson", 0, everything);
  const auto run = descend(network_of(Topology::path, 2), *problem, Rows(2, 1), 60);
  EXPECT_LT(largest_distance(run.w, {std::log(3.0) / 1000}), 1e-12);
}

TEST(TreeQuasiNewton, TakesAgentsWithoutSamples) {
  Dataset data = test::data_of({{{1, 1}}, {{2, 8}}});
  data.offset = {0, 1, 1, 2};
  const LinearProblem problem(std::move(data), builtin_loss("least-squares").loss,
                              LinearOptions{.batch = everything, .weights = {1, 0, 1}});
  const auto run = descend(network_of(Topology::path, 3), problem, Rows(3, 1), 30);
  EXPECT_LT(largest_distance(run.w, {(1 + 2 * 8) / 5.0}), 1e-9);
}

TEST(TreeQuasiNewton, HasModelsOfSinglePrecisionThatAreTheVeryPointsEvaluated) {
  ProblemOptions options;
  options.dimension = 6;
  options.samples = 20;
  options.noise = 0.5;
  options.minimiser_spread = 1;
  options.model.batch = everything;
  options.precision = Element::float32;
  const auto instance = test::synthetic_instance(network_of(Topology::ring, 5), options, 3);
  launch_serial(instance.matrix, instance.problem->vectors(), [&](Worker& worker) {
    test::Solver solver(*instance.problem, nullptr, {}, worker.network, worker.network.zeros(5), 0, "quasi-newton");
    for (Index i = 0; i < 60; ++i) solver.iterate(i, worker.network);
    Snapshot state = solver.state.shape(5);
    solver.state.save({0, 5}, state);
    const auto named = [&](const std::string& name) {
      for (const auto& entry : state.entries) {
        if (entry.name == name) return entry.data;
      }
      return std::vector<double>{};
    };
    const auto point = named("quasi_newton.point");
    ASSERT_EQ(point.size(), 6U);
    std::vector<double> model(6);
    for (Index k = 0; k < 5; ++k) {
      read_row(solver.algorithm->models(), k, model);
      EXPECT_EQ(model, point);
    }
    for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(point[j], instance.reference.minimiser.value()[j], 2e-6);
  });
}

// What is lost is sent again: the same models, for more messages.
TEST(TreeQuasiNewton, LosesNothingInANetworkThatLosesMessages) {
  ProblemOptions options;
  options.dimension = 8;
  options.samples = 10;
  options.noise = 1;
  options.model.batch = everything;
  const auto instance = test::synthetic_instance(network_of(Topology::ring, 6), options, 3);
  const auto end = [&](const FaultOptions& faults) {
    Rows out;
    launch_serial(instance.matrix, instance.problem->vectors(), [&](Worker& worker) {
      add_faults(faults, 1, worker.network);
      test::Solver solver(*instance.problem, nullptr, {}, worker.network, Rows(6, 8), 0, "quasi-newton");
      for (Index i = 0; i < 8; ++i) solver.iterate(i, worker.network);
      out = solver.algorithm->models();
    });
    return out;
  };
  const FaultOptions half = {.drop = 0.5};
  EXPECT_TRUE(test::same_bits(end({}), end(half)));
  EXPECT_GT(traffic(instance.matrix, *instance.problem, 8, half).back().vectors,
            traffic(instance.matrix, *instance.problem, 8).back().vectors);
}

TEST(TreeQuasiNewton, RefusesBatches) {
  const auto problem = problem_of({{{1, 2}}, {{1, 3}}});
  const auto error = refusal([&] { return descend(network_of(Topology::path, 2), *problem, Rows(2, 1), 1), 0; });
  EXPECT_EQ(error.path(), "name");
  EXPECT_EQ(error.message(),
            "\"quasi-newton\" needs whole costs, not those of batches; set batch = \"all\" in [problem]");
}

}  // namespace
}  // namespace polyhop::tree_quasi_newton_test

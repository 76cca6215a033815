// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/diffusion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "polyhop/method/averaged_iterate.hpp"
#include "polyhop/problem/reference_optimum.hpp"
#include "support/bowls.hpp"
#include "support/counted_costs.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/trial.hpp"

namespace polyhop::diffusion_test {
namespace {

using test::network_of;
using test::one_step;
using test::problem_of;
using test::rows_of;
using test::step_of;

TEST(Diffusion, AdaptsThenCombines) {
  // Two agents, weights 1/2. Costs (w - 2)^2 / 2 and (2 w - 2)^2 / 2: at w = 0 and 4 the gradients are -2 and 12.
  const auto problem = problem_of({{{1, 2}}, {{2, 2}}});
  const auto after =
      one_step(network_of(Topology::path, 2), *problem, step_of("constant", {{"value", 0.25}}), rows_of({{0}, {4}}));
  // psi = 0.5 and 1; their mean is 0.75.
  EXPECT_EQ(after.w(0, 0), 0.75);
  EXPECT_EQ(after.w(1, 0), 0.75);
  EXPECT_EQ(after.mu, (std::vector<double>{0.25, 0.25}));
}

TEST(Diffusion, SendsOneVectorOverEachEdgeAndTheConstantStepNothing) {
  const auto problem = problem_of({{{1, 2}}, {{2, 2}}, {{1, 1}}, {{1, 0}}});
  const auto after = one_step(network_of(Topology::star, 4), *problem, step_of("constant", {{"value", 0.25}}),
                              rows_of({{0}, {4}, {1}, {2}}));
  EXPECT_EQ(after.algorithm.rounds, 1);
  EXPECT_EQ(after.algorithm.vectors, 6);
  EXPECT_EQ(after.algorithm.scalars, 0);
  EXPECT_EQ(after.step.rounds + after.step.vectors + after.step.scalars, 0);
}

TEST(Diffusion, TakesTheSampleOfTheIteration) {
  // Cyclic: iteration 1 takes the second sample, (w - 6)^2 / 2.
  const auto problem = problem_of({{{1, 2}, {1, 6}}});
  const auto after = one_step(network_of(Topology::path, 1), *problem, step_of("constant", {{"value", 0.5}}),
                              rows_of({{0}}), nullptr, 1);
  EXPECT_EQ(after.w(0, 0), 3);
}

// Sums run in another order, so the results agree to rounding only, which some rules soon blow up.
TEST(Diffusion, RelabelsItsResultWithItsAgents) {
  const Index agents = 5;
  const Index dimension = 6;
  const std::vector<std::size_t> place = {3, 0, 4, 1, 2};  // where agent k goes
  const CombinationMatrix matrix = network_of(Topology::path, agents);
  test::Dense moved = test::zeros(agents, agents);
  const test::Dense a = test::dense(matrix);
  for (std::size_t k = 0; k < place.size(); ++k) {
    for (std::size_t l = 0; l < place.size(); ++l) moved[place[k]][place[l]] = a[k][l];
  }
  std::vector<test::Dense> samples(5);
  std::vector<test::Dense> moved_samples(5);
  Stream random(1, Purpose::features);
  std::vector<double> common(dimension);
  random.normals(common);
  for (std::size_t k = 0; k < place.size(); ++k) {
    for (int n = 0; n < 3; ++n) {
      std::vector<double> sample(dimension);
      random.normals(sample);
      double target = 0;
      for (std::size_t j = 0; j < sample.size(); ++j) target += sample[j] * common[j];
      sample.push_back(target);
      samples[k].push_back(sample);
    }
    moved_samples[place[k]] = samples[k];
  }
  const auto problem = problem_of(samples);
  const auto moved_problem = problem_of(moved_samples);
  const Reference reference = solve_reference(*problem);
  for (const Value& step : test::all_sets()) {
    if (test::is_exact(step)) continue;
    SCOPED_TRACE(step.text());
    const auto run = [&](const CombinationMatrix& on, const LinearProblem& costs) {
      Rows models;
      launch_serial(on, dimension, [&](Worker& worker) {
        test::Solver solver(costs, &reference, step, worker.network, Rows(agents, dimension), 0);
        for (Index i = 0; i < 8; ++i) solver.iterate(i, worker.network);
        models = solver.algorithm->models();
      });
      return models;
    };
    const Rows before = run(matrix, *problem);
    const Rows after = run(test::matrix_of(moved), *moved_problem);
    for (std::size_t k = 0; k < place.size(); ++k) {
      for (Index j = 0; j < dimension; ++j) {
        const double expected = before(static_cast<Index>(k), j);
        EXPECT_NEAR(after(static_cast<Index>(place[k]), j), expected, 1e-9 * std::max(1.0, std::abs(expected)));
      }
    }
  }
}

TEST(Diffusion, EvaluatesTheCostsOfABlockInOneCall) {
  const auto costs =
      std::make_shared<test::CountedCosts>(test::as_objectives(std::vector<test::Bowl>(5, test::Bowl({1, 2}, {3, 4}))));
  const ObjectiveProblem problem(costs);
  const auto calls_of = [&](const Value& step, Index workers, Index iterations) {
    launch(network_of(Topology::ring, 5), 2, workers, [&](Worker& worker) {
      const Rows start = test::normal_models(worker.network.block(), 2, 1);
      test::Solver solver(problem, nullptr, step, worker.network, start, 0);
      for (Index i = 0; i < iterations; ++i) solver.iterate(i, worker.network);
    });
    return costs->calls().size();
  };
  EXPECT_EQ(calls_of(step_of("constant", {{"value", 0.1}}), 1, 4), 4);
  EXPECT_EQ(calls_of(step_of("constant", {{"value", 0.1}}), 2, 4), 2 * 4);
  // GAP needs the values at points within two hops as well: on a ring of 5, at those of all.
  EXPECT_EQ(calls_of(test::gap(), 1, 4), 2 * 4);
  EXPECT_EQ(calls_of(test::gap(), 2, 4), 2 * 2 * 4);
}

TEST(AveragedIterate, MovesFourOverIPlusFourOfTheWayToTheIterate) {
  AveragedIterate average(rows_of({{100, -7}}));
  const auto after = [&](Index i, const Rows& w) {
    average.update(i, w);
    const Rows& models = average.settled(w);
    return std::vector<double>(models.row(0).begin(), models.row(0).end());
  };
  EXPECT_EQ(after(0, rows_of({{8, 4}})), (std::vector<double>{8, 4}));    // the whole way: the start is forgotten
  EXPECT_EQ(after(4, rows_of({{16, 0}})), (std::vector<double>{12, 2}));  // half of the way
  EXPECT_EQ(after(12, rows_of({{0, 6}})), (std::vector<double>{9, 3}));   // a quarter
}

// Whether it is an algorithm's iterations that take the models in, two at a time, or a pass of its own.
TEST(AveragedIterate, TakesInTheFinalModelsOfEveryIterationWheneverItIsAskedFor) {
  ProblemOptions options;
  options.dimension = 3;
  options.samples = 4;
  const auto instance = test::synthetic_instance(network_of(Topology::ring, 5), options, 5);
  const std::vector<Value> algorithms = {"atc", "cta", "next", "gradient-tracking",
                                         Value::Table{{"name", "gradient-tracking"}, {"rounds", 2}}};
  for (const Value& algorithm : algorithms) {
    for (const Index every : {1, 2, 3, 100}) {
      launch(instance.matrix, 3, 2, [&](Worker& worker) {
        const Rows start = test::normal_models(worker.network.block(), 3, 7);
        test::Solver solver(*instance.problem, &instance.reference, step_of("constant", {{"value", 0.05}}),
                            worker.network, start, 1, algorithm);
        Rows expected = start;
        for (Index i = 0; i < 11; ++i) {
          solver.iterate(i, worker.network);
          blend(4.0 / static_cast<double>(i + 4), solver.algorithm->models(), expected);
          if (i % every != 0 && i != 10) continue;
          EXPECT_TRUE(test::same_bits(solver.averaged(), expected)) << "iteration " << i << ", asked every " << every;
        }
      });
    }
  }
}

}  // namespace
}  // namespace polyhop::diffusion_test

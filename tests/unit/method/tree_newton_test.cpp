// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/tree_newton.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/problem/softmax_problem.hpp"
#include "support/networks.hpp"
#include "support/rule_run.hpp"
#include "support/trial.hpp"

namespace polyhop::tree_newton_test {
namespace {

using test::largest_distance;
using test::network_of;
using test::problem_of;
using test::rows_of;

struct Passes {
  Rows w;
  std::vector<double> mu;  // of each pass
  Evaluations evaluations;
  std::vector<Traffic> sent;
};

// Passes one after the other, `every` iterations each.
Passes descend(const CombinationMatrix& matrix, const Problem& problem, const Rows& start, Index count,
               Index every = 1000, double tested = 1) {
  Passes out;
  launch_serial(matrix, problem.vectors(), [&](Worker& worker) {
    const auto oracle = problem.oracle({0, matrix.agents()}, 0);
    out.w = start;
    std::vector<double> mu(matrix.agents());
    TreeNewton newton(start, *oracle);
    for (Index n = 1; n <= count; ++n) {
      newton.step(n * every - 1, tested, out.w, *oracle, mu, worker.network);
      out.mu.push_back(mu[0]);
      out.sent.push_back(worker.network.algorithm_traffic());
    }
    out.evaluations = oracle->evaluations();
  });
  return out;
}

TEST(TreeNewton, SolvesLeastSquaresInOnePass) {
  // w = 2 fits none: (1 1 + 2 8 + 3 3) / (1 + 4 + 9), from anywhere.
  const auto problem = problem_of({{{1, 1}}, {{2, 8}}, {{3, 3}}});
  for (const double start : {0.0, -7.0}) {
    const auto run = descend(network_of(Topology::path, 3), *problem, rows_of({{start}, {start + 1}, {start - 1}}), 1);
    EXPECT_LT(largest_distance(run.w, {26 / 14.0}), 1e-14);
    EXPECT_EQ(run.mu[0], 1);
  }
}

TEST(TreeNewton, TakesThePenaltyIntoAccount) {
  const auto problem = problem_of({{{1, 1}}, {{2, 8}}}, "least-squares", 0.5);
  const auto run = descend(network_of(Topology::path, 2), *problem, Rows(2, 1), 1);
  EXPECT_LT(largest_distance(run.w, {17 / (5 + 2 * 0.5)}), 1e-14);
}

// Counts 1 to 4 at a feature of 1: the minimiser is ln 2.5.
TEST(TreeNewton, ConvergesFasterAndFasterToTheMeanOfCounts) {
  const auto problem = problem_of({{{1, 1}, {1, 4}}, {{1, 2}, {1, 3}}}, "poisson");
  std::vector<double> error;
  for (const Index passes : {1, 2, 3, 4, 5}) {
    const auto run = descend(network_of(Topology::path, 2), *problem, Rows(2, 1), passes);
    error.push_back(std::abs(run.w(0, 0) - std::log(2.5)));
    EXPECT_EQ(run.w(0, 0), run.w(1, 0));
  }
  for (std::size_t n = 1; n < error.size(); ++n) EXPECT_LE(error[n], error[n - 1] * error[n - 1] + 1e-14) << n;
}

// Where all targets are far off the loss is a line: medians by slopes over ways.
TEST(TreeNewton, FindsTheWayToFarTargets) {
  const auto problem = problem_of({{{1, 500}, {1, 501}}, {{1, 503}, {1, 510}}, {{1, 900}}}, "huber");
  const auto run = descend(network_of(Topology::path, 3), *problem, Rows(3, 1), 12);
  // Agents weigh the same: slopes of 1/2 per sample of the first two, 1 of the last. 503 - 1 < w < 510 balances them.
  double slope = 0;
  const double w = run.w(0, 0);
  for (const double y : {500.0, 501.0, 503.0, 510.0}) slope += std::clamp(w - y, -1.0, 1.0) / 2;
  slope += std::clamp(w - 900, -1.0, 1.0);
  EXPECT_NEAR(slope, 0, 1e-9);
}

TEST(TreeNewton, GoesFarWhereClassesAreSeparated) {
  const auto problem = problem_of({{{1, 1}}, {{-2, -1}}}, "logistic");
  const auto run = descend(network_of(Topology::path, 2), *problem, Rows(2, 1), 2);
  EXPECT_GT(run.w(0, 0), 100);
  EXPECT_TRUE(std::isfinite(run.w(0, 0)));
}

TEST(TreeNewton, StaysWhereTheCostIsNotFinite) {
  const auto problem = problem_of({{{1, 2}}, {{1, 3}}}, "poisson");
  const auto run = descend(network_of(Topology::path, 2), *problem, rows_of({{2000}, {2000}}), 3);
  for (Index k = 0; k < 2; ++k) EXPECT_EQ(run.w(k, 0), 2000);
}

TEST(TreeNewton, TestsAShareOfTheSamples) {
  // All samples of an agent are alike: some are as good as all.
  const auto problem = problem_of({{{1, 3}, {1, 3}, {1, 3}}, {{2, 9}, {2, 9}, {2, 9}}}, "poisson");
  const auto all = descend(network_of(Topology::path, 2), *problem, Rows(2, 1), 1);
  const auto some = descend(network_of(Topology::path, 2), *problem, Rows(2, 1), 1, 1000, 0.4);
  EXPECT_NE(all.mu[0], 1);
  EXPECT_NEAR(some.w(0, 0), all.w(0, 0), 1e-14);
  EXPECT_GT(some.sent[0].scalars, all.sent[0].scalars);  // what the others add at the start
}

// Near the minimum, half of the samples may get worse where all get better. Both halves are tested: of the counts 4 and
// 3, and of 1 and 2, whose common minimiser is ln 2.5.
TEST(TreeNewton, GoesOnWhereTheSamplesTestedAloneGetWorse) {
  for (const bool high : {true, false}) {
    const auto problem = high ? problem_of({{{1, 4}, {1, 1}}, {{1, 3}, {1, 2}}}, "poisson")
                              : problem_of({{{1, 1}, {1, 4}}, {{1, 2}, {1, 3}}}, "poisson");
    launch_serial(network_of(Topology::path, 2), 1, [&](Worker& worker) {
      const auto oracle = problem->oracle({0, 2}, 0);
      Rows w(2, 1);
      std::vector<double> mu(2);
      TreeNewton newton(w, *oracle);
      newton.step(999, 1, w, *oracle, mu, worker.network);
      const double before = std::abs(w(0, 0) - std::log(2.5));
      newton.step(1999, 0.5, w, *oracle, mu, worker.network);
      EXPECT_EQ(mu[0], 1) << high;
      EXPECT_LT(std::abs(w(0, 0) - std::log(2.5)), 0.1 * before) << high;
    });
  }
}

// A parabola has its minimum at the end of the whole step, which the samples tested need not have.
TEST(TreeNewton, TakesTheWholeStepOfLeastSquaresUntested) {
  const auto problem = problem_of({{{1, 1}, {1, 7}, {3, 2}}, {{2, 8}, {1, 0}, {2, 5}}});
  const auto run = descend(network_of(Topology::path, 2), *problem, Rows(2, 1), 1, 1000, 0.4);
  EXPECT_EQ(run.mu[0], 1);
  EXPECT_LT(largest_distance(run.w, {(1 + 7 + 6 + 16 + 0 + 10) / (1 + 1 + 9 + 4 + 1 + 4.0)}), 1e-14);
  EXPECT_EQ(run.sent[0].scalars, 2);
}

TEST(TreeNewton, SendsAndChargesWhatItSays) {
  // 4 numbers, 10 in the triangle: 3 vectors. A star: 4 links, a tree of height 1.
  ProblemOptions options;
  options.dimension = 4;
  options.samples = 6;
  options.noise = 1;
  options.model.l2 = 0.1;
  const auto instance = test::synthetic_instance(network_of(Topology::star, 5), options, 3);
  const auto run = descend(instance.matrix, *instance.problem, Rows(5, 4), 2);
  // The average of the starts, the gradient, the matrix; a scalar with the gradient, 16 for one look.
  EXPECT_EQ(run.sent[0].vectors, 8 * (1 + 1 + 3));
  EXPECT_EQ(run.sent[0].scalars, 8 * (1 + 16));
  EXPECT_EQ(run.sent[0].rounds, 2 * (1 + 1 + 3 + 1));
  // The second one has nothing to search.
  EXPECT_EQ(run.sent[1].vectors - run.sent[0].vectors, 8 * (1 + 3));
  EXPECT_EQ(run.sent[1].scalars - run.sent[0].scalars, 8);
  // Six batches of one sample each: values once, gradients and matrices.
  EXPECT_EQ(run.evaluations.values, 2 * 5 * 6);
  EXPECT_EQ(run.evaluations.gradients, 2 * 2 * 5 * 6);
}

TEST(TreeNewton, CorrectsItsMatrixWhereAnotherIsTooExpensive) {
  ProblemOptions options;
  options.dimension = 4;
  options.samples = 6;
  options.noise = 1;
  options.model.loss = builtin_loss("logistic");
  options.model.l2 = 0.1;
  const auto instance = test::synthetic_instance(network_of(Topology::path, 5), options, 3);
  // Half of 8 vectors per iteration: 4, 8, ...; a matrix takes 20.
  const auto run = descend(instance.matrix, *instance.problem, Rows(5, 4), 5, 1);
  for (const std::size_t n : {1, 2, 3, 4}) EXPECT_EQ(run.sent[n].vectors - run.sent[n - 1].vectors, 8) << n;
  EXPECT_EQ(run.evaluations.gradients, (5 + 1) * 5 * 6);
  const auto longer = descend(instance.matrix, *instance.problem, Rows(5, 4), 9, 1);
  EXPECT_LT(largest_distance(longer.w, instance.reference.minimiser.value()), 1e-6);
}

TEST(TreeNewton, RestsAtTheMinimumAndSendsNothingMore) {
  const auto problem = problem_of({{{1, 1}}, {{2, 8}}, {{3, 3}}}, "least-squares");
  const auto run = descend(network_of(Topology::path, 3), *problem, Rows(3, 1), 6);
  EXPECT_EQ(run.sent[5].vectors, run.sent[4].vectors);
}

// There the cost itself is rounding, so that no gain is small beside it. 100 samples leave most of 400 coordinates
// open.
TEST(TreeNewton, RestsWhereTheDataFitInEitherPrecision) {
  ProblemOptions options;
  options.dimension = 400;
  options.samples = 20;
  for (const Element precision : {Element::float64, Element::float32}) {
    options.precision = precision;
    const auto instance = test::synthetic_instance(network_of(Topology::ring, 5), options, 3);
    const auto run = descend(instance.matrix, *instance.problem, Rows(5, 400, 0, precision), 8);
    EXPECT_EQ(run.sent[7].vectors, run.sent[5].vectors) << bytes_of(precision);
    Rows points(2, 400);  // the model, and 0
    read_row(run.w, 4, points.row(0));
    Rows costs(5, 2);
    instance.problem->costs({0, 5}, points, costs);
    const double rounding = precision == Element::float64 ? 1e-26 : 1e-10;
    for (Index k = 0; k < 5; ++k) EXPECT_LT(costs(k, 0), rounding * costs(k, 1)) << k;
  }
}

TEST(TreeNewton, TakesAgentsWithoutSamples) {
  Dataset data = test::data_of({{{1, 1}}, {{2, 8}}});
  data.offset = {0, 1, 1, 2};
  const LinearProblem problem(std::move(data), builtin_loss("least-squares").loss, LinearOptions{.weights = {1, 0, 1}});
  const auto run = descend(network_of(Topology::path, 3), problem, Rows(3, 1), 1);
  EXPECT_LT(largest_distance(run.w, {(1 + 2 * 8) / 5.0}), 1e-14);
}

// Newton's method goes the same way whatever the coordinates: of two classes, that of w_1 - w_0 in the logistic loss.
TEST(TreeNewton, TreatsTwoClassesAsTheLogisticLoss) {
  const std::vector<test::Dense> samples = {{{1, 2, 1}, {0, 1, -1}}, {{3, 1, 1}, {1, -1, -1}}, {{1, -1, 1}}};
  const auto logistic = problem_of(samples, "logistic");
  Dataset data = test::data_of(samples);
  for (double& y : data.targets) y = y > 0 ? 1 : 0;
  const SoftmaxProblem softmax(std::move(data), 2);
  const CombinationMatrix matrix = network_of(Topology::path, 3);
  for (const Index passes : {1, 2, 3}) {
    const auto one = descend(matrix, *logistic, Rows(3, 2), passes);
    const auto two = descend(matrix, softmax, Rows(3, 4), passes);
    for (Index j = 0; j < 2; ++j) EXPECT_NEAR(two.w(0, 2 + j) - two.w(0, j), one.w(0, j), 1e-9) << passes;
  }
}

// Of features that are mostly 0 only the others are held.
TEST(TreeNewton, TakesSparseFeatures) {
  const std::vector<test::Dense> samples = {{{1, 0, 1}, {0, 2, 2}}, {{3, 0, 1}, {0, -1, 5}}};
  Dataset data = test::data_of(samples);
  data.features = Features::sparse(2, {0, 1, 2, 3, 4}, {0, 1, 0, 1}, {1, 2, 3, -1});
  const LinearProblem sparse(std::move(data), builtin_loss("poisson").loss);
  const auto dense = problem_of(samples, "poisson");
  const CombinationMatrix matrix = network_of(Topology::path, 2);
  const auto one = descend(matrix, sparse, Rows(2, 2), 4);
  const auto other = descend(matrix, *dense, Rows(2, 2), 4);
  for (Index j = 0; j < 2; ++j) EXPECT_NEAR(one.w(1, j), other.w(1, j), 1e-12);
}

TEST(TreeNewton, SolvesInSinglePrecision) {
  ProblemOptions options;
  options.dimension = 6;
  options.samples = 20;
  options.noise = 0.5;
  options.model.loss = builtin_loss("logistic");
  options.model.l2 = 0.1;
  options.precision = Element::float32;
  const auto instance = test::synthetic_instance(network_of(Topology::ring, 5), options, 3);
  const auto run = descend(instance.matrix, *instance.problem, Rows(5, 6, 0, Element::float32), 8);
  std::vector<double> model(6);
  read_row(run.w, 4, model);
  for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(model[j], instance.reference.minimiser.value()[j], 2e-6);
}

}  // namespace
}  // namespace polyhop::tree_newton_test

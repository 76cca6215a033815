// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/corrected_descent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/network/runtime.hpp"
#include "support/bowls.hpp"
#include "support/networks.hpp"
#include "support/trial.hpp"

namespace polyhop::corrected_descent_test {
namespace {

using test::bowls;
using test::largest_distance;
using test::network_of;
using test::problem_of;
using test::rows_of;

constexpr Batch everything = {.size = 1, .all = true};

// ---- costs ----

// One agent with the samples (2, 0) and (0, 1), targets 0, both in every batch: the curvatures are 2 along the first
// axis and 1/2 along the second; the smoothness that is known is (4 + 1)/2.
std::unique_ptr<LinearProblem> two_axes() {
  return problem_of({{{2, 0, 0}, {0, 1, 0}}}, "least-squares", 0, everything);
}
const Rows first_axis = rows_of({{1, 0}});
const Rows second_axis = rows_of({{0, 1}});

// exp(w) - count w: a Poisson sample whose feature is 1.
double poisson(double w, double count) { return std::exp(w) - count * w; }

// ---- the watch over curvature ----

// L_k after updates at these points, one after the other.
std::vector<double> curvatures(const Problem& problem, const std::vector<Rows>& points, Index* values = nullptr) {
  const auto oracle = problem.oracle({0, problem.agents()}, 0);
  CurvatureWatch curvature(problem.agents());
  for (std::size_t n = 0; n < points.size(); ++n) {
    oracle->draw(static_cast<Index>(n));
    curvature.update({static_cast<Index>(n), points[n], oracle->evaluate(points[n], true), *oracle});
  }
  if (values != nullptr) *values = oracle->evaluations().values;
  return {curvature.largest().begin(), curvature.largest().end()};
}

TEST(CurvatureWatch, IsExactAlongTheGradientOfAQuadratic) {
  // g = (1, 4) and (3, -2): g.Hg / g.g
  const ObjectiveProblem problem = bowls({{{1, 4}, {0, 0}}, {{3, 2}, {0, 5}, 7}});
  const auto found = curvatures(problem, {rows_of({{1, 1}, {1, 4}})});
  EXPECT_NEAR(found[0], (1 + 4 * 16) / 17.0, 1e-12);
  EXPECT_NEAR(found[1], (3 * 9 + 2 * 4) / 13.0, 1e-12);
}

TEST(CurvatureWatch, StartsFromAnyCurvatureWhereNoneIsKnown) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    const auto found = curvatures(bowls({{{scale, 4 * scale}, {0, 0}}}), {rows_of({{100 / scale, 0}})});
    EXPECT_NEAR(found[0] / scale, 1, 1e-6) << scale;
  }
}

TEST(CurvatureWatch, FallsByThreePercentAtMostAndNotBelowWhatItMeets) {
  const auto problem = two_axes();
  double expected = 2.5;
  for (std::size_t updates = 1; updates <= 70; ++updates) {
    expected = std::max(0.97 * expected, 0.5);
    EXPECT_NEAR(curvatures(*problem, std::vector<Rows>(updates, second_axis))[0], expected, 1e-12) << updates;
  }
  EXPECT_EQ(expected, 0.5);
}

TEST(CurvatureWatch, NeverFallsAfterAHundredIterations) {
  const auto problem = two_axes();
  std::vector<Rows> points(99, first_axis);
  EXPECT_NEAR(curvatures(*problem, points)[0], 2, 1e-12);
  points.push_back(second_axis);  // the hundredth
  EXPECT_NEAR(curvatures(*problem, points)[0], 0.97 * 2, 1e-12);
  points.insert(points.end(), 50, second_axis);
  EXPECT_NEAR(curvatures(*problem, points)[0], 0.97 * 2, 1e-12);
  points.push_back(first_axis);  // but rises
  EXPECT_NEAR(curvatures(*problem, points)[0], 2, 1e-12);
}

TEST(CurvatureWatch, StaysWhereRoundingWouldDecide) {
  const auto problem = two_axes();
  for (const double tiny : {0.0, 1e-160, 1e-9}) {
    EXPECT_EQ(curvatures(*problem, std::vector<Rows>(20, rows_of({{0, tiny}})))[0], 2.5) << tiny;
  }
  EXPECT_EQ(curvatures(bowls({{{4}, {1}, 3}}), std::vector<Rows>(20, rows_of({{1}})))[0], 1);
}

TEST(CurvatureWatch, TakesOneValueAnIteration) {
  Index values = 0;
  (void)curvatures(*two_axes(), std::vector<Rows>(5, first_axis), &values);
  EXPECT_EQ(values, 5 * 2);  // with that of the evaluation
  (void)curvatures(bowls({{{1, 4}, {0, 0}}}), std::vector<Rows>(5, first_axis), &values);
  EXPECT_EQ(values, 5 * 2 + 3);  // and a search at first
}

TEST(CurvatureWatch, ShortensTrialsThatAreFarTooLong) {
  // From w = 0 a trial of step 1 ends at exp(count - 1): far off, or not finite at all.
  for (const double count : {40.0, 300.0, 2000.0, 1e6}) {
    const auto problem = problem_of({{{1, count}}}, "poisson", 0, everything);
    const double found = curvatures(*problem, {rows_of({{0}})})[0];
    EXPECT_LT(poisson((count - 1) / found, count), poisson(0, count)) << count;
    EXPECT_LT(found, 16 * count) << "a step that is far too short";
  }
}

TEST(CurvatureWatch, FindsACurvatureThatIsFarAboveTheLargest) {
  // Samples in turn: the first has curvature 1e-4, the second 1e4.
  const auto problem = problem_of({{{1e-2, 0}, {1e2, 0}}});
  EXPECT_NEAR(curvatures(*problem, {rows_of({{100}}), rows_of({{100}})})[0], 1e4, 1e-4);
}

// ---- the descent ----

// Another one that knows what this one has registered, and nothing else.
std::unique_ptr<CorrectedDescent> restored(CorrectedDescent& descent, const Block& block, Index columns) {
  StateRegistry before;
  descent.register_state(before);
  Snapshot saved = before.shape(block.size());
  before.save(block, saved);
  auto out = std::make_unique<CorrectedDescent>(Rows(block.size(), columns));
  StateRegistry after;
  out->register_state(after);
  after.restore(block, saved);
  return out;
}

// Calls `each(i, w, gradients, mu)` after every move, w and the gradients before it.
template <class F>
Rows descend_by(const CombinationMatrix& matrix, const Problem& problem, Index iterations, F each,
                Index interrupted = -1) {
  Rows w(problem.agents(), problem.dimension());
  launch_serial(matrix, problem.dimension(), [&](Worker& worker) {
    const auto oracle = problem.oracle(worker.network.block(), 0);
    auto descent = std::make_unique<CorrectedDescent>(Rows(w.rows(), w.columns()));
    std::vector<double> mu(w.rows());
    Rows gradients = w;
    for (Index i = 0; i < iterations; ++i) {
      if (i == interrupted) descent = restored(*descent, worker.network.block(), w.columns());
      oracle->draw(i);
      const Evaluation& at_w = oracle->evaluate(w, true);
      write_out(at_w.gradients, gradients);
      const Rows before = w;
      (void)descent->direction(at_w.gradients);
      descent->move(w, {i, w, at_w, *oracle}, 1, mu, worker.network);
      each(i, before, gradients, std::span<const double>(mu));
    }
  });
  return w;
}

double distance(const Rows& x, const Rows& y, Index k) {
  return std::sqrt(kernels::squared_distance(x.row(k).data(), y.row(k).data(), x.columns()));
}

TEST(CorrectedDescent, TakesNoStepAboveWhatItsLastMoveAllows) {
  ProblemOptions options;
  options.dimension = 4;
  options.samples = 6;
  options.minimiser_spread = 1;
  options.model.batch.all = true;
  const auto instance = test::synthetic_instance(network_of(Topology::ring, 5), options, 5);
  Rows last_w, last_g;
  const auto check = [&](Index i, const Rows& w, const Rows& g, std::span<const double> mu) {
    for (Index k = 0; i > 0 && i < 100 && k < w.rows(); ++k) {
      const double limit = distance(w, last_w, k) / distance(g, last_g, k);
      const double step = mu[k];
      EXPECT_LE(step, limit * (1 + 1e-9)) << "agent " << k << ", iteration " << i;
    }
    last_w = w;
    last_g = g;
  };
  const Rows w = descend_by(instance.matrix, *instance.problem, 2000, check);
  EXPECT_LT(largest_distance(w, instance.reference.minimiser.value()), 1e-9);
}

TEST(CorrectedDescent, ResumesWithTheSameBits) {
  ProblemOptions options;
  options.dimension = 4;
  options.samples = 6;
  options.minimiser_spread = 1;
  options.model.batch.all = true;
  const auto instance = test::synthetic_instance(network_of(Topology::path, 4), options, 5);
  const auto steps_of = [&](Index interrupted) {
    std::vector<double> out;
    const auto keep = [&](Index, const Rows&, const Rows&, std::span<const double> mu) {
      out.insert(out.end(), mu.begin(), mu.end());
    };
    (void)descend_by(instance.matrix, *instance.problem, 150, keep, interrupted);
    return out;
  };
  const std::vector<double> unbroken = steps_of(-1);
  for (const Index interrupted : {1, 7, 120}) EXPECT_EQ(steps_of(interrupted), unbroken) << interrupted;
}

TEST(CorrectedDescent, StepsComeToRest) {
  ProblemOptions options;
  options.dimension = 4;
  options.samples = 6;
  options.minimiser_spread = 1;
  options.model.loss = builtin_loss("logistic");
  options.model.l2 = 0.01;
  options.model.batch.all = true;
  const auto instance = test::synthetic_instance(network_of(Topology::path, 4), options, 5);
  std::vector<double> last(4, 0.0);
  const auto check = [&](Index i, const Rows&, const Rows&, std::span<const double> mu) {
    for (std::size_t k = 0; i > 100 && k < mu.size(); ++k) EXPECT_LE(mu[k], last[k]) << "iteration " << i;
    last.assign(mu.begin(), mu.end());
  };
  (void)descend_by(instance.matrix, *instance.problem, 500, check);
}

TEST(CorrectedDescent, GoesThroughAnAgentThatHasNothingToLearn) {
  // The middle of the path has no features: the others' minimisers are 1 and 4, their curvatures 1 and 4.
  const auto problem = problem_of({{{1, 1}}, {{0, 2}}, {{2, 8}}}, "least-squares", 0, everything);
  const auto steps = [](Index, const Rows&, const Rows&, std::span<const double> mu) { EXPECT_EQ(mu[1], 1); };
  const Rows w = descend_by(network_of(Topology::path, 3), *problem, 1000, steps);
  EXPECT_LT(largest_distance(w, {(1 + 4 * 4) / 5.0}), 1e-9);
}

TEST(CorrectedDescent, SolvesLargeCounts) {
  // One feature, 1, and counts 200, 500, 800: exp(w) is their mean.
  const auto problem = problem_of({{{1, 200}}, {{1, 500}}, {{1, 800}}}, "poisson", 0, everything);
  const auto nothing = [](Index, const Rows&, const Rows&, std::span<const double>) {};
  const Rows w = descend_by(network_of(Topology::path, 3), *problem, 1000, nothing);
  EXPECT_LT(largest_distance(w, {std::log(500)}), 1e-9);
}

}  // namespace
}  // namespace polyhop::corrected_descent_test

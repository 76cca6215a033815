// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The recursions against their equations, and against w^o where theory says that they reach it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/method/tracker.hpp"
#include "polyhop/problem/reference_optimum.hpp"
#include "support/algorithm_sets.hpp"
#include "support/networks.hpp"
#include "support/trial.hpp"

namespace polyhop::algorithms_test {
namespace {

using test::algorithm_of;
using test::gap;
using test::step_of;

Value constant(double value) { return step_of("constant", {{"value", value}}); }

// Least squares whose agents have minimisers of their own, on all samples.
test::Instance heterogeneous(CombinationMatrix matrix, std::uint64_t seed, double scale_spread = 0) {
  ProblemOptions options;
  options.dimension = 4;
  options.samples = 12;
  options.noise = 0.1;
  options.minimiser_spread = 1;
  options.scale_spread = scale_spread;
  options.model.batch = {0, true};
  return test::synthetic_instance(std::move(matrix), options, seed);
}

// The same by single samples, which no model fits.
test::Instance noisy(CombinationMatrix matrix, std::uint64_t seed) {
  ProblemOptions options;
  options.dimension = 4;
  options.samples = 12;
  options.noise = 0.5;
  options.minimiser_spread = 1;
  return test::synthetic_instance(std::move(matrix), options, seed);
}

struct End {
  Rows models;
  std::vector<double> steps;
  double distance = 0;  // the largest over agents
};

End run(const test::Instance& instance, const test::Pair& pair, Index iterations) {
  const Index agents = instance.matrix.agents();
  const Index dimension = instance.problem->dimension();
  End end;
  launch_serial(instance.matrix, dimension, [&](Worker& worker) {
    test::Solver solver(*instance.problem, &instance.reference, pair.step, worker.network, Rows(agents, dimension), 0,
                        pair.algorithm);
    for (Index i = 0; i < iterations; ++i) solver.iterate(i, worker.network);
    end.models = solver.algorithm->models();
    end.steps.assign(solver.algorithm->steps().begin(), solver.algorithm->steps().end());
  });
  for (Index k = 0; k < agents; ++k) {
    double sum = 0;
    for (Index j = 0; j < dimension; ++j) {
      const double off = end.models(k, j) - instance.reference.minimiser.value()[j];
      sum += off * off;
    }
    end.distance = std::max(end.distance, std::sqrt(sum));
  }
  return end;
}

std::vector<std::pair<std::string, CombinationMatrix>> networks() {
  std::vector<std::pair<std::string, CombinationMatrix>> out;
  out.emplace_back("ring", test::network_of(Topology::ring, 8));
  out.emplace_back("random", test::random_network(8, 0.4, 3));
  out.emplace_back("complete", test::network_of(Topology::complete, 8));
  return out;
}

TEST(Algorithms, WithoutBiasReachTheMinimiserWhereAgentsDiffer) {
  const std::vector<test::Pair> pairs = {
      {algorithm_of("exact-diffusion"), constant(0.2)},
      {algorithm_of("exact-diffusion", {{"form", "primal"}}), constant(0.2)},
      {algorithm_of("exact-diffusion"), step_of("backtracking")},
      {algorithm_of("exact-diffusion"), step_of("decay", {{"value", 0.3}, {"power", 0.05}})},
      {algorithm_of("extra"), constant(0.2)},
      {algorithm_of("gradient-tracking"), constant(0.1)},
      {algorithm_of("gradient-tracking", {{"rounds", 3}}), constant(0.2)},
      {algorithm_of("gradient-tracking"), step_of("adgd")},
      {algorithm_of("gradient-tracking"), step_of("backtracking")},
      {algorithm_of("diging"), constant(0.05)},
      {algorithm_of("kuruzov"), {}},
      {algorithm_of("quasi-newton"), {}},
      {algorithm_of("next", {{"theta", 0.0}}), constant(0.1)},
  };
  for (auto& [name, matrix] : networks()) {
    const auto instance = heterogeneous(std::move(matrix), 1);
    for (const test::Pair& pair : pairs) {
      EXPECT_LT(run(instance, pair, 3000).distance, 1e-10) << name << " " << pair.text();
    }
  }
}

// Once the tracked value is J(w^o) to rounding the steps are 0, where the distance is about its root.
TEST(Algorithms, OfTrackingReachTheMinimiserUnderGap) {
  const Value step = gap(
      {{"bound", "linear"}, {"damping", "rows"}, {"project", true}, {"cap", "curvature"}, {"optimum", "per-sample"}});
  for (auto& [name, matrix] : networks()) {
    const auto instance = heterogeneous(std::move(matrix), 1);
    for (const char* algorithm : {"gradient-tracking", "diging"}) {
      EXPECT_LT(run(instance, {algorithm_of(algorithm), step}, 3000).distance, 1e-6) << name << " " << algorithm;
    }
  }
}

TEST(Algorithms, WithABiasDoNot) {
  const auto instance = heterogeneous(test::network_of(Topology::ring, 8), 1);
  for (const char* name : {"atc", "cta", "dgd"}) {
    const double distance = run(instance, {algorithm_of(name), constant(0.2)}, 3000).distance;
    EXPECT_GT(distance, 1e-3) << name;
    EXPECT_LT(distance, 1) << name;
  }
}

TEST(Algorithms, OfDiffusionReachACommonMinimiser) {
  ProblemOptions options;
  options.dimension = 12;
  options.samples = 3;
  const auto instance = test::synthetic_instance(test::network_of(Topology::ring, 6), options, 2);
  const test::Options tight = {{"bound", "tight"}, {"damping", "rows"}, {"project", true}};
  for (const test::Pair& pair : std::vector<test::Pair>{
           {algorithm_of("cta"), gap(tight)},
           {algorithm_of("dgd"), gap(tight)},
           {algorithm_of("exact-diffusion", {{"form", "primal"}}), gap(tight)},
       }) {
    EXPECT_LT(run(instance, pair, 4000).distance, 1e-6) << pair.text();
  }
}

TEST(Algorithms, OfAdaptiveMomentsReduceTheDistance) {
  const auto instance = heterogeneous(test::network_of(Topology::ring, 8), 1);
  const double first = run(instance, {algorithm_of("dadam"), constant(0.01)}, 0).distance;
  for (const char* name : {"dadam", "damsgrad"}) {
    EXPECT_LT(run(instance, {algorithm_of(name), step_of("decay", {{"value", 0.1}})}, 2000).distance, 0.5 * first)
        << name;
  }
}

TEST(ExactDiffusion, HasTheSamePathInBothFormsUnderAConstantStep) {
  const auto instance = heterogeneous(test::random_network(7, 0.3, 5), 4);
  for (const double mixing : {0.5, 0.3}) {
    for (const Index iterations : {1, 2, 7, 40}) {
      const End dual =
          run(instance, {algorithm_of("exact-diffusion", {{"mixing", mixing}}), constant(0.15)}, iterations);
      const End primal =
          run(instance, {algorithm_of("exact-diffusion", {{"form", "primal"}, {"mixing", mixing}}), constant(0.15)},
              iterations);
      for (Index k = 0; k < dual.models.rows(); ++k) {
        for (Index j = 0; j < dual.models.columns(); ++j) EXPECT_NEAR(dual.models(k, j), primal.models(k, j), 1e-12);
      }
    }
  }
}

// The entry of a run's state.
const Snapshot::Entry& entry(const Snapshot& state, const std::string& name) {
  for (const auto& found : state.entries) {
    if (found.name == name) return found;
  }
  throw Error("no state is called " + name);
}

// Every column adds up to 0 over the agents, though its numbers are not 0.
void expect_no_sum(const Snapshot::Entry& dual) {
  for (Index j = 0; j < dual.columns; ++j) {
    double sum = 0;
    double size = 0;
    for (Index k = 0; k < dual.rows; ++k) {
      sum += dual.data[k * dual.columns + j];
      size += std::abs(dual.data[k * dual.columns + j]);
    }
    EXPECT_GT(size, 0);
    EXPECT_LE(std::abs(sum), 1e-12 * size);
  }
}

TEST(ExactDiffusion, HasADualWhoseRowsAddUpToZeroUnderAnySteps) {
  const auto instance = heterogeneous(test::random_network(9, 0.3, 5), 4, 1);
  for (const Value& step : {constant(0.05), step_of("backtracking"), step_of("adgd")}) {
    SCOPED_TRACE(step.text());
    const auto path = test::follow(instance, step, 50, test::serial(), 1, nullptr, 0, algorithm_of("exact-diffusion"));
    expect_no_sum(entry(path.states.back(), "exact_diffusion.dual"));
  }
}

TEST(ExactDiffusion, HasADualWhoseRowsAddUpToZeroWhereGradientsRemember) {
  const auto instance = noisy(test::random_network(9, 0.3, 5), 4);
  for (const GradientEstimate gradient : {GradientEstimate::saga, GradientEstimate::lsvrg}) {
    for (const Value& step : {constant(0.05), step_of("adgd")}) {
      SCOPED_TRACE(step.text());
      const auto path =
          test::follow(instance, step, 50, test::serial(), 1, nullptr, 0, algorithm_of("exact-diffusion"), gradient);
      expect_no_sum(entry(path.states.back(), "exact_diffusion.dual"));
    }
  }
}

// A step of its own for each agent and iteration, up to a limit.
class AnySteps final : public StepSize {
 public:
  explicit AnySteps(double most) : most_(most) {}

 private:
  void do_choose(const Iterate& at, Network& /*network*/, std::span<double> mu) override {
    Stream random(at.i(), Purpose::noise);
    for (double& step : mu) step = most_ * random.uniform();
  }
  double most_;
};

// Where all samples are remembered as they are at w^o, batches of one move nobody, whatever the steps.
TEST(ExactDiffusion, RestsAtTheMinimiserWhereGradientsRemember) {
  const auto instance = noisy(test::random_network(7, 0.4, 5), 4);
  for (const GradientEstimate gradient : {GradientEstimate::saga, GradientEstimate::lsvrg}) {
    launch_serial(instance.matrix, instance.problem->dimension(), [&](Worker& worker) {
      test::Solver solver(*instance.problem, &instance.reference, constant(0.05), worker.network, Rows(7, 4), 1,
                          algorithm_of("exact-diffusion"), gradient);
      Index i = 0;
      for (; i < 4000; ++i) solver.iterate(i, worker.network);
      AnySteps rule(0.2);
      for (; i < 4050; ++i) {
        solver.algorithm->step(i, *solver.oracle, rule, worker.network);
        for (Index k = 0; k < 7; ++k) {
          for (Index j = 0; j < 4; ++j) {
            EXPECT_NEAR(solver.algorithm->models()(k, j), instance.reference.minimiser.value()[j], 1e-12) << i;
          }
        }
      }
    });
  }
}

TEST(Tracker, KeepsTheMeanOfTheGradients) {
  const auto instance = heterogeneous(test::network_of(Topology::star, 6), 3);
  for (const char* name : {"gradient-tracking", "diging", "next"}) {
    const auto path = test::follow(instance, constant(0.02), 20, test::serial(), 1, nullptr, 0, algorithm_of(name));
    const auto& y = entry(path.states.back(), "tracker.y");
    const auto& g = entry(path.states.back(), "tracker.before");
    for (Index j = 0; j < y.columns; ++j) {
      double tracked = 0;
      double mean = 0;
      for (Index k = 0; k < y.rows; ++k) {
        tracked += y.data[k * y.columns + j];
        mean += g.data[k * y.columns + j];
      }
      EXPECT_NEAR(tracked, mean, 1e-12 * std::max(1.0, std::abs(mean))) << name;
    }
  }
}

TEST(CombineFirst, GivesGapTheStepOfPolyak) {
  const auto instance = heterogeneous(test::network_of(Topology::ring, 5), 2);
  for (const Value& rule : {gap(), gap({{"bound", "linear"}, {"damping", "rows"}, {"sweeps", 5}}),
                            gap({{"bound", "linear"}, {"damping", "graph"}, {"sweeps", "exact"}})}) {
    const auto path = test::follow(instance, rule, 10, test::serial(), 1, nullptr, 0, algorithm_of("cta"));
    const auto other =
        test::follow(instance, step_of("polyak"), 10, test::serial(), 1, nullptr, 0, algorithm_of("cta"));
    const auto& mu = entry(path.states.back(), "mu").data;
    const auto& expected = entry(other.states.back(), "mu").data;
    for (std::size_t k = 0; k < mu.size(); ++k) EXPECT_NEAR(mu[k], expected[k], 1e-9 * expected[k]) << rule.text();
  }
}

// A start at w^o of all has no gradient anywhere: nobody moves, and nothing is divided by 0.
TEST(Algorithms, StandStillAtACommonMinimiser) {
  const auto problem = test::problem_of({{{1, 2, 3}}, {{2, 1, 3}}, {{1, 1, 2}}}, "least-squares", 0, {0, true});
  const Reference reference = test::known({1, 1});
  for (const test::Pair& pair : test::algorithm_sets()) {
    const Rows start(3, 2, 1);
    launch_serial(test::network_of(Topology::path, 3), 2, [&](Worker& worker) {
      test::Solver solver(*problem, &reference, pair.step, worker.network, start, 0, pair.algorithm);
      for (Index i = 0; i < 5; ++i) solver.iterate(i, worker.network);
      for (Index k = 0; k < 3; ++k) {
        for (Index j = 0; j < 2; ++j) EXPECT_NEAR(solver.algorithm->models()(k, j), 1, 1e-12) << pair.text();
        EXPECT_TRUE(std::isfinite(solver.algorithm->steps()[k])) << pair.text();
      }
    });
  }
}

}  // namespace
}  // namespace polyhop::algorithms_test

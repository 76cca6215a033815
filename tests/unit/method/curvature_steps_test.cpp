// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The rules that learn from an agent's last move: barzilai-borwein, adgd.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "polyhop/method/adaptive_descent_step.hpp"
#include "polyhop/method/barzilai_borwein_step.hpp"
#include "polyhop/problem/objective.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/rule_run.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::curvature_steps_test {
namespace {

using test::network_of;
using test::problem_of;
using test::rows_of;
using test::run_rule;
using test::step_of;

constexpr Batch everything{0, true};

CombinationMatrix alone() { return network_of(Topology::path, 1); }
CombinationMatrix pair() { return network_of(Topology::path, 2); }

// One agent with J = (curvature/2) w^2.
std::unique_ptr<LinearProblem> parabola(double curvature) { return problem_of({{{std::sqrt(curvature), 0}}}); }

// J = (curvature/2) w^2 + slope w, of any sign.
class Parabola final : public Objective {
 public:
  Parabola(double curvature, double slope) : curvature_(curvature), slope_(slope) {}
  [[nodiscard]] Index dimension() const override { return 1; }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index>) const override {
    return curvature_ / 2 * w[0] * w[0] + slope_ * w[0];
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    gradient[0] = curvature_ * w[0] + slope_;
    return value(w, batch);
  }

 private:
  double curvature_;
  double slope_;
};

ObjectiveProblem any_parabola(double curvature, double slope) {
  return ObjectiveProblem({std::make_shared<const Parabola>(curvature, slope)});
}

void expect_steps(const std::vector<std::vector<double>>& found, const std::vector<std::vector<double>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].size(), expected[i].size());
    for (std::size_t k = 0; k < found[i].size(); ++k) {
      EXPECT_NEAR(found[i][k], expected[i][k], 1e-12 * expected[i][k]) << "iteration " << i << ", agent " << k;
    }
  }
}

TEST(BarzilaiBorweinStep, IsOneOverTheCurvatureOfAParabola) {
  for (const char* kind : {"long", "short"}) {
    // 1 -> 0.6 -> 0 -> 0: from iteration 3 on the agent does not move, and keeps its step.
    const auto run = run_rule(alone(), *parabola(4), step_of("barzilai-borwein", {{"kind", kind}, {"first", 0.1}}),
                              Rows(1, 1, 1.0), 6);
    expect_steps(run.mu, {{0.1}, {0.25}, {0.25}, {0.25}, {0.25}, {0.25}});
    EXPECT_NEAR(run.w(0, 0), 0, 1e-15);
  }
}

TEST(BarzilaiBorweinStep, HasALongAndAShortForm) {
  // H = diag(1/2, 2) and g = H (1, 1), so that s is along (1/2, 2) and z along (1/4, 4).
  const auto problem = problem_of({{{1, 0, 0}, {0, 2, 0}}}, "least-squares", 0, everything);
  const auto second = [&](const char* kind) {
    return run_rule(alone(), *problem, step_of("barzilai-borwein", {{"kind", kind}}), Rows(1, 2, 1.0), 2).mu;
  };
  expect_steps(second("long"), {{1e-3}, {4.25 / 8.125}});
  expect_steps(second("short"), {{1e-3}, {8.125 / 16.0625}});
}

TEST(BarzilaiBorweinStep, ComparesGradientsOfOneSampleAndPaysForIt) {
  // Cyclic samples of curvature 1 and 9.
  const auto run = run_rule(alone(), *problem_of({{{1, 0}, {3, 0}}}), step_of("barzilai-borwein"), Rows(1, 1, 1.0), 2);
  expect_steps(run.mu, {{1e-3}, {1.0 / 9}});
  EXPECT_EQ(run.evaluations.gradients, 1 + 2);
  const auto exact = problem_of({{{1, 0}, {3, 0}}}, "least-squares", 0, everything);
  const auto all = run_rule(alone(), *exact, step_of("barzilai-borwein"), Rows(1, 1, 1.0), 5);
  EXPECT_EQ(all.evaluations.gradients, 5);
  expect_steps({all.mu[1]}, {{1.0 / 5}});
  EXPECT_EQ(all.step.scalars, 0);
}

TEST(BarzilaiBorweinStep, StaysWithinItsLimits) {
  const auto steps = [](double curvature, const test::Options& options) {
    return run_rule(alone(), *parabola(curvature), step_of("barzilai-borwein", options), Rows(1, 1, 1.0), 2).mu;
  };
  expect_steps(steps(4, {{"max", 0.2}}), {{1e-3}, {0.2}});
  expect_steps(steps(4, {{"min", 0.5}}), {{0.5}, {0.5}});  // `first` too
  expect_steps(steps(1e-8, {}), {{1e-3}, {10}});
  expect_steps(steps(1e8, {{"first", 1e-9}}), {{1e-6}, {1e-6}});
}

TEST(BarzilaiBorweinStep, KeepsTheStepBeforeWhereThereIsNoCurvature) {
  for (const char* kind : {"long", "short"}) {
    const Value step = step_of("barzilai-borwein", {{"kind", kind}, {"first", 0.1}});
    expect_steps(run_rule(alone(), any_parabola(-1, 0), step, Rows(1, 1, 1.0), 3).mu, {{0.1}, {0.1}, {0.1}});
    expect_steps(run_rule(alone(), any_parabola(0, 1), step, Rows(1, 1, 1.0), 3).mu, {{0.1}, {0.1}, {0.1}});
    expect_steps(run_rule(alone(), any_parabola(0, 0), step, Rows(1, 1, 1.0), 3).mu, {{0.1}, {0.1}, {0.1}});
    expect_steps({run_rule(alone(), any_parabola(2, 1), step, Rows(1, 1, 1.0), 2).mu[1]}, {{0.5}});
  }
}

TEST(BarzilaiBorweinStep, IsAgreedOnIfAsked) {
  // Two agents of curvature 1 and 4, with weights 1/2.
  const auto problem = problem_of({{{1, 0}}, {{2, 0}}});
  const auto run = [&](const char* agree) {
    return run_rule(pair(), *problem, step_of("barzilai-borwein", {{"agree", agree}}), rows_of({{1}, {2}}), 2);
  };
  expect_steps({run("none").mu[1]}, {{1, 0.25}});
  expect_steps({run("min").mu[1]}, {{0.25, 0.25}});
  expect_steps({run("mean").mu[1]}, {{0.625, 0.625}});
  EXPECT_EQ(run("mean").named("barzilai-borwein.own"), (std::vector<double>{1, 0.25}));
  EXPECT_EQ(run("none").step.scalars, 0);
  EXPECT_EQ(run("min").step.scalars, 2 * 2);
}

TEST(BarzilaiBorweinStep, LooksAtTheAgentsOwnCostWhereGradientsAreTracked) {
  const auto problem = problem_of({{{1, 0}}, {{2, 0}}});
  const auto run = run_rule(pair(), *problem, step_of("barzilai-borwein"), rows_of({{1}, {2}}), 2, "gradient-tracking");
  expect_steps({run.mu[1]}, {{1, 0.25}});
}

TEST(BarzilaiBorweinStep, RefusesLimitsInTheWrongOrder) {
  const auto found = refusal([] {
    Value step = step_of("barzilai-borwein", {{"min", 1.0}, {"max", 0.5}});
    step.line = 7;
    return read_rule(step, "step");
  });
  EXPECT_EQ(found.message(), "found 1, which is above max = 0.5; expected min <= max");
  EXPECT_EQ(found.path(), "step.min");
  EXPECT_EQ(found.line(), 7);
}

TEST(AdgdStep, GrowsUntilCurvatureForbidsIt) {
  const auto run = run_rule(alone(), *parabola(4), step_of("adgd", {{"first", 0.1}}), Rows(1, 1, 1.0), 3);
  expect_steps(run.mu, {{0.1}, {0.125}, {0.125}});
  EXPECT_EQ(run.named("adgd.theta"), (std::vector<double>{1}));
}

TEST(AdgdStep, GrowsByTheRootOfOnePlusTheLastGrowth) {
  // A cost without curvature: 1e-3, then sqrt(1 + 1e9), sqrt(1 + that), ... times the one before.
  const double first = std::sqrt(1 + 1e9);
  const double second = std::sqrt(1 + first);
  const auto run = run_rule(alone(), any_parabola(0, 1), step_of("adgd", {{"first", 1e-3}}), Rows(1, 1, 1.0), 3);
  expect_steps(run.mu, {{1e-3}, {1e-3 * first}, {1e-3 * first * second}});
}

TEST(AdgdStep, ComparesGradientsOfOneSampleAndPaysForIt) {
  const auto run =
      run_rule(alone(), *problem_of({{{1, 0}, {3, 0}}}), step_of("adgd", {{"first", 0.01}}), Rows(1, 1, 1.0), 2);
  expect_steps(run.mu, {{0.01}, {1.0 / 18}});
  EXPECT_EQ(run.evaluations.gradients, 1 + 2);
}

TEST(AdgdStep, RemembersItsOwnStepNotTheAgreedOne) {
  const auto problem = problem_of({{{1, 0}}, {{2, 0}}});
  const auto run =
      run_rule(pair(), *problem, step_of("adgd", {{"first", 0.1}, {"agree", "min"}}), rows_of({{1}, {2}}), 3);
  expect_steps(run.mu, {{0.1, 0.1}, {0.125, 0.125}, {0.125, 0.125}});
  expect_steps({run.named("adgd.own")}, {{0.5, 0.125}});
  const auto mean =
      run_rule(pair(), *problem, step_of("adgd", {{"first", 0.1}, {"agree", "mean"}}), rows_of({{1}, {2}}), 2);
  expect_steps(mean.mu, {{0.1, 0.1}, {0.3125, 0.3125}});
}

TEST(CurvatureSteps, AreNumbersWithoutAnyGradientForAsLongAsYouLike) {
  // Features of 0: no agent ever moves, nor knows any curvature. Then one that does move, with a neighbour that does
  // not know why.
  for (const char* rule : {"adgd", "barzilai-borwein"}) {
    for (const auto& problem : {problem_of({{{0, 1}}, {{0, 1}}}), problem_of({{{0, 1}}, {{1, 1}}})}) {
      const auto run = run_rule(pair(), *problem, step_of(rule), rows_of({{1}, {2}}), 3000);
      for (const auto& mu : run.mu) {
        for (const double m : mu) ASSERT_TRUE(std::isfinite(m) && m > 0) << rule;
      }
      EXPECT_TRUE(test::is_finite(run.state)) << rule;
    }
  }
}

TEST(CurvatureSteps, RefuseWhatIsNoStep) {
  const auto complaint = [](const Value& step) {
    return std::string(refusal([&] { return read_rule(step, "step"); }).what());
  };
  EXPECT_EQ(complaint(step_of("adgd", {{"first", 0.0}})), "step.first: found 0.0, expected a number > 0");
  EXPECT_EQ(complaint(step_of("adgd", {{"first", -1.0}})), "step.first: found -1.0, expected a number > 0");
  EXPECT_EQ(complaint(step_of("adgd", {{"first", std::nan("")}})), "step.first: found nan, expected a number > 0");
  EXPECT_EQ(complaint(step_of("adgd", {{"agree", "max"}})),
            "step.agree: unknown name \"max\"; allowed: none, min, mean");
  EXPECT_EQ(complaint(step_of("barzilai-borwein", {{"kind", "lang"}})),
            "step.kind: unknown name \"lang\"; did you mean 'long'?");
  for (const char* key : {"first", "min", "max"}) {
    EXPECT_EQ(complaint(step_of("barzilai-borwein", {{key, 0.0}})),
              std::string("step.") + key + ": found 0.0, expected a number > 0");
  }
}

}  // namespace
}  // namespace polyhop::curvature_steps_test

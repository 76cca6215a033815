// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The rules that ask nobody: constant, decay, polyak, sps.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "polyhop/method/constant_step.hpp"
#include "polyhop/method/polyak_step.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/trial.hpp"

namespace polyhop {
namespace {

using test::network_of;
using test::one_step;
using test::problem_of;
using test::step_of;

// Two agents at w = 0. Agent 0: h = (3, 4), y = 5, so the value is 12.5 and the gradient -5 h has ||g||^2 = 625.
// Agent 1: h = (1, 0), y = -2, value 2, ||g||^2 = 4.
std::unique_ptr<LinearProblem> two_agents() { return problem_of({{{3, 4, 5}}, {{1, 0, -2}}}); }

std::vector<Real> steps(const Value& step, Index i = 0, const Reference* reference = nullptr) {
  return one_step(network_of(Topology::path, 2), *two_agents(), step, Rows(2, 2), reference, i).mu;
}

void expect_steps(const std::vector<Real>& found, Real first, Real second) {
  ASSERT_EQ(found.size(), 2U);
  EXPECT_DOUBLE_EQ(found[0], first);
  EXPECT_DOUBLE_EQ(found[1], second);
}

TEST(ConstantStep, IsTheSameForEveryoneForEver) {
  expect_steps(steps(step_of("constant", {{"value", 0.3}}), 0), 0.3, 0.3);
  expect_steps(steps(step_of("constant", {{"value", 0.3}}), 1000), 0.3, 0.3);
}

TEST(DecayingStep, FallsWithAPowerOfTheIteration) {
  expect_steps(steps(step_of("decay", {{"value", 0.3}}), 0), 0.3, 0.3);
  expect_steps(steps(step_of("decay", {{"value", 0.3}}), 3), 0.15, 0.15);
  expect_steps(steps(step_of("decay", {{"value", 0.3}, {"power", 1.0}}), 9), 0.03, 0.03);
  expect_steps(steps(step_of("decay", {{"value", 0.3}, {"power", 0.0}}), 9), 0.3, 0.3);
}

TEST(PolyakStep, IsValueOverSquaredGradient) {
  expect_steps(steps(step_of("polyak")), 12.5 / 625, 2.0 / 4);
  expect_steps(steps(step_of("polyak", {{"c", 2.0}})), 12.5 / 1250, 2.0 / 8);
}

TEST(PolyakStep, OfSpsHasHalfTheDivisor) {
  expect_steps(steps(step_of("sps")), 12.5 / 312.5, 1);
  expect_steps(steps(step_of("sps", {{"max", 0.25}})), 12.5 / 312.5, 0.25);
}

TEST(PolyakStep, HasAMaximumIfAsked) { expect_steps(steps(step_of("polyak", {{"max", 0.1}})), 12.5 / 625, 0.1); }

TEST(PolyakStep, SubtractsTheOptimumAndNeverGoesBack) {
  expect_steps(steps(step_of("polyak", {{"optimum", 2.5}})), 10.0 / 625, 0);
  expect_steps(steps(step_of("polyak", {{"optimum", Value(Value::Array{Value(6.25), Value(1)})}})), 6.25 / 625,
               1.0 / 4);
  // At w^o = (1, 0) agent 0 has the value (3 - 5)^2 / 2 = 2, agent 1 (1 + 2)^2 / 2 = 4.5.
  const Reference reference = test::known({1, 0});
  expect_steps(steps(step_of("polyak", {{"optimum", "per-sample"}}), 0, &reference), 10.5 / 625, 0);
}

TEST(PolyakStep, ReadsTheOptimumFromAFile) {
  const auto file = std::filesystem::temp_directory_path() / "polyhop_polyak_step_test_optimum.txt";
  std::ofstream(file) << "6.25\n1\n";
  Value where;
  where["file"] = Value(file.string());
  expect_steps(steps(step_of("polyak", {{"optimum", where}})), 6.25 / 625, 1.0 / 4);
  std::ofstream(file) << "6.25\n";
  EXPECT_THROW(steps(step_of("polyak", {{"optimum", where}})), InputError);
  std::filesystem::remove(file);
}

TEST(PolyakStep, IsZeroWithoutAGradient) {
  // Agent 1 is fitted, and optimum = -1 would make 1/0 of it.
  const auto problem = problem_of({{{3, 4, 5}}, {{1, 0, 0}}});
  const auto after =
      one_step(network_of(Topology::path, 2), *problem, step_of("polyak", {{"optimum", -1.0}}), Rows(2, 2));
  expect_steps(after.mu, 13.5 / 625, 0);
}

TEST(PolyakStep, CountsAGradientThatIsTooSmallAsNone) {
  // y = 1 at w = 0: the value is 1/2, ||g||^2 = h^2. Below 1e-280 there is no gradient.
  for (const char* rule : {"polyak", "gap"}) {
    const auto with = [&](Real h) {
      return one_step(network_of(Topology::path, 1), *problem_of({{{h, 1}}}), step_of(rule), Rows(1, 1)).mu[0];
    };
    EXPECT_NEAR(with(1e-139), 0.5e278, 1e265) << rule;
    EXPECT_EQ(with(1e-141), 0) << rule;
  }
}

TEST(SquaredNorm, IsThatOfScaleTimesRow) {
  const Rows h = test::rows_of({{3, 4}, {1, 2}});
  Gradients g;
  g.columns = 2;
  g.scale = {-2, 1};
  for (Index k = 0; k < 2; ++k) g.row.push_back(h.row(k).data());
  EXPECT_EQ(squared_norm(g, 0), 100);
  EXPECT_EQ(squared_norm(g, 1), 5);
}

}  // namespace
}  // namespace polyhop

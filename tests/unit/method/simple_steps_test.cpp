// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The rules that ask nobody: constant, decay, schedule, polyak, sps, decsps.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "polyhop/method/constant_step.hpp"
#include "polyhop/method/polyak_step.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/rule_run.hpp"
#include "support/temporary_folder.hpp"
#include "support/trial.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::simple_steps_test {
namespace {

using test::network_of;
using test::one_step;
using test::problem_of;
using test::step_of;

// Two agents at w = 0. Agent 0: h = (3, 4), y = 5, so the value is 12.5 and the gradient -5 h has ||g||^2 = 625.
// Agent 1: h = (1, 0), y = -2, value 2, ||g||^2 = 4.
std::unique_ptr<LinearProblem> two_agents() { return problem_of({{{3, 4, 5}}, {{1, 0, -2}}}); }

std::vector<double> steps(const Value& step, Index i = 0, const Reference* reference = nullptr) {
  return one_step(network_of(Topology::path, 2), *two_agents(), step, Rows(2, 2), reference, i).mu;
}

void expect_steps(const std::vector<double>& found, double first, double second) {
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

TEST(ScheduledStep, RisesThenFallsByStairs) {
  const auto at = [](Index i, const test::Options& options) {
    test::Options all = {{"value", 0.8}};
    all.insert(all.end(), options.begin(), options.end());
    return steps(step_of("schedule", all), i)[1];
  };
  EXPECT_EQ(at(0, {}), 0.8);
  EXPECT_EQ(at(100000, {}), 0.8);
  const test::Options rising = {{"warmup", 3}};
  EXPECT_EQ(at(0, rising), 0.2);
  EXPECT_DOUBLE_EQ(at(2, rising), 0.6);
  EXPECT_EQ(at(3, rising), 0.8);
  EXPECT_EQ(at(50, rising), 0.8);
  const test::Options falling = {{"every", 10}};
  EXPECT_EQ(at(9, falling), 0.8);
  EXPECT_EQ(at(10, falling), 0.4);
  EXPECT_EQ(at(39, falling), 0.1);
  EXPECT_EQ(at(100000, falling), 0);
  EXPECT_DOUBLE_EQ(at(29, {{"every", 10}, {"factor", 0.1}}), 0.008);
  // At iteration 2 of a warm-up of 3 it has fallen twice.
  EXPECT_DOUBLE_EQ(at(2, {{"warmup", 3}, {"every", 1}}), 0.8 * 0.75 * 0.25);
}

class ScheduleFile : public test::TemporaryFolder {
 protected:
  [[nodiscard]] Value step_from(const std::string& text) const {
    std::ofstream(file("steps.txt")) << text;
    return step_of("schedule", {{"file", file("steps.txt")}});
  }
  [[nodiscard]] std::string complaint(const std::string& text) const {
    const Value step = step_from(text);
    return refusal([&] { return steps(step); }).message();
  }
};

TEST_F(ScheduleFile, HasOneStepAnIterationAndRepeatsTheLast) {
  const Value step = step_from("0.5\n0.25 0\n1e-3\n");
  expect_steps(steps(step, 0), 0.5, 0.5);
  expect_steps(steps(step, 1), 0.25, 0.25);
  expect_steps(steps(step, 2), 0, 0);
  expect_steps(steps(step, 3), 1e-3, 1e-3);
  expect_steps(steps(step, 1000000), 1e-3, 1e-3);
}

TEST_F(ScheduleFile, HoldsStepsAndNothingElse) {
  const std::string name = "\"" + file("steps.txt") + "\"";
  EXPECT_EQ(complaint("0.5 -1"), "found -1 for iteration 1 in " + name + ", expected a finite step >= 0");
  EXPECT_EQ(complaint("0.5\nnan"), "column 1 is not a finite number");
  EXPECT_EQ(complaint("inf"), "column 1 is not a finite number");
  EXPECT_EQ(complaint("fast"), "column 1 is not a finite number");
  EXPECT_EQ(complaint(""), name + " holds no steps");
  const Value nowhere = step_of("schedule", {{"file", file("none.txt")}});
  EXPECT_EQ(refusal([&] { return steps(nowhere); }).path(), "step.file");
}

TEST_F(ScheduleFile, IsGivenOrAValueIs) {
  Value both = step_from("1");
  both["value"] = 0.1;
  both.line = 3;
  const auto found = refusal([&] { return read_rule(both, "step"); });
  EXPECT_EQ(std::string(found.what()), "line 3: step: found both value and file; give one or the other");
  EXPECT_EQ(refusal([&] { return read_rule("schedule", "step"); }).message(),
            "found neither value nor file; give a step size, value = 0.1, or a file of steps");
  for (const double value : {0.0, -1.0, std::nan("")}) {
    EXPECT_THROW(read_rule(step_of("schedule", {{"value", value}}), "step"), InputError);
    EXPECT_THROW(read_rule(step_of("schedule", {{"value", 1.0}, {"factor", value}}), "step"), InputError);
  }
  EXPECT_THROW(read_rule(step_of("schedule", {{"value", 1.0}, {"warmup", -1}}), "step"), InputError);
  EXPECT_THROW(read_rule(step_of("schedule", {{"value", 1.0}, {"every", -1}}), "step"), InputError);
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
    const auto with = [&](double h) {
      return one_step(network_of(Topology::path, 1), *problem_of({{{h, 1}}}), step_of(rule), Rows(1, 1)).mu[0];
    };
    EXPECT_NEAR(with(1e-139), 0.5e278, 1e265) << rule;
    EXPECT_EQ(with(1e-141), 0) << rule;
  }
}

// Of a least-squares sample h that is not fitted, the value over the squared gradient is 1/(2 ||h||^2).
std::vector<std::vector<double>> decsps(const std::vector<std::vector<double>>& samples, Index iterations,
                                        const test::Options& options = {}) {
  const auto problem = problem_of({samples});
  const Rows start(1, problem->dimension());
  return test::run_rule(network_of(Topology::path, 1), *problem, step_of("decsps", options), start, iterations).mu;
}

TEST(DecSpsStep, FallsAndNeverRises) {
  const auto mu = decsps({{1, 0, 2}, {0, 2, 1}, {1, 0, 7}}, 3);
  EXPECT_DOUBLE_EQ(mu[0][0], 0.5);
  EXPECT_DOUBLE_EQ(mu[1][0], 0.125 / std::sqrt(2));
  EXPECT_DOUBLE_EQ(mu[2][0], 0.125 / std::sqrt(3));  // alone it would be 0.5
  EXPECT_DOUBLE_EQ(decsps({{1, 2}}, 1, {{"c0", 4.0}})[0][0], 0.125);
  EXPECT_DOUBLE_EQ(decsps({{1, 2}}, 1, {{"optimum", 1.0}})[0][0], 0.25);
}

TEST(DecSpsStep, IsNotFrozenByAStepOfZero) {
  // The second sample is fitted as long as nobody moves along (0, 1, 0).
  const auto mu = decsps({{2, 0, 0, 2}, {0, 1, 0, 0}, {0, 0, 1, 5}}, 3);
  EXPECT_DOUBLE_EQ(mu[0][0], 0.125);
  EXPECT_EQ(mu[1][0], 0);
  EXPECT_DOUBLE_EQ(mu[2][0], 0.125 / std::sqrt(3));
  // Nor by one at the start.
  EXPECT_DOUBLE_EQ(decsps({{1, 0}, {1, 2}}, 2)[1][0], 0.5 / std::sqrt(2));
  // Nor by a level above the cost.
  EXPECT_EQ(decsps({{1, 2}}, 1, {{"optimum", 3.0}})[0][0], 0);
}

TEST(DecSpsStep, RefusesADivisorThatIsNone) {
  for (const double c0 : {0.0, -1.0, std::nan("")}) {
    EXPECT_THROW(read_rule(step_of("decsps", {{"c0", c0}}), "step"), InputError);
  }
}

}  // namespace
}  // namespace polyhop::simple_steps_test

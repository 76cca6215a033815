// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Every rule on every problem whose optimum is known: all samples are fitted by one w^o, or, for separable classes,
// the infimum is 0.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "polyhop/experiment/run.hpp"
#include "support/option_sets.hpp"

namespace polyhop::convergence_test {
namespace {

struct Case {
  Topology topology;
  Index agents;
  std::string loss;
  double scale_spread;
};

const std::vector<Case> cases = {
    {Topology::ring, 5, "least-squares", 0}, {Topology::star, 6, "least-squares", 0.5},
    {Topology::complete, 4, "huber", 0},     {Topology::path, 5, "huber", 0.5},
    {Topology::ring, 6, "logistic", 0},      {Topology::path, 1, "least-squares", 0},
};

std::string option(const Value& step, const char* key, const char* otherwise) {
  const Value* found = step.find(key);
  const auto* word = found != nullptr ? found->as<std::string>() : nullptr;
  return word != nullptr ? *word : otherwise;
}

// What a rule can do. The published bound is known to diverge with any damping but its own, on agents of unlike scales
// and on logistic costs; one step for agents of unlike scales is too large for some of them; and a level above a fitted
// sample's cost asks for a step back, which grows as its gradient vanishes, and which others see unless it is clipped.
bool is_for(const Value& step, const Case& c, const Reference& reference) {
  const std::string rule = option(step, "rule", "");
  const std::string bound = option(step, "bound", "paper");
  const bool alike = c.scale_spread == 0;
  if ((bound == "oracle" || option(step, "optimum", "zero") == "per-sample") && !reference.minimiser) return false;
  if (rule == "gap" && bound == "paper") {
    return option(step, "damping", "paper") == "paper" && alike && c.loss != "logistic";
  }
  const Value* level = step.find("optimum");
  if (rule == "gap" && level != nullptr && level->as<double>() != nullptr && c.loss == "logistic") return false;
  // Long steps of agents that do not agree throw each other off.
  if (rule == "barzilai-borwein" && option(step, "agree", "none") == "none" && c.agents > 1) return false;
  const bool blind =
      rule == "constant" || rule == "decay" || rule == "schedule" || option(step, "agree", "none") == "mean";
  return alike || !blind;
}

// The curvature along a move that other samples asked for allows any step at all, where the move was across this one.
bool needs_all_samples(const Value& step) {
  const std::string rule = option(step, "rule", "");
  return rule == "barzilai-borwein" || rule == "adgd";
}

class EveryRule : public testing::TestWithParam<Case> {};

TEST_P(EveryRule, ReducesTheExcessRisk) {
  const Case& c = GetParam();
  ExperimentOptions options;
  options.graph.topology = c.topology;
  options.graph.agents = c.agents;
  options.problem.model.loss = builtin_loss(c.loss);
  options.problem.dimension = 20;
  options.problem.samples = 3;
  options.problem.scale_spread = c.scale_spread;
  for (const std::uint64_t seed : {0, 1}) {
    options.problem.model.batch = {0, true};
    const Instance exact = make_instance(options, seed);
    options.problem.model.batch = {};
    const Instance sampled = make_instance(options, seed);
    EXPECT_NEAR(sampled.reference.value, 0, 1e-12);
    for (const Value& step : test::all_sets()) {
      const Instance& instance = needs_all_samples(step) ? exact : sampled;
      if (!is_for(step, c, instance.reference)) continue;
      options.iterations = test::is_exact(step) ? 10 : 150;
      options.record_every = options.iterations;
      const Method method{"it", read_algorithm("atc", "algorithm"), read_rule(step, "step"), true};
      const Cell cell = run_cell(options, method, instance, seed, 1);
      ASSERT_EQ(cell.status, Status::done) << step.text();
      EXPECT_LT(cell.points.back().excess_risk, 0.5 * cell.points.front().excess_risk)
          << step.text() << ", seed " << seed;
      EXPECT_GE(cell.points.back().excess_risk, -1e-12) << step.text();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, EveryRule, testing::ValuesIn(cases), [](const auto& parameter) {
  std::string name = name_of(parameter.param.topology) + std::to_string(parameter.param.agents) + "_" +
                     parameter.param.loss + (parameter.param.scale_spread > 0 ? "_unlike" : "");
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

}  // namespace
}  // namespace polyhop::convergence_test

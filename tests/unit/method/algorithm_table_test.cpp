// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/algorithm_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/algorithm_sets.hpp"
#include "support/networks.hpp"
#include "support/trial.hpp"

namespace polyhop::algorithm_table_test {
namespace {

using test::algorithm_of;
using test::gap;
using test::step_of;

std::string complaint(const Value& algorithm) {
  try {
    read_algorithm(algorithm, "algorithm");
  } catch (const InputError& e) {
    return e.path() + ": " + e.message();
  }
  return "";
}

// What is said of the pair when it is read, or when the rule is built for the algorithm.
std::string refusal(const Value& algorithm, const Value& step) {
  const AlgorithmSpec spec = read_algorithm(algorithm, "algorithm");
  const RuleSpec rule = step.empty() ? own_steps() : read_rule(step, "step");
  std::string message;
  try {
    check_pair(spec, rule, "step", 7);
    launch_serial(test::network_of(Topology::ring, 5), 3, [&](Worker& worker) {
      (void)rule.build({worker.network, nullptr, spec.recursion, 0});
    });
  } catch (const InputError& e) {
    message = e.path() + ": " + e.message();
  }
  return message;
}

TEST(AlgorithmTable, ReadsEveryAlgorithmByItsNameAlone) {
  for (const AlgorithmEntry& entry : algorithms()) {
    const AlgorithmSpec spec = read_algorithm(Value(entry.name), "algorithm");
    EXPECT_EQ(spec.name, entry.name);
    EXPECT_EQ(spec.takes, entry.takes);
    EXPECT_EQ(spec.recursion.name, entry.name);
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_FALSE(entry.cost.empty());
  }
}

TEST(AlgorithmTable, HasNoAlgorithmThatTheTestsLeaveOut) {
  std::set<std::string> tested = {"atc"};
  for (const test::Pair& pair : test::algorithm_sets()) tested.insert(*pair.algorithm.find("name")->as<std::string>());
  for (const AlgorithmEntry& entry : algorithms()) EXPECT_TRUE(tested.contains(entry.name)) << entry.name;
}

TEST(AlgorithmTable, ReadsResolvedOptionsBackToThemselves) {
  for (const test::Pair& pair : test::algorithm_sets()) {
    const AlgorithmSpec spec = read_algorithm(pair.algorithm, "algorithm");
    Value again = spec.options;
    again["name"] = Value(spec.name);
    EXPECT_EQ(read_algorithm(again, "algorithm").options.text(), spec.options.text());
  }
}

TEST(AlgorithmTable, SaysWhatIsWrong) {
  EXPECT_EQ(complaint("act"), "algorithm: unknown name \"act\"; did you mean 'atc'?");
  EXPECT_EQ(complaint(algorithm_of("act")), "algorithm.name: unknown name \"act\"; did you mean 'atc'?");
  EXPECT_EQ(complaint(3),
            "algorithm: found 3, expected an algorithm: algorithm = \"atc\" or algorithm = { name = \"atc\", ... }");
  EXPECT_EQ(complaint(algorithm_of("atc", {{"rounds", 2}})), "algorithm.rounds: unknown key; allowed: name");
  EXPECT_EQ(complaint(algorithm_of("gradient-tracking", {{"rounds", 0}})),
            "algorithm.rounds: found 0, expected integer in [1, 1000000]");
  EXPECT_EQ(complaint(algorithm_of("exact-diffusion", {{"mixing", 0.6}})),
            "algorithm.mixing: found 0.6, expected number in (0, 0.5]");
  EXPECT_EQ(complaint(algorithm_of("kuruzov", {{"first", std::nan("")}})),
            "algorithm.first: found nan, expected number > 0");
  EXPECT_EQ(complaint(algorithm_of("dadam", {{"beta1", 1.0}})),
            "algorithm.beta1: found 1.0, expected number in [0, 1)");
}

TEST(AlgorithmTable, TakesThePairsThatTheTestsRun) {
  for (const test::Pair& pair : test::algorithm_sets()) {
    const Value* optimum = pair.step.find("optimum");
    if (optimum != nullptr && optimum->text() == "\"per-sample\"") continue;  // needs a known optimum
    EXPECT_EQ(refusal(pair.algorithm, pair.step), "") << pair.text();
  }
}

TEST(AlgorithmTable, RefusesPairsThatMakeNoSense) {
  EXPECT_EQ(refusal("extra", gap()),
            "step: rule \"gap\" does not go with algorithm \"extra\", which takes one constant step, the same for all "
            "agents and iterations: \"constant\" or \"tuned\"");
  for (const char* name : {"extra", "next"}) {
    EXPECT_NE(refusal(name, step_of("decay", {{"value", 0.1}})).find("takes one constant step"), std::string::npos);
  }
  EXPECT_EQ(refusal("kuruzov", step_of("constant", {{"value", 1.0}})),
            "step: rule \"constant\" does not go with algorithm \"kuruzov\", which chooses its own steps; leave `step` "
            "out");
  EXPECT_NE(refusal("dadam", "polyak").find("the same for all agents"), std::string::npos);
  EXPECT_NE(refusal("damsgrad", "backtracking").find("the same for all agents"), std::string::npos);
  EXPECT_EQ(refusal("atc", {}), "step: missing; \"atc\" needs a rule: step = \"gap\"");
}

TEST(AlgorithmTable, RefusesGapWhereItsBoundDoesNotHold) {
  for (const char* name : {"dgd", "diging", "gradient-tracking"}) {
    const std::string message = refusal(name, gap());
    EXPECT_EQ(message.find("bound: \"paper\", which is also the default"), 0U) << message;
    EXPECT_NE(message.find("use bound = \"linear\" on algorithm \"" + std::string(name)), std::string::npos) << message;
  }
  for (const char* name : {"diging", "gradient-tracking"}) {
    EXPECT_EQ(refusal(name, gap({{"bound", "tight"}})).find("bound: \"tight\" needs the smoothness"), 0U);
  }
  EXPECT_NE(refusal("exact-diffusion", gap({{"bound", "linear"}})).find("form = \"primal\""), std::string::npos);
  EXPECT_NE(refusal(algorithm_of("gradient-tracking", {{"rounds", 2}}), gap({{"bound", "linear"}})).find("rounds = 2"),
            std::string::npos);
  const Value list = Value(Value::Array{0.1, 0.1, 0.1, 0.1, 0.1});
  EXPECT_NE(refusal("gradient-tracking", gap({{"bound", "linear"}, {"optimum", list}})), "");
}

}  // namespace
}  // namespace polyhop::algorithm_table_test

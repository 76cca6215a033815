// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/algorithm_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "support/algorithm_sets.hpp"
#include "support/networks.hpp"
#include "support/trial.hpp"
#include "unit/core/refusal.hpp"

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
      (void)rule.build({worker.network, nullptr, spec.recursion(worker.network.matrix()), 0});
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
    EXPECT_EQ(spec.recursion(test::network_of(Topology::ring, 5)).name, entry.name);
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_FALSE(entry.cost.empty());
  }
}

TEST(AlgorithmTable, HasNoAlgorithmThatTheTestsLeaveOut) {
  std::set<std::string> tested = {"atc"};
  for (const test::Pair& pair : test::algorithm_sets()) tested.insert(pair.name());
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
  EXPECT_EQ(complaint("gap"), "algorithm: \"gap\" is a rule, not an algorithm; write step = \"gap\"");
  EXPECT_EQ(complaint(algorithm_of("act")), "algorithm.name: unknown name \"act\"; did you mean 'atc'?");
  EXPECT_EQ(complaint(3),
            "algorithm: found 3, expected an algorithm: algorithm = \"atc\" or algorithm = { name = \"atc\", ... }");
  EXPECT_EQ(complaint(algorithm_of("atc", {{"rounds", 2}})), "algorithm.rounds: unknown key; allowed: name");
  EXPECT_EQ(complaint(algorithm_of("gradient-tracking", {{"rounds", 0}})),
            "algorithm.rounds: found 0, expected an integer in [1, 1000000]");
  for (const Value& mixing : {Value(0.0), Value(1.1), Value("most"), Value(std::nan(""))}) {
    EXPECT_EQ(complaint(algorithm_of("exact-diffusion", {{"mixing", mixing}})),
              "algorithm.mixing: found " + mixing.text() + ", expected a number in (0, 1] or \"auto\"");
  }
  EXPECT_EQ(complaint(algorithm_of("kuruzov", {{"first", std::nan("")}})),
            "algorithm.first: found nan, expected a number > 0");
  EXPECT_EQ(complaint(algorithm_of("dadam", {{"beta1", 1.0}})),
            "algorithm.beta1: found 1.0, expected a number in [0, 1)");
}

// A Metropolis ring of an even number of agents has a_kk = 1/3 and lambda_min = -1/3.
TEST(AlgorithmTable, MixesAsMuchAsTheNetworkAllows) {
  const auto mixing = [](const CombinationMatrix& matrix, const char* form, const Value& c) {
    return read_algorithm(algorithm_of("exact-diffusion", {{"form", form}, {"mixing", c}}), "algorithm")
        .recursion(matrix)
        .mixing;
  };
  const CombinationMatrix ring = test::network_of(Topology::ring, 8);
  EXPECT_NEAR(mixing(ring, "primal", "auto"), 0.75, 1e-6);
  EXPECT_LE(mixing(ring, "primal", "auto"), 0.75);
  EXPECT_DOUBLE_EQ(mixing(ring, "dual", "auto"), 0.75);
  EXPECT_NEAR(mixing(test::network_of(Topology::complete, 6), "primal", "auto"), 1, 1e-6);
  EXPECT_NEAR(mixing(test::network_of(Topology::complete, 6), "dual", "auto"), 0.6, 1e-12);
  EXPECT_EQ(mixing(test::network_of(Topology::complete, 1), "primal", "auto"), 1);
  EXPECT_EQ(mixing(test::network_of(Topology::complete, 1), "dual", "auto"), 1);
  EXPECT_EQ(mixing(ring, "primal", 0.7), 0.7);
  // 1 may be written where 1 is the limit, which is known up to rounding.
  for (const Topology topology : {Topology::complete, Topology::star}) {
    const CombinationMatrix matrix = test::network_of(topology, 6);
    EXPECT_EQ(mixing(matrix, "primal", 1.0), mixing(matrix, "primal", "auto"));
  }
  EXPECT_EQ(mixing(ring, "dual", 0.75), mixing(ring, "dual", "auto"));
  const auto error = polyhop::refusal([&] { return mixing(ring, "primal", 0.8); });
  EXPECT_EQ(error.path(), "mixing");
  EXPECT_EQ(error.message().substr(0, 53), "found 0.8, which is too much for this network: the sm");
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

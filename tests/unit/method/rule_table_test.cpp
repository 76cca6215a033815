// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/rule_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/network/runtime.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"

namespace polyhop::rule_table_test {
namespace {

using test::gap;
using test::step_of;

bool has_required_option(const RuleEntry& rule) {
  for (const FieldInfo& option : rule.options) {
    if (option.default_text == "required") return true;
  }
  return false;
}

std::string complaint(const Value& step) {
  try {
    read_rule(step, "step");
  } catch (const InputError& e) {
    return e.what();
  }
  return "nothing";
}

TEST(RuleTable, ReadsEveryRuleByItsNameAloneUnlessAnOptionIsRequired) {
  for (const RuleEntry& rule : rules()) {
    SCOPED_TRACE(rule.name);
    if (has_required_option(rule) || !rule.constant.empty()) {
      EXPECT_THROW(read_rule(Value(rule.name), "step"), InputError);
    } else {
      EXPECT_EQ(read_rule(Value(rule.name), "step").name, rule.name);
    }
    EXPECT_FALSE(rule.summary.empty());
    EXPECT_FALSE(rule.cost.empty());
  }
}

TEST(RuleTable, NamesEachRuleOnce) {
  std::set<std::string> names;
  for (const RuleEntry& rule : rules()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
}

TEST(RuleTable, HasNoRuleThatTheTestsLeaveOut) {
  std::set<std::string> tested;
  for (const Value& step : test::all_sets()) tested.insert(*step.find("rule")->as<std::string>());
  tested.insert("tuned");  // there is no rule to build: tuning_test.cpp
  tested.insert("auto");   // an algorithm of its own: algorithm_sets.hpp
  for (const RuleEntry& rule : rules()) EXPECT_TRUE(tested.contains(rule.name)) << rule.name;
}

TEST(RuleTable, ReadsResolvedOptionsBackToThemselves) {
  std::vector<Value> steps = test::all_sets();
  steps.push_back(gap({{"optimum", Value(Value::Array{Value(0.1), Value(2)})}}));
  steps.push_back(gap({{"optimum", Value(Value::Table{{"file", Value("levels.txt")}})}}));
  for (const Value& step : steps) {
    const RuleSpec spec = read_rule(step, "step");
    Value resolved = spec.options;
    EXPECT_EQ(resolved.as<Value::Table>()->empty(), false);
    resolved["rule"] = Value(spec.name);
    EXPECT_EQ(read_rule(resolved, "step").options.text(), spec.options.text()) << step.text();
    // What was given is among what was resolved.
    for (const auto& [key, value] : *step.as<Value::Table>()) {
      if (key == "rule") continue;
      const Value* found = spec.options.find(key);
      ASSERT_NE(found, nullptr) << key;
      EXPECT_EQ(found->kind(), value.kind()) << key;
    }
  }
}

TEST(RuleTable, GapWithoutOptionsIsThePapers) {
  EXPECT_EQ(read_rule("gap", "step").options.text(),
            "{ bound = \"paper\", damping = \"paper\", sketch_size = 32, sweeps = 2, project = false, relaxation = "
            "1.0, optimum = \"zero\", "
            "agree = \"none\", cap = \"none\", sums = \"mixed\", exchange = \"lists\", products = \"auto\" }");
}

TEST(RuleTable, ReadsATunedStepThatNobodyCanBuild) {
  const RuleSpec spec = read_rule(step_of("tuned", {{"factor", 0.5}}), "step");
  EXPECT_EQ(spec.options.text(), "{ factor = 0.5, of = \"constant\" }");
  EXPECT_EQ(complaint(step_of("tuned", {{"factor", 0.0}})), "step.factor: found 0.0, expected a number > 0");
  launch_serial(test::network_of(Topology::path, 2), 1,
                [&](Worker& worker) { EXPECT_THROW(spec.build({worker.network}), InputError); });
}

TEST(RuleTable, ReadsATunedScheduleButNotOneFromAFile) {
  const auto tuned = [](const test::Options& schedule) {
    return step_of("tuned", {{"of", step_of("schedule", schedule)}});
  };
  EXPECT_EQ(read_rule(tuned({{"warmup", 5}}), "step").gives, Steps::common);
  EXPECT_EQ(complaint(tuned({{"file", "steps.txt"}})), "step.of: found both value and file; give one or the other");
  EXPECT_EQ(complaint(tuned({{"value", 0.1}})), "step.of.value: is what the search looks for; leave it out");
}

TEST(RuleTable, SuggestsTheNearestName) {
  EXPECT_EQ(complaint("gop"), "step.rule: unknown name \"gop\"; did you mean 'gap'?");
  EXPECT_EQ(complaint("extra"),
            "step: \"extra\" is an algorithm, not a rule; write algorithm = \"extra\" and a rule, such as step = "
            "\"tuned\"");
  EXPECT_EQ(complaint("constnat"), "step.rule: unknown name \"constnat\"; did you mean 'constant'?");
  EXPECT_EQ(complaint("newton"),
            "step.rule: unknown name \"newton\"; allowed: constant, tuned, decay, schedule, polyak, sps, decsps, "
            "backtracking, "
            "barzilai-borwein, adgd, gap, auto");
  EXPECT_EQ(complaint(gap({{"bond", "tight"}})), "step.bond: unknown key; did you mean 'bound'?");
  EXPECT_EQ(complaint(gap({{"bound", "tigt"}})), "step.bound: unknown name \"tigt\"; did you mean 'tight'?");
}

TEST(RuleTable, SaysWhatIsMissingOrOutOfRange) {
  EXPECT_EQ(complaint("constant"), "step.value: missing; expected a number > 0");
  EXPECT_EQ(complaint(step_of("constant", {{"value", 0.0}})), "step.value: found 0.0, expected a number > 0");
  EXPECT_EQ(complaint(step_of("decay", {{"value", 1.0}, {"power", -1.0}})),
            "step.power: found -1.0, expected a number >= 0");
  EXPECT_EQ(complaint(step_of("polyak", {{"max", 0.0}})), "step.max: found 0.0, expected a number > 0");
  for (const Value& rho : {Value(0.0), Value(2.0)}) {
    EXPECT_EQ(complaint(gap({{"relaxation", rho}})),
              "step.relaxation: found " + rho.text() + ", expected a number in (0, 2)");
  }
  EXPECT_EQ(complaint(gap({{"sweeps", 0}})),
            "step.sweeps: found 0, expected an integer from 1 to 1000000, or \"exact\"");
  EXPECT_EQ(complaint(gap({{"sweeps", "all"}})),
            "step.sweeps: found \"all\", expected an integer from 1 to 1000000, or \"exact\"");
  for (const Value& cap : {Value("1/sqrt(i)"), Value("-1/sqrt(i+1)"), Value(0.0), Value("x"), Value(true)}) {
    EXPECT_EQ(complaint(gap({{"cap", cap}})), "step.cap: found " + cap.text() +
                                                  ", expected \"none\", a number > 0, \"GAMMA/sqrt(i+1)\", "
                                                  "\"distance\", \"FACTOR*distance\" or \"curvature\"");
  }
  EXPECT_EQ(complaint(gap({{"optimum", "none"}})),
            "step.optimum: found \"none\", expected \"zero\", a number, a list, { file = \"...\" }, \"per-sample\" or "
            "\"estimate\"");
}

TEST(RuleTable, WantsARule) {
  EXPECT_EQ(complaint(Value(Value::Table{{"value", Value(1.0)}})),
            "step: found { value = 1.0 }, expected a rule: step = \"gap\" or step = { rule = \"gap\", ... }");
  EXPECT_EQ(complaint(3), "step: found 3, expected a rule: step = \"gap\" or step = { rule = \"gap\", ... }");
  EXPECT_EQ(complaint(Value(Value::Table{{"rule", Value(1)}})), "step.rule: found 1, expected a name");
}

}  // namespace
}  // namespace polyhop::rule_table_test

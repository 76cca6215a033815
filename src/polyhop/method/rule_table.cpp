// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/rule_table.hpp"

#include <algorithm>

#include "polyhop/core/named_entry.hpp"
#include "polyhop/method/adaptive_descent_step.hpp"
#include "polyhop/method/algorithm_table.hpp"
#include "polyhop/method/backtracking_step.hpp"
#include "polyhop/method/barzilai_borwein_step.hpp"
#include "polyhop/method/constant_step.hpp"
#include "polyhop/method/graph_aware_polyak.hpp"
#include "polyhop/method/polyak_step.hpp"
#include "polyhop/method/tuned_step.hpp"

namespace polyhop {
namespace {

// Read like any rule, but never built: once the constant is found, the tuned rule takes its place.
RuleEntry tuned_entry() {
  const auto read = [](const Value& table, const std::string& path, std::span<const RuleEntry> among) {
    const TunedStep options = TunedStep::fields().read(table, path, {"rule"});
    const RuleFactory refuse = [](const Setting&) -> std::unique_ptr<StepSize> {
      throw InputError("rule",
                       "\"tuned\" stands for a constant that an experiment finds by whole runs; give \"constant\"");
    };
    return RuleSpec{"tuned", TunedStep::fields().write(options), with_constant(options, 1, path, among).gives, refuse};
  };
  return {"tuned",
          "a rule with its best constant, found on other seeds, times a factor",
          "nothing once found; the search is counted separately",
          Steps::constant,
          "",
          TunedStep::fields().info(),
          read};
}

// The rule of an algorithm that chooses its own steps.
class OwnSteps final : public StepSize {
  void do_choose(const Iterate&, Network&, std::span<double>) override {
    throw Error("an algorithm that chooses its own steps asked for others");
  }
};

// A rule that is an algorithm of the same name, which chooses for itself.
RuleEntry auto_entry() {
  const auto read = [](const Value& table, const std::string& path, std::span<const RuleEntry>) {
    (void)NoOptions::fields().read(table, path, {"rule"});
    return own_steps("auto");
  };
  return {"auto",
          "no tuning: chooses the algorithm and its steps",
          "like GAP while the data fit; otherwise 1 scalar, 2 loss values",
          Steps::own,
          "",
          {},
          read};
}

// The two keys of a method are easily mixed up.
void refuse_algorithm(const Value& step, const std::string& path, std::span<const RuleEntry> among) {
  const Value* given = step.as<std::string>() != nullptr ? &step : step.find("rule");
  const auto* name = given != nullptr ? given->as<std::string>() : nullptr;
  if (name == nullptr || std::ranges::count(among, *name, &RuleEntry::name) > 0) return;
  if (std::ranges::count(algorithms(), *name, &AlgorithmEntry::name) == 0) return;
  throw InputError(path,
                   in_quotes(*name) + " is an algorithm, not a rule; write algorithm = " + in_quotes(*name) +
                       " and a rule, such as step = \"tuned\"",
                   given->line);
}

}  // namespace

const std::vector<RuleEntry>& rules() {
  static const std::vector<RuleEntry> table = {
      rule_entry<ConstantStep, ConstantOptions>("constant", "the same step for all agents and iterations", "nothing",
                                                Steps::constant, "value"),
      tuned_entry(),
      rule_entry<DecayingStep, DecayOptions>("decay", "value / (i+1)^power", "nothing", Steps::common, "value"),
      rule_entry<ScheduledStep, ScheduleOptions>(
          "schedule", "a warm-up, then drops at intervals; or one step per iteration from a file", "nothing",
          Steps::common, "value"),
      rule_entry<PolyakStep, PolyakOptions>("polyak", "each agent's own Polyak step, blind to the graph",
                                            "1 loss value"),
      rule_entry<PolyakStep, SpsOptions>("sps", "stochastic Polyak step: Polyak's with c = 1/2", "1 loss value"),
      rule_entry<DecSpsStep, DecSpsOptions>("decsps", "a stochastic Polyak step that falls like 1/sqrt(i+1)",
                                            "1 loss value"),
      rule_entry<BacktrackingStep, BacktrackingOptions>("backtracking",
                                                        "each agent's line search, then the smallest step within reach",
                                                        "1 scalar, or as many as the diameter; 2 or more loss values"),
      rule_entry<BarzilaiBorweinStep, BarzilaiBorweinOptions>(
          "barzilai-borwein", "each agent's curvature along its last move, after Barzilai and Borwein",
          "1 gradient unless batch = \"all\"; 1 scalar if agents agree on a step"),
      rule_entry<AdgdStep, AdgdOptions>("adgd", "grows until the curvature along the agent's last move limits it",
                                        "1 gradient unless batch = \"all\"; 1 scalar if agents agree on a step"),
      rule_entry<GraphAwarePolyak, GapOptions>("gap", "the graph-aware Polyak rule, as published or repaired",
                                               "two-hop lists, scalars per sweep, 1 or more loss values"),
      auto_entry(),
  };
  return table;
}

RuleSpec read_rule(const Value& step, const std::string& path, std::span<const RuleEntry> among) {
  refuse_algorithm(step, path, among);
  return read_named(among, "rule", "a rule: step = \"gap\" or step = { rule = \"gap\", ... }", step, path, among);
}

std::vector<std::string> rules_for(Steps takes, std::span<const RuleEntry> among) {
  std::vector<std::string> names;
  for (const RuleEntry& rule : among) {
    if (rule.gives != Steps::own && rule.gives <= takes) names.push_back(rule.name);
  }
  std::ranges::sort(names);
  return names;
}

RuleSpec own_steps(const std::string& name) {
  return {name, Value(Value::Table{}), Steps::own, [](const Setting&) { return std::make_unique<OwnSteps>(); }};
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/rule_table.hpp"

#include <utility>

#include "polyhop/method/backtracking_step.hpp"
#include "polyhop/method/constant_step.hpp"
#include "polyhop/method/diffusion.hpp"
#include "polyhop/method/graph_aware_polyak.hpp"
#include "polyhop/method/polyak_step.hpp"
#include "polyhop/method/tuned_step.hpp"

namespace polyhop {
namespace {

template <class Rule, class Options>
RuleEntry entry(std::string name, std::string summary, std::string cost) {
  auto read = [name](const Value& table, const std::string& path) {
    const Options options = Options::fields().read(table, path, {"rule"});
    return RuleSpec{name, Options::fields().write(options),
                    [options](const Setting& setting) { return std::make_unique<Rule>(options, setting); }};
  };
  return {std::move(name), std::move(summary), std::move(cost), Options::fields().info(), std::move(read)};
}

// Read like any rule, but nobody can build it: a constant takes its place when its value has been found.
RuleEntry tuned_entry() {
  const auto read = [](const Value& table, const std::string& path) {
    const TunedStep options = TunedStep::fields().read(table, path, {"rule"});
    const RuleFactory refuse = [](const Setting&) -> std::unique_ptr<StepSize> {
      throw InputError("rule",
                       "\"tuned\" stands for a constant that an experiment finds by whole runs; give \"constant\"");
    };
    return RuleSpec{"tuned", TunedStep::fields().write(options), refuse};
  };
  return {"tuned", "the best constant, found by a search on other seeds, times a factor",
          "nothing once found; the search's runs are counted apart", TunedStep::fields().info(), read};
}

template <class Entries>
auto& find(const Entries& entries, const std::string& name, const std::string& path, int line) {
  std::vector<std::string> names;
  for (const auto& candidate : entries) {
    if (candidate.name == name) return candidate;
    names.push_back(candidate.name);
  }
  throw InputError(path, "unknown name " + in_quotes(name) + suggestion(name, names), line);
}

}  // namespace

const std::vector<RuleEntry>& rules() {
  static const std::vector<RuleEntry> table = {
      entry<ConstantStep, ConstantOptions>("constant", "the same step for everyone, for ever", "nothing"),
      tuned_entry(),
      entry<DecayingStep, DecayOptions>("decay", "value / (i+1)^power", "nothing"),
      entry<PolyakStep, PolyakOptions>("polyak", "each agent's own Polyak step, blind to the graph", "1 loss value"),
      entry<PolyakStep, SpsOptions>("sps", "stochastic Polyak step: Polyak's with c = 1/2", "1 loss value"),
      entry<BacktrackingStep, BacktrackingOptions>("backtracking",
                                                   "each agent's line search, then the smallest step in reach",
                                                   "1 scalar, or as many as the diameter; 2 or more loss values"),
      entry<GraphAwarePolyak, GapOptions>("gap", "the graph-aware Polyak rule, as published or repaired",
                                          "two-hop lists, scalars a sweep, 1 or more loss values"),
  };
  return table;
}

RuleSpec read_rule(const Value& step, const std::string& path) {
  Value table = step;
  if (const auto* name = step.as<std::string>()) {
    Value named(*name);
    named.line = step.line;
    table = Value(Value::Table{{"rule", std::move(named)}});
    table.line = step.line;
  }
  const Value* rule = table.find("rule");
  if (rule == nullptr) {
    throw InputError(path,
                     "found " + step.text() + ", expected a rule: step = \"gap\" or step = { rule = \"gap\", ... }",
                     step.line);
  }
  const auto* name = rule->as<std::string>();
  if (name == nullptr) throw InputError(path + ".rule", "found " + rule->text() + ", expected a name", rule->line);
  return find(rules(), *name, path + ".rule", rule->line).read(table, path);
}

const std::vector<AlgorithmEntry>& algorithms() {
  static const std::vector<AlgorithmEntry> table = {
      {"atc", "ATC-diffusion: adapt, then combine [eq:atc]",
       [](Rows start) { return std::make_unique<Diffusion>(std::move(start)); }},
  };
  return table;
}

const AlgorithmEntry& find_algorithm(const std::string& name, const std::string& path, int line) {
  return find(algorithms(), name, path, line);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// Builds a rule for one block.
using RuleFactory = std::function<std::unique_ptr<StepSize>(const Setting&)>;

/// A rule with its options read and validated: ready to be built on every block.
struct RuleSpec {
  std::string name;
  Value options;  // resolved: every field with its value
  Steps gives = Steps::agent_wise;
  RuleFactory build;
  std::string constant = {};  // as in the rule's table line
};

/// A line in the table of rules: everything the command line, docs and Python know about a rule.
struct RuleEntry {
  std::string name;
  std::string summary;
  std::string cost;  // of choosing the steps, as text
  Steps gives = Steps::agent_wise;
  std::string constant;  // the option that needs tuning, or empty; `tuned` can tune it
  std::vector<FieldInfo> options;
  /// `among`: the rules that may be named in the options of a rule such as `tuned`.
  std::function<RuleSpec(const Value& table, const std::string& path, std::span<const RuleEntry> among)> read;
};

/// The rules of polyhop.
const std::vector<RuleEntry>& rules();

/// Reads `step = { rule = "...", ... }` or `step = "rule"`, from polyhop's table or from your own list.
RuleSpec read_rule(const Value& step, const std::string& path, std::span<const RuleEntry> among = rules());

/// The names of the rules that work with an algorithm that takes these steps, sorted.
std::vector<std::string> rules_for(Steps takes, std::span<const RuleEntry> among = rules());

/// The table line of a rule whose constructor takes (const Options&, const Setting&). To add your own:
///   std::vector<RuleEntry> mine = rules();
///   mine.push_back(rule_entry<ShyStep, ShyOptions>("shy", "shy of large gradients", "nothing"));
///   const RuleSpec shy = read_rule("shy", "step", mine);
template <class Rule, class Options = NoOptions>
RuleEntry rule_entry(std::string name, std::string summary, std::string cost, Steps gives = Steps::agent_wise,
                     std::string constant = "") {
  auto read = [name, gives, constant](const Value& table, const std::string& path, std::span<const RuleEntry>) {
    const Options options = Options::fields().read(table, path, {"rule"});
    if constexpr (requires { options.check(path, table.line); }) options.check(path, table.line);
    return RuleSpec{name, Options::fields().write(options), gives,
                    [options](const Setting& setting) { return std::make_unique<Rule>(options, setting); }, constant};
  };
  return {std::move(name),     std::move(summary),       std::move(cost), gives,
          std::move(constant), Options::fields().info(), std::move(read)};
}

/// Stands in for the rule of an algorithm that chooses its own steps.
RuleSpec own_steps(const std::string& name = "own");

}  // namespace polyhop

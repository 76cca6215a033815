// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// Builds a rule for one block.
using RuleFactory = std::function<std::unique_ptr<StepSize>(const Setting&)>;

/// A rule, its options read and validated: ready to be built for every block.
struct RuleSpec {
  std::string name;
  Value options;  // resolved: every field with its value
  Steps gives = Steps::agent_wise;
  RuleFactory build;
};

/// One line of the table of rules: everything the command line, docs and Python know about a rule.
struct RuleEntry {
  std::string name;
  std::string summary;
  std::string cost;  // what choosing the steps takes, in words
  Steps gives = Steps::agent_wise;
  std::string constant;  // the option that somebody must tune, or empty; `tuned` can
  std::vector<FieldInfo> options;
  std::function<RuleSpec(const Value& table, const std::string& path)> read;
};

const std::vector<RuleEntry>& rules();

/// Reads `step = { rule = "...", ... }` or `step = "rule"`.
RuleSpec read_rule(const Value& step, const std::string& path);

/// What stands for the rule of an algorithm that chooses its own steps.
RuleSpec own_steps(const std::string& name = "own");

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/value.hpp"
#include "polyhop/method/rule_table.hpp"

namespace polyhop::test {

using Options = std::vector<std::pair<std::string, Value>>;

/// step = { rule = ..., ... }
inline Value step_of(const char* rule, const Options& options = {}) {
  Value step;
  step["rule"] = rule;
  for (const auto& [key, value] : options) step[key] = value;
  return step;
}
inline Value gap(const Options& options = {}) { return step_of("gap", options); }

inline bool is_exact(const Value& step) {
  const Value* sweeps = step.find("sweeps");
  return sweeps != nullptr && sweeps->as<std::string>() != nullptr;
}

/// Rules that have messages share rounds, which a runtime sends one after the other.
inline bool shares_rounds(const Value& step) {
  const Value* rule = step.find("rule");
  return rule != nullptr && *rule->as<std::string>() == "gap";
}

/// Rules that remember products of samples
inline bool remembers(const Value& step) {
  const Value* products = step.find("products");
  return products != nullptr && *products->as<std::string>() == "remembered";
}

/// Rules whose first step is a number of their own, whatever the costs are.
inline bool has_a_first_step(const Value& step) {
  static const std::set<std::string> rules = {"constant",         "decay", "schedule", "backtracking",
                                              "barzilai-borwein", "adgd"};
  return rules.contains(*step.find("rule")->as<std::string>());
}

/// GAP with every bound, every damping, and every way to sweep.
inline std::vector<Value> gap_sets() {
  std::vector<Value> sets;
  for (const char* bound : {"paper", "linear", "tight", "oracle"}) {
    const bool paper = std::string(bound) == "paper";
    for (const char* damping : {"paper", "rows", "norms", "graph", "sketch"}) {
      const Options base = {{"bound", bound}, {"damping", damping}};
      const auto add = [&](const Options& more) {
        Options all = base;
        all.insert(all.end(), more.begin(), more.end());
        sets.push_back(gap(all));
      };
      add({{"sweeps", 1}});
      add({{"sweeps", 3}});
      add({{"sweeps", 3}, {"exchange", "relay"}, {"project", true}, {"relaxation", 1.5}});
      if (!paper) add({{"sweeps", "exact"}, {"exchange", "lists"}});
    }
  }
  return sets;
}

/// What is done to GAP's steps after the sweeps, with and without two-hop lists, and how the lists are multiplied.
inline std::vector<Value> limited_sets() {
  std::vector<Value> sets;
  for (const char* damping : {"rows", "norms"}) {
    const Options base = {{"bound", "tight"}, {"damping", damping}, {"project", true}};
    const auto add = [&](const Options& more) {
      Options all = base;
      all.insert(all.end(), more.begin(), more.end());
      sets.push_back(gap(all));
    };
    add({{"cap", 0.02}});
    add({{"cap", "0.1/sqrt(i+1)"}});
    add({{"cap", "distance"}});
    add({{"cap", "distance"}, {"sums", "own"}});
    add({{"cap", "curvature"}});
    add({{"agree", "min"}});
    add({{"agree", "mean"}});
    add({{"agree", "mean"}, {"cap", "distance"}, {"relaxation", 1.5}});
  }
  sets.push_back(gap({{"cap", "distance"}}));
  sets.push_back(gap({{"cap", "distance"}, {"sums", "own"}, {"exchange", "relay"}}));
  sets.push_back(gap({{"products", "remembered"}}));
  sets.push_back(gap({{"bound", "tight"}, {"damping", "rows"}, {"products", "remembered"}}));
  sets.push_back(gap({{"optimum", "per-sample"}}));
  sets.push_back(gap({{"optimum", 0.01}, {"bound", "linear"}, {"damping", "graph"}}));
  sets.push_back(gap({{"optimum", "estimate"}}));
  sets.push_back(gap({{"optimum", "estimate"}, {"bound", "tight"}, {"damping", "rows"}, {"project", true}}));
  return sets;
}

/// Every other rule; one that is not listed, with its defaults.
inline std::vector<Value> simple_sets() {
  std::vector<Value> sets = {
      step_of("constant", {{"value", 0.05}}),
      step_of("decay", {{"value", 0.2}, {"power", 0.75}}),
      step_of("schedule", {{"value", 0.1}, {"warmup", 10}, {"every", 20}}),
      step_of("polyak"),
      step_of("polyak", {{"max", 0.05}, {"c", 2.0}}),
      step_of("polyak", {{"optimum", "per-sample"}}),
      step_of("sps"),
      step_of("sps", {{"max", 0.1}, {"optimum", 0.01}}),
      step_of("polyak", {{"optimum", "estimate"}}),
      step_of("decsps"),
      step_of("decsps", {{"c0", 0.5}, {"optimum", "estimate"}}),
      step_of("backtracking"),
      step_of("backtracking", {{"growth", 1.0}, {"reach", "network"}}),
      step_of("backtracking", {{"growth", 1.1}, {"delta", 0.9}, {"shrink", 0.7}, {"first", 10.0}}),
      step_of("barzilai-borwein"),
      step_of("barzilai-borwein", {{"kind", "short"}, {"first", 0.01}, {"max", 0.1}, {"agree", "min"}}),
      step_of("barzilai-borwein", {{"min", 1e-4}, {"max", 0.1}, {"agree", "mean"}}),
      step_of("adgd"),
      step_of("adgd", {{"first", 1e-3}, {"agree", "min"}}),
      step_of("adgd", {{"agree", "mean"}})};
  std::set<std::string> listed = {"gap", "tuned", "auto"};  // the last two are no rules that one could build
  for (const Value& step : sets) listed.insert(*step.find("rule")->as<std::string>());
  for (const RuleEntry& rule : rules()) {
    if (!listed.contains(rule.name)) sets.push_back(step_of(rule.name.c_str()));
  }
  return sets;
}

/// Every rule of the table is among them, as rule_table_test.cpp sees to.
inline std::vector<Value> all_sets() {
  std::vector<Value> sets = gap_sets();
  for (const auto& more : {limited_sets(), simple_sets()}) sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

}  // namespace polyhop::test

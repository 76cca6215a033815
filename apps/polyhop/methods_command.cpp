// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop methods: every algorithm and step-size rule, read from the tables that experiments are built from.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/method/algorithm_table.hpp"
#include "polyhop/method/rule_table.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

struct MethodsArguments {
  std::string name;
  bool json = false;
};

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const AlgorithmEntry& algorithm : algorithms()) names.push_back(algorithm.name);
  for (const RuleEntry& rule : rules()) {
    if (std::ranges::find(names, rule.name) == names.end()) names.push_back(rule.name);  // auto is both
  }
  return names;
}

Json to_json(const std::vector<FieldInfo>& options) {
  Json out = Json::array();
  for (const FieldInfo& field : options) out.push_back(app::to_json(field));
  return out;
}

Json to_json(const AlgorithmEntry& algorithm) {
  return {{"name", algorithm.name},
          {"summary", algorithm.summary},
          {"cost", algorithm.cost},
          {"steps", name_of(algorithm.takes)},
          {"options", to_json(algorithm.options)}};
}

Json to_json(const RuleEntry& rule) {
  Json out = {{"name", rule.name},
              {"summary", rule.summary},
              {"cost", rule.cost},
              {"steps", name_of(rule.gives)},
              {"options", to_json(rule.options)}};
  if (!rule.constant.empty()) out["constant"] = rule.constant;
  return out;
}

// Which steps an algorithm can take, in words.
std::string taken(Steps steps) {
  switch (steps) {
    case Steps::constant:
      return "one constant: constant, tuned";
    case Steps::common:
      return "common: constant, decay, schedule, tuned";
    case Steps::agent_wise:
      return "any";
    case Steps::own:
      break;
  }
  return "its own";
}

std::string names_of(const std::vector<FieldInfo>& options) {
  std::string names;
  for (const FieldInfo& field : options) names += (names.empty() ? "" : ", ") + field.name;
  return names;
}

// As a table where the terminal is wide enough for all of it, else one option below the other.
void print_options(const std::vector<FieldInfo>& options) {
  TextTable table({{"option"}, {"value"}, {"default"}, {""}});
  std::string list;
  for (const FieldInfo& field : options) {
    const std::string value = field.type + (field.constraint.empty() ? "" : " " + field.constraint);
    table.add({field.name, value, field.default_text, field.help});
    list += fmt::format("{}: {} (default: {})\n    {}\n", field.name, value, field.default_text, field.help);
  }
  const std::string whole = table.text();
  fmt::print("\n{}", whole == table.text(terminal_width()) ? whole : list);
}

// The options that have no default must stand in the example, and a constant that somebody must choose.
std::string example(const RuleEntry& rule) {
  std::string required;
  for (const FieldInfo& field : rule.options) {
    if (field.default_text == "required" || field.name == rule.constant) required += ", " + field.name + " = ...";
  }
  return required.empty() ? "step = " + in_quotes(rule.name)
                          : fmt::format("step = {{ rule = {}{} }}", in_quotes(rule.name), required);
}

void print(const AlgorithmEntry& algorithm) {
  fmt::print("{}: {}\nCosts: {} an iteration and edge\nSteps: {}\n\nIn a [[method]]: algorithm = {}\n",
             inked(algorithm.name, Ink::bold), algorithm.summary, algorithm.cost, taken(algorithm.takes),
             in_quotes(algorithm.name));
  if (!algorithm.options.empty()) {
    fmt::print("or algorithm = {{ name = {}, ... }} with\n", in_quotes(algorithm.name));
    print_options(algorithm.options);
  }
}

void print(const RuleEntry& rule) {
  fmt::print("{}: {}\nCosts: {}\n", inked(rule.name, Ink::bold), rule.summary, rule.cost);
  if (!rule.constant.empty()) {
    fmt::print("Needs a constant, `{}`; step = {{ rule = \"tuned\", of = {} }} searches it\n", rule.constant,
               in_quotes(rule.name));
  }
  fmt::print("\nIn a [[method]]: {}\n", example(rule));
  if (!rule.options.empty()) print_options(rule.options);
}

void print_all() {
  fmt::print("{}\n\n",
             inked("Algorithms: algorithm = \"NAME\" or { name = \"NAME\", ... } in a [[method]]", Ink::bold));
  TextTable recursions({{"name"}, {""}, {"costs"}, {"steps"}, {"options"}});
  for (const AlgorithmEntry& algorithm : algorithms()) {
    recursions.add(
        {algorithm.name, algorithm.summary, algorithm.cost, taken(algorithm.takes), names_of(algorithm.options)});
  }
  fmt::print("{}\n{}\n\n", recursions.text(terminal_width()),
             inked("Step-size rules: step = \"NAME\" or step = { rule = \"NAME\", ... }", Ink::bold));
  TextTable steps({{"name"}, {""}, {"needs"}, {"costs"}, {"options"}});
  for (const RuleEntry& rule : rules()) {
    steps.add({rule.name, rule.summary, rule.constant.empty() ? "" : "a tuned " + rule.constant, rule.cost,
               names_of(rule.options)});
  }
  fmt::print("{}\npolyhop methods NAME shows one in full.\n", steps.text(terminal_width()));
}

void show_all(bool json) {
  if (!json) return print_all();
  Json out = {{"algorithms", Json::array()}, {"rules", Json::array()}};
  for (const AlgorithmEntry& algorithm : algorithms()) out["algorithms"].push_back(to_json(algorithm));
  for (const RuleEntry& rule : rules()) out["rules"].push_back(to_json(rule));
  print_json(out);
}

// Whether one of the entries has the name; if so it is shown.
template <class Entries>
bool show_one(const Entries& entries, const MethodsArguments& arguments) {
  for (const auto& entry : entries) {
    if (entry.name != arguments.name) continue;
    if (arguments.json) {
      print_json(to_json(entry));
    } else {
      print(entry);
    }
    return true;
  }
  return false;
}

void methods_command(const MethodsArguments& arguments) {
  if (arguments.name.empty()) {
    show_all(arguments.json);
  } else if (!show_one(rules(), arguments) && !show_one(algorithms(), arguments)) {
    const auto names = all_names();
    throw InputError("", "no method is called " + in_quotes(arguments.name) + suggestion(arguments.name, names));
  }
  flush_output();
}

}  // namespace

void add_methods(CommandLine& line) {
  const auto arguments = std::make_shared<MethodsArguments>();
  Command methods = line.command("methods", "list algorithms and step-size rules, or show one with its options");
  methods.option("NAME", arguments->name, "an algorithm or a rule").suggests(all_names());
  methods.flag("--json", arguments->json, "print JSON");
  add_color(methods);
  methods.callback([arguments] {
    methods_command(*arguments);
    return done;
  });
}

}  // namespace polyhop::app

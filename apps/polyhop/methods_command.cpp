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
#include "polyhop/experiment/registry.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

struct MethodsArguments {
  std::string name;
  bool json = false;
};

std::vector<std::string> all_names(const Registry& registry) {
  std::vector<std::string> names;
  for (const AlgorithmEntry& algorithm : registry.algorithms()) names.push_back(algorithm.name);
  for (const RuleEntry& rule : registry.rules()) {
    if (std::ranges::find(names, rule.name) == names.end()) names.push_back(rule.name);  // auto is both
  }
  for (const LossEntry& loss : registry.losses()) names.push_back(loss.name);
  for (const ProblemEntry& problem : registry.problems()) names.push_back(problem.name);
  return names;
}

Value json_of(const std::vector<FieldInfo>& options) {
  Value::Array out;
  for (const FieldInfo& field : options) {
    out.push_back(Value::Table{{"name", field.name},
                               {"type", field.type},
                               {"constraint", field.constraint},
                               {"default", field.default_text},
                               {"help", field.help}});
  }
  return out;
}

Value json_of(const AlgorithmEntry& algorithm) {
  return Value::Table{{"name", algorithm.name},
                      {"summary", algorithm.summary},
                      {"cost", algorithm.cost},
                      {"steps", name_of(algorithm.takes)},
                      {"options", json_of(algorithm.options)}};
}

Value json_of(const RuleEntry& rule) {
  Value out = Value::Table{{"name", rule.name},
                           {"summary", rule.summary},
                           {"cost", rule.cost},
                           {"steps", name_of(rule.gives)},
                           {"options", json_of(rule.options)}};
  if (!rule.constant.empty()) out["constant"] = rule.constant;
  return out;
}

Value json_of(const LossEntry& loss) {
  return Value::Table{
      {"name", loss.name}, {"summary", loss.summary}, {"task", name_of(loss.task)}, {"options", json_of(loss.options)}};
}

Value json_of(const ProblemEntry& problem) {
  return Value::Table{{"name", problem.name}, {"summary", problem.summary}, {"options", json_of(problem.options)}};
}

template <class Entries>
Value all_json(const Entries& entries) {
  Value::Array out;
  for (const auto& entry : entries) out.push_back(json_of(entry));
  return out;
}

// Which steps an algorithm can take, in words.
std::string taken(Steps steps, const Registry& registry) {
  const std::vector<std::string> rules = rules_for(steps, registry.rules());
  switch (steps) {
    case Steps::constant:
      return fmt::format("one constant: {}", fmt::join(rules, ", "));
    case Steps::common:
      return fmt::format("common: {}", fmt::join(rules, ", "));
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

void print(const AlgorithmEntry& algorithm, const Registry& registry) {
  fmt::print("{}: {}\nCosts: {} an iteration and edge\nSteps: {}\n\nIn a [[method]]: algorithm = {}\n",
             inked(algorithm.name, Ink::bold), algorithm.summary, algorithm.cost, taken(algorithm.takes, registry),
             in_quotes(algorithm.name));
  if (!algorithm.options.empty()) {
    fmt::print("or algorithm = {{ name = {}, ... }} with\n", in_quotes(algorithm.name));
    print_options(algorithm.options);
  }
}

void print(const RuleEntry& rule, const Registry&) {
  fmt::print("{}: {}\nCosts: {}\n", inked(rule.name, Ink::bold), rule.summary, rule.cost);
  if (!rule.constant.empty()) {
    fmt::print("Needs a constant, `{}`; step = {{ rule = \"tuned\", of = {} }} searches it\n", rule.constant,
               in_quotes(rule.name));
  }
  fmt::print("\nIn a [[method]]: {}\n", example(rule));
  if (!rule.options.empty()) print_options(rule.options);
}

void print(const LossEntry& loss, const Registry&) {
  fmt::print("{}: {}\nFor: {}\n\nIn [problem]: loss = {}\n", inked(loss.name, Ink::bold), loss.summary,
             name_of(loss.task), in_quotes(loss.name));
  if (!loss.options.empty()) print_options(loss.options);
}

void print(const ProblemEntry& problem, const Registry&) {
  fmt::print("{}: {}\n\nIn [problem]: source = {}\n", inked(problem.name, Ink::bold), problem.summary,
             in_quotes(problem.name));
  if (!problem.options.empty()) print_options(problem.options);
}

void print_all(const Registry& registry) {
  fmt::print("{}\n\n",
             inked("Algorithms: algorithm = \"NAME\" or { name = \"NAME\", ... } in a [[method]]", Ink::bold));
  TextTable recursions({{"name"}, {""}, {"costs"}, {"steps"}, {"options"}});
  for (const AlgorithmEntry& algorithm : registry.algorithms()) {
    recursions.add({algorithm.name, algorithm.summary, algorithm.cost, taken(algorithm.takes, registry),
                    names_of(algorithm.options)});
  }
  fmt::print("{}\n{}\n\n", recursions.text(terminal_width()),
             inked("Step-size rules: step = \"NAME\" or step = { rule = \"NAME\", ... }", Ink::bold));
  TextTable steps({{"name"}, {""}, {"needs"}, {"costs"}, {"options"}});
  for (const RuleEntry& rule : registry.rules()) {
    steps.add({rule.name, rule.summary, rule.constant.empty() ? "" : "a tuned " + rule.constant, rule.cost,
               names_of(rule.options)});
  }
  fmt::print("{}\n{}\n\n", steps.text(terminal_width()), inked("Losses: loss = \"NAME\" in [problem]", Ink::bold));
  TextTable losses({{"name"}, {""}, {"for"}, {"options"}});
  for (const LossEntry& loss : registry.losses()) {
    losses.add({loss.name, loss.summary, name_of(loss.task), names_of(loss.options)});
  }
  fmt::print("{}\n", losses.text(terminal_width()));
  if (!registry.problems().empty()) {
    fmt::print("{}\n\n", inked("Problems: source = \"NAME\" in [problem]", Ink::bold));
    TextTable problems({{"name"}, {""}, {"options"}});
    for (const ProblemEntry& problem : registry.problems()) {
      problems.add({problem.name, problem.summary, names_of(problem.options)});
    }
    fmt::print("{}\n", problems.text(terminal_width()));
  }
  fmt::print("polyhop methods NAME shows one in full.\n");
}

void show_all(const Registry& registry, bool json) {
  if (!json) return print_all(registry);
  print_json(Value::Table{{"algorithms", all_json(registry.algorithms())},
                          {"rules", all_json(registry.rules())},
                          {"losses", all_json(registry.losses())},
                          {"problems", all_json(registry.problems())}});
}

// Whether one of the entries has the name; if so it is shown.
template <class Entries>
bool show_one(const Entries& entries, const MethodsArguments& arguments, const Registry& registry) {
  for (const auto& entry : entries) {
    if (entry.name != arguments.name) continue;
    if (arguments.json) {
      print_json(json_of(entry));
    } else {
      print(entry, registry);
    }
    return true;
  }
  return false;
}

void methods_command(const MethodsArguments& arguments, const Registry& registry) {
  if (arguments.name.empty()) {
    show_all(registry, arguments.json);
  } else if (!show_one(registry.rules(), arguments, registry) &&
             !show_one(registry.algorithms(), arguments, registry) &&
             !show_one(registry.losses(), arguments, registry) && !show_one(registry.problems(), arguments, registry)) {
    const auto names = all_names(registry);
    throw InputError("", "no method is called " + in_quotes(arguments.name) + suggestion(arguments.name, names));
  }
  flush_output();
}

}  // namespace

void add_methods(CommandLine& line) {
  const auto arguments = std::make_shared<MethodsArguments>();
  Command methods =
      line.command("methods", "list algorithms, step-size rules and losses, or show one with its options");
  methods.option("NAME", arguments->name, "an algorithm, a rule or a loss").suggests(all_names(line.registry()));
  methods.flag("--json", arguments->json, "print JSON");
  add_color(methods);
  methods.callback([arguments, &registry = line.registry()] {
    methods_command(*arguments, registry);
    return done;
  });
}

}  // namespace polyhop::app

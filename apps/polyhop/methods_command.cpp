// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop methods: every algorithm and step-size rule, read from the tables that experiments are built from.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
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

// As a table if every row fits on a line, otherwise one option below the other.
void print_options(const std::vector<FieldInfo>& options) {
  constexpr Index indent = 4;
  TextTable table({{"option"}, {"value"}, {"default"}, {"meaning"}});
  std::string list;
  for (const FieldInfo& field : options) {
    const std::string value = field.type + (field.constraint.empty() ? "" : " " + field.constraint);
    table.add({field.name, value, field.default_text, field.help});
    const std::string head = fmt::format("{}: {} (default: {})", field.name, value, field.default_text);
    list += paragraph(head, output_width(), indent) +
            paragraph(std::string(indent, ' ') + field.help, output_width(), indent);
  }
  fmt::print("\n{}", table.text() == table.text(output_width()) ? table.text(0, wants_color()) : list);
}

// The example must show the options without a default, and a constant that the user has to choose.
std::string example(const RuleEntry& rule) {
  std::string required;
  for (const FieldInfo& field : rule.options) {
    if (field.default_text == "required" || field.name == rule.constant) required += ", " + field.name + " = ...";
  }
  return required.empty() ? "step = " + in_quotes(rule.name)
                          : fmt::format("step = {{ rule = {}{} }}", in_quotes(rule.name), required);
}

void print_title(const std::string& name, const std::string& summary) {
  say_inked(fmt::format("{}: {}", name, summary), Ink::bold);
}

void print(const AlgorithmEntry& algorithm, const Registry& registry) {
  say("Costs per edge and iteration: " + algorithm.cost);
  say("Steps: " + taken(algorithm.takes, registry));
  say("\nIn a [[method]]: algorithm = " + in_quotes(algorithm.name));
  if (algorithm.options.empty()) return;
  say(fmt::format("or algorithm = {{ name = {}, ... }} with", in_quotes(algorithm.name)));
  print_options(algorithm.options);
}

void print(const RuleEntry& rule, const Registry&) {
  say("Costs: " + rule.cost);
  if (!rule.constant.empty()) {
    say(fmt::format("Needs a constant, `{}`; step = {{ rule = \"tuned\", of = {} }} searches for it", rule.constant,
                    in_quotes(rule.name)));
  }
  say("\nIn a [[method]]: " + example(rule));
  if (!rule.options.empty()) print_options(rule.options);
}

void print(const LossEntry& loss, const Registry&) {
  say("For: " + name_of(loss.task) + "\n\nIn [problem]: loss = " + in_quotes(loss.name));
  if (!loss.options.empty()) print_options(loss.options);
}

void print(const ProblemEntry& problem, const Registry&) {
  say("\nIn [problem]: source = " + in_quotes(problem.name));
  if (!problem.options.empty()) print_options(problem.options);
}

// Entries below each other, with what else there is to say about each under its summary.
class Overview {
 public:
  explicit Overview(std::string title) : title_(std::move(title)) {}

  using Facts = std::vector<std::pair<const char*, std::string>>;
  void add(const std::string& name, const std::string& summary, const Facts& facts) {
    table_.add({name, summary});
    std::string text;
    for (const auto& [label, fact] : facts) {
      if (!fact.empty()) text += (text.empty() ? "" : ". ") + fmt::format("{}: {}", label, fact);
    }
    if (!text.empty()) table_.add({"", text + "."});
  }

  void print() const {
    say_inked(title_, Ink::bold);
    fmt::print("\n{}\n", table_.text(output_width(), wants_color()));
  }

 private:
  std::string title_;
  TextTable table_{{{"name"}, {"what it is"}}};
};

constexpr const char* what_costs_count =
    "Costs are per iteration. Vectors and scalars are what an agent sends to each neighbour; loss values and gradients "
    "are what it evaluates besides its own gradient.";

void print_all(const Registry& registry) {
  Overview algorithms("Algorithms: algorithm = \"NAME\" or { name = \"NAME\", ... } in a [[method]]");
  for (const AlgorithmEntry& algorithm : registry.algorithms()) {
    algorithms.add(algorithm.name, algorithm.summary,
                   {{"Costs", algorithm.cost},
                    {"Steps", taken(algorithm.takes, registry)},
                    {"Options", names_of(algorithm.options)}});
  }
  algorithms.print();
  Overview rules("Step-size rules: step = \"NAME\" or step = { rule = \"NAME\", ... }");
  for (const RuleEntry& rule : registry.rules()) {
    rules.add(rule.name, rule.summary,
              {{"Costs", rule.cost},
               {"Needs", rule.constant.empty() ? "" : "a tuned " + rule.constant},
               {"Options", names_of(rule.options)}});
  }
  rules.print();
  Overview losses("Losses: loss = \"NAME\" in [problem]");
  for (const LossEntry& loss : registry.losses()) {
    losses.add(loss.name, loss.summary, {{"For", name_of(loss.task)}, {"Options", names_of(loss.options)}});
  }
  losses.print();
  if (!registry.problems().empty()) {
    Overview problems("Problems: source = \"NAME\" in [problem]");
    for (const ProblemEntry& problem : registry.problems()) {
      problems.add(problem.name, problem.summary, {{"Options", names_of(problem.options)}});
    }
    problems.print();
  }
  say(what_costs_count);
  say("`polyhop methods NAME` shows one in full; docs/methods.md has the formulas.");
}

void show_all(const Registry& registry, bool json) {
  if (!json) return print_all(registry);
  print_json(Value::Table{{"algorithms", all_json(registry.algorithms())},
                          {"rules", all_json(registry.rules())},
                          {"losses", all_json(registry.losses())},
                          {"problems", all_json(registry.problems())}});
}

// What has the name that is asked for. A name may be that of a rule and of an algorithm, as `auto` is.
class Named {
 public:
  template <class Entries>
  void find(const Entries& entries, const char* kind, const std::string& name, const Registry& registry) {
    for (const auto& entry : entries) {
      if (entry.name != name) continue;
      found_.push_back({kind, name, entry.summary, json_of(entry), [&] { print(entry, registry); }});
    }
  }

  [[nodiscard]] bool empty() const { return found_.empty(); }

  /// Several are shown one below the other, each with its kind.
  void print_all() const {
    for (const Found& each : found_) {
      if (&each != &found_.front()) say("");
      print_title(found_.size() > 1 ? fmt::format("{} ({})", each.name, each.kind) : each.name, each.summary);
      each.print();
    }
  }

  /// The first as it is; others are in it under their kinds.
  [[nodiscard]] Value json() const {
    Value out = found_.front().json;
    for (const Found& each : found_) {
      if (&each != &found_.front()) out[each.kind] = each.json;
    }
    return out;
  }

 private:
  struct Found {
    std::string kind, name, summary;
    Value json;
    std::function<void()> print;
  };
  std::vector<Found> found_;
};

void show_named(const std::string& name, bool json, const Registry& registry) {
  Named named;
  named.find(registry.rules(), "rule", name, registry);
  named.find(registry.algorithms(), "algorithm", name, registry);
  named.find(registry.losses(), "loss", name, registry);
  named.find(registry.problems(), "problem", name, registry);
  if (named.empty()) {
    throw InputError("", "no method is called " + in_quotes(name) + suggestion(name, all_names(registry)));
  }
  if (json) return print_json(named.json());
  named.print_all();
}

void methods_command(const MethodsArguments& arguments, const Registry& registry) {
  if (arguments.name.empty()) {
    show_all(registry, arguments.json);
  } else {
    show_named(arguments.name, arguments.json, registry);
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

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "commands.hpp"
#include "help_text.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/core/words.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

// "a|b|c" names its values; anything else is a description.
std::vector<std::string> choices_of(const std::string& type) {
  if (type.find('|') == std::string::npos || type.find_first_of(" \"") != std::string::npos) return {};
  std::vector<std::string> out;
  std::istringstream parts(type);
  for (std::string part; std::getline(parts, part, '|');) out.push_back(part);
  return out;
}

ArgumentInfo info_of(const CLI::Option& option, const Completions& completions) {
  ArgumentInfo info;
  if (const auto found = completions.find(&option); found != completions.end()) info.beginnings = found->second;
  info.group = option.get_group();
  info.positional = option.get_positional();
  if (info.positional) {
    info.names = {option.get_name()};
  } else {
    for (const auto& name : option.get_snames()) info.names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) info.names.push_back("--" + name);
  }
  if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    info.value = type.substr(0, type.find(':'));  // what follows a colon was added by validators
    info.choices = choices_of(info.value);
  }
  info.help = option.get_description();
  info.required = option.get_required();
  info.repeats = option.get_items_expected_max() > 1;
  return info;
}

CommandInfo info_of(const CLI::App& command, const std::string& name, const Completions& completions) {
  CommandInfo info{name, command.get_description(), {}};
  for (const CLI::Option* option : command.get_options()) info.arguments.push_back(info_of(*option, completions));
  return info;
}

// Where a newcomer may have learnt another word for a command.
std::string known_as(const std::string& word) {
  static const std::map<std::string, std::string> commands = {
      {"plot", "report"},   {"show", "report"},    {"figure", "report"}, {"train", "fit"},
      {"test", "evaluate"}, {"score", "evaluate"}, {"new", "init"},      {"create", "init"},
      {"start", "init"},    {"validate", "check"}, {"compare", "run"},   {"list", "methods"},
      {"rules", "methods"}, {"datasets", "data"},  {"draw", "graph"},    {"version", "--version"}};
  const auto found = commands.find(word);
  return found == commands.end() ? "" : "; did you mean `polyhop " + found->second + "`?";
}

// How to set a key of an experiment that was given as a flag, where the command can; else "".
std::string set_instead(const CLI::App& command, const std::string& flag, const Completions& completions) {
  std::string key = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  std::ranges::replace(key, '-', '_');
  const CLI::Option* set = command.get_option_no_throw("--set");
  const auto found = set != nullptr ? completions.find(set) : completions.end();
  if (found == completions.end() || key.empty()) return "";
  for (const std::string& beginning : found->second) {
    if (beginning == key + "=" || beginning.ends_with("." + key + "=")) {
      return "; to change this key, write --set " + beginning + "VALUE";
    }
  }
  return "";
}

// The required argument that is not there, with what it is.
std::string missing_argument(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    const std::string values = option->get_type_name();
    return option->get_name() + " is missing: " + option->get_description() +
           (values.find('|') == std::string::npos ? "" : ", " + values);
  }
  return "";
}

// The only flag that begins with the letter of a short one, in small or capital: `-v` may mean `--version`; else "".
std::string spelt_out(const std::string& flag, const std::vector<std::string>& names) {
  if (flag.size() != 2 || std::isalpha(static_cast<unsigned char>(flag[1])) == 0) return "";
  const std::string beginning = {'-', '-', static_cast<char>(std::tolower(static_cast<unsigned char>(flag[1])))};
  const auto fits = [&](const std::string& name) { return name.starts_with(beginning); };
  return std::ranges::count_if(names, fits) == 1 ? *std::ranges::find_if(names, fits) : "";
}

// What is wrong with the arguments; for a command or flag that does not exist, with the nearest that does.
std::string usage_message(const CLI::App& app, const Completions& completions, const std::string& otherwise) {
  const std::vector<std::string> unknown = app.remaining(true);
  const auto chosen = app.get_subcommands();
  // What stands before the name of a command was meant as one.
  if (const auto before = app.remaining(false); !before.empty() && !before.front().starts_with('-')) {
    std::vector<std::string> names;
    for (const auto* subcommand : app.get_subcommands({})) names.push_back(subcommand->get_name());
    const std::string& word = before.front();
    const std::string other = nearest_name(word, names).empty() ? known_as(word) : "";
    return "unknown command '" + word + "'" + (other.empty() ? suggestion(word, names) : other);
  }
  if (chosen.empty() && unknown.empty()) return "a command is missing";
  std::vector<std::string> names;
  for (const auto* option : (chosen.empty() ? app : *chosen.front()).get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const auto& argument : unknown) {
    const std::string name = argument.substr(0, argument.find('='));
    if (argument.size() > 1 && argument.starts_with('-')) {
      // The end of a key's name may be a flag mistyped: `--seed` means `--seeds`, not graph.seed.
      const std::string near = nearest_name(name, names);
      const std::string key =
          chosen.empty() || near.starts_with(name) ? "" : set_instead(*chosen.front(), name, completions);
      const std::string unknown_flag = "unknown flag '" + name + "'";
      if (!key.empty()) return unknown_flag + key;
      const std::string longer = spelt_out(name, names);
      return unknown_flag + (longer.empty() ? suggestion(name, names) : "; did you mean '" + longer + "'?");
    }
  }
  return otherwise;
}

// Rejects other values with our own message: CLI11's shows bounds with all their digits, and does not tell text from
// numbers out of range.
void expect(CLI::Option& option, const std::string& what, const std::function<bool(double)>& good) {
  option.check([what, good](const std::string& text) {
    double x = 0;
    const bool is_number = CLI::detail::lexical_cast(text, x);
    return is_number && good(x) ? "" : "found '" + text + "', expected " + what;
  });
}

}  // namespace

Argument& Argument::required() {
  option_->required();
  return *this;
}

Argument& Argument::within(int lowest, int highest) {
  expect(*option_, "an integer from " + std::to_string(lowest) + " to " + std::to_string(highest),
         [=](double x) { return x == std::floor(x) && x >= lowest && x <= highest; });
  return *this;
}

Argument& Argument::within(double lowest, double highest) {
  expect(*option_, "a number from " + shortest(lowest) + " to " + shortest(highest),
         [=](double x) { return x >= lowest && x <= highest; });
  return *this;
}

Argument& Argument::positive() {
  expect(*option_, "a number > 0", [](double x) { return x > 0; });
  return *this;
}

Argument& Argument::non_negative() {
  expect(*option_, "a number >= 0", [](double x) { return x >= 0; });
  return *this;
}

Argument& Argument::one_of(const std::vector<std::string>& names) {
  option_->check([names](const std::string& text) {
    return std::ranges::find(names, text) != names.end() ? ""
                                                         : "unknown value '" + text + "'" + suggestion(text, names);
  });
  return suggests(names);
}

Argument& Argument::suggests(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : "|") + name;
  return takes(all);
}

Argument& Argument::begins_with(const std::vector<std::string>& beginnings) {
  (*completions_)[option_] = beginnings;
  return *this;
}

Argument& Argument::takes(const std::string& what) {
  option_->type_name(what);
  return *this;
}

Argument& Argument::writes(const std::string& what) {
  option_->check([what](const std::string& text) {
    const std::string thing = what == "DIR" ? "folder" : "file";
    return text == "-" ? "found '-'; this cannot go to the standard output, so name a " + thing : "";
  });
  return takes(what);
}

Argument& Argument::grouped(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Argument Command::option(const std::string& names, std::string& value, const std::string& help) {
  return {*app_->add_option(names, value, help), *completions_};
}

Argument Command::option(const std::string& names, std::optional<std::string>& value, const std::string& help) {
  return {*app_->add_option(names, value, help), *completions_};
}

Argument Command::option(const std::string& names, Index& value, const std::string& help) {
  return {*app_->add_option(names, value, help)->type_name("INTEGER"), *completions_};
}

Argument Command::option(const std::string& names, std::optional<Index>& value, const std::string& help) {
  return {*app_->add_option(names, value, help)->type_name("INTEGER"), *completions_};
}

Argument Command::option(const std::string& names, double& value, const std::string& help) {
  return {*app_->add_option(names, value, help)->type_name("NUMBER"), *completions_};
}

Argument Command::option(const std::string& names, std::optional<double>& value, const std::string& help) {
  return {*app_->add_option(names, value, help)->type_name("NUMBER"), *completions_};
}

Argument Command::option(const std::string& names, std::vector<std::string>& values, const std::string& help) {
  CLI::Option& option = *app_->add_option(names, values, help);
  if (!option.get_positional()) option.allow_extra_args(false);
  return {option, *completions_};
}

Argument Command::option(const std::string& names, const std::function<void(const std::string&)>& take,
                         const std::string& help) {
  // A validator takes the value, since validators are what can refuse one with words of their own.
  const auto refusal = [take](const std::string& text) -> std::string {
    try {
      take(text);
      return "";
    } catch (const InputError& e) {
      return e.what();
    }
  };
  const auto nothing_more = [](const std::string&) {};
  return {*app_->add_option_function<std::string>(names, nothing_more, help)->check(refusal), *completions_};
}

void Command::flag(const std::string& names, bool& value, const std::string& help) {
  app_->add_flag(names, value, help);
}

void Command::flag(const std::string& names, const std::function<void()>& work, const std::string& help) {
  app_->add_flag_callback(names, work, help);
}

void Command::callback(const std::function<int()>& work) {
  app_->callback([work, code = code_] { *code = work(); });
}

CommandLine::CommandLine(const std::string& help, const std::string& version, const Registry& registry)
    : app_(std::make_unique<CLI::App>(help)), registry_(&registry) {
  app_->set_help_flag("-h,--help", "print this help and exit");
  app_->set_version_flag("--version", version, "print the version and exit");
  app_->require_subcommand(1);
  // Commands take over the program's way to show help.
  app_->formatter_fn([this](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
    return this->help(app == app_.get() ? "" : app->get_name());
  });
}

CommandLine::~CommandLine() = default;

Command CommandLine::command(const std::string& name, const std::string& help) {
  return {*app_->add_subcommand(name, help), code_, hints_[name], completions_};
}

void CommandLine::flag(const std::string& name, const std::function<void()>& work, const std::string& help) {
  const auto work_and_end = [work] {
    work();
    throw CLI::Success();
  };
  app_->add_flag_callback(name, work_and_end, help);
}

std::string CommandLine::help(const std::string& command) const {
  const std::vector<CommandInfo> all = tree();
  const auto found = std::ranges::find(all, command, &CommandInfo::name);
  if (found == all.end()) {
    std::vector<std::string> names;
    for (const CommandInfo& info : all) names.push_back(info.name);
    throw UsageError("unknown command '" + command + "'" + suggestion(command, std::span(names).subspan(1)));
  }
  return help_text(*found, all, output_width());
}

std::string CommandLine::first_steps() const {
  const std::vector<CommandInfo> all = tree();
  std::string out = complaint("a command is missing. To start:");
  for (const auto& [command, usage] : {std::pair("init", "  polyhop init        "),
                                       {"run", "  polyhop run FILE    "},
                                       {"fit", "  polyhop fit DATA    "}}) {
    const auto found = std::ranges::find(all, command, &CommandInfo::name);
    out += paragraph(usage + found->help, error_width(), static_cast<Index>(std::string_view(usage).size()));
  }
  return out + paragraph("`polyhop --help` lists all commands.", error_width());
}

std::vector<CommandInfo> CommandLine::tree() const {
  std::vector<CommandInfo> out = {info_of(*app_, "", completions_)};
  for (const CLI::App* command : app_->get_subcommands({})) {
    out.push_back(info_of(*command, command->get_name(), completions_));
  }
  return out;
}

// CLI11's complaint as a message of our own.
std::string CommandLine::message_of(const CLI::ParseError& error) const {
  std::string text = error.what();
  const auto chosen = app_->get_subcommands();
  if (chosen.empty()) return text;
  const CLI::App& command = *chosen.front();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto hint = hints_.find(command.get_name());
    text = "unexpected:";
    for (const std::string& argument : app_->remaining(true)) text += " " + argument;
    return text + (hint == hints_.end() || hint->second.empty() ? "" : "; " + hint->second);
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const std::string missing = missing_argument(command);
    return missing.empty() ? text : missing;
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string name = text.substr(0, text.find(':'));
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option != nullptr && option->count() > 1) {
      return name + " was given " + count_of(static_cast<Index>(option->count()), "time") + "; give it once";
    }
    if (option != nullptr) {
      const ArgumentInfo info = info_of(*option, completions_);
      return name + " needs a value: " + (info.choices.empty() ? info.value : series(info.choices, "or"));
    }
  }
  return text;
}

int CommandLine::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app_->exit(e);  // --help and the like
    if (argc == 1) {
      tell(first_steps());
      return usage_error;
    }
    throw UsageError(usage_message(*app_, completions_, message_of(e)));
  }
  return code_;
}

}  // namespace polyhop::app

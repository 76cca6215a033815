// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>

#include "help_text.hpp"
#include "polyhop/core/value.hpp"
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

// What is wrong with the arguments; for a command or flag that does not exist, with the nearest that does.
std::string usage_message(const CLI::App& app, const std::string& otherwise) {
  const std::vector<std::string> unknown = app.remaining(true);
  const auto chosen = app.get_subcommands();
  if (chosen.empty() && !unknown.empty() && !unknown.front().starts_with('-')) {
    std::vector<std::string> names;
    for (const auto* subcommand : app.get_subcommands({})) names.push_back(subcommand->get_name());
    return "unknown command '" + unknown.front() + "'" + suggestion(unknown.front(), names);
  }
  if (chosen.empty() && unknown.empty()) return "a command is missing";
  std::vector<std::string> names;
  for (const auto* option : (chosen.empty() ? app : *chosen.front()).get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const auto& argument : unknown) {
    const std::string name = argument.substr(0, argument.find('='));
    if (argument.size() > 1 && argument.starts_with('-'))
      return "unknown flag '" + name + "'" + suggestion(name, names);
  }
  return otherwise;
}

// Refuses other values, in words of ours: CLI11's name the bounds with all their digits, and the same for no number.
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
  return {*app_->add_option(names, value, help), *completions_};
}

Argument Command::option(const std::string& names, std::optional<Index>& value, const std::string& help) {
  return {*app_->add_option(names, value, help), *completions_};
}

Argument Command::option(const std::string& names, double& value, const std::string& help) {
  return {*app_->add_option(names, value, help), *completions_};
}

Argument Command::option(const std::string& names, std::optional<double>& value, const std::string& help) {
  return {*app_->add_option(names, value, help), *completions_};
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

std::vector<CommandInfo> CommandLine::tree() const {
  std::vector<CommandInfo> out = {info_of(*app_, "", completions_)};
  for (const CLI::App* command : app_->get_subcommands({})) {
    out.push_back(info_of(*command, command->get_name(), completions_));
  }
  return out;
}

int CommandLine::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app_->exit(e);  // --help and the like
    const auto chosen = app_->get_subcommands();
    const bool too_many = dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr && !chosen.empty();
    const std::string hint = too_many ? hints_[chosen.front()->get_name()] : "";
    throw UsageError(usage_message(*app_, e.what() + (hint.empty() ? "" : "; " + hint)));
  }
  return code_;
}

}  // namespace polyhop::app

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/index.hpp"

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace polyhop {
class Registry;
}

// The arguments of the program and of its commands. CLI11 reads them, which command_line.cpp alone includes: it takes
// long to compile.
namespace polyhop::app {

/// An unknown command or flag, or a missing or rejected value.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// What shells offer as the value of an argument, if that is not what the help lists.
using Completions = std::map<const CLI::Option*, std::vector<std::string>>;

/// A flag with a value, or a positional argument, while it is registered: its further properties.
class Argument {
 public:
  Argument(CLI::Option& option, Completions& completions) : option_(&option), completions_(&completions) {}

  Argument& required();
  Argument& within(int lowest, int highest);
  Argument& within(double lowest, double highest);
  Argument& positive();
  Argument& non_negative();
  Argument& one_of(const std::vector<std::string>& names);
  /// Names for help and completion; other values are accepted, too.
  Argument& suggests(const std::vector<std::string>& names);
  /// Beginnings of values, for completion only: "graph.topology=", and "graph.topology=ring" if a key's values have
  /// names.
  Argument& begins_with(const std::vector<std::string>& beginnings);
  /// The value's name in the help.
  Argument& takes(const std::string& what);
  /// The same for the name of a file or folder to write, which - is not.
  Argument& writes(const std::string& what);
  /// Puts it under a separate heading in the help.
  Argument& grouped(const std::string& heading);

 private:
  CLI::Option* option_;
  Completions* completions_;
};

/// A command while it is registered. "-o,--output" names a flag, "FILE" a positional argument. Values are written when
/// the arguments are read, right before the callback is called: both must live until then.
class Command {
 public:
  Command(CLI::App& app, int& code, std::string& hint, Completions& completions)
      : app_(&app), code_(&code), hint_(&hint), completions_(&completions) {}

  Argument option(const std::string& names, std::string& value, const std::string& help);
  Argument option(const std::string& names, std::optional<std::string>& value, const std::string& help);
  Argument option(const std::string& names, Index& value, const std::string& help);
  Argument option(const std::string& names, std::optional<Index>& value, const std::string& help);
  Argument option(const std::string& names, double& value, const std::string& help);
  Argument option(const std::string& names, std::optional<double>& value, const std::string& help);
  /// A flag may be given again, with one value each time; a positional argument takes many.
  Argument option(const std::string& names, std::vector<std::string>& values, const std::string& help);
  /// Calls `take` with the value; if that throws InputError, it is reported as a usage error.
  Argument option(const std::string& names, const std::function<void(const std::string&)>& take,
                  const std::string& help);
  void flag(const std::string& names, bool& value, const std::string& help);
  /// Does `work` if the flag is given.
  void flag(const std::string& names, const std::function<void()>& work, const std::string& help);

  /// The hint in the message about too many positional arguments.
  void instead_of_more(const std::string& hint) { *hint_ = hint; }
  /// Does the command's work and returns the exit code.
  void callback(const std::function<int()>& work);

 private:
  CLI::App* app_;
  int* code_;
  std::string* hint_;
  Completions* completions_;
};

/// A flag or a positional argument, as completions and the manual page show it.
struct ArgumentInfo {
  std::vector<std::string> names;       // "-o", "--output"; of a positional its one name
  std::string value;                    // what it takes, in words; empty when nothing
  std::vector<std::string> choices;     // the values it takes, where they have names
  std::vector<std::string> beginnings;  // what its values begin with, for completions
  std::string help;
  std::string group;  // its heading in the help
  bool positional = false;
  bool required = false;
  bool repeats = false;  // may be given more than once
};

struct CommandInfo {
  std::string name;  // empty for the program itself
  std::string help;
  std::vector<ArgumentInfo> arguments;
};

class CommandLine {
 public:
  /// `registry`: what the commands can name; it lives as long as they do.
  CommandLine(const std::string& help, const std::string& version, const Registry& registry);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  [[nodiscard]] const Registry& registry() const { return *registry_; }

  Command command(const std::string& name, const std::string& help);
  /// A flag of the program itself, such as --version, which does its work instead of a command.
  void flag(const std::string& name, const std::function<void()>& work, const std::string& help);

  /// The help of a command or, if the name is empty, of the program, in lines that fit. Throws UsageError if there is
  /// no such command.
  [[nodiscard]] std::string help(const std::string& command) const;

  /// What is registered: the program first, then its commands.
  [[nodiscard]] std::vector<CommandInfo> tree() const;

  /// Reads the arguments, does what they ask for, and returns the exit code. Throws UsageError.
  int run(int argc, char** argv);

 private:
  /// The message if no command is given: the three to start with.
  [[nodiscard]] std::string first_steps() const;
  [[nodiscard]] std::string message_of(const CLI::ParseError& error) const;

  std::unique_ptr<CLI::App> app_;
  const Registry* registry_;
  int code_ = 0;
  Completions completions_;
  std::map<std::string, std::string> hints_;  // of commands, instead of more arguments
};

}  // namespace polyhop::app

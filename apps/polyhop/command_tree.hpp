// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace polyhop::app {

/// A flag or a positional argument, as completions and the manual page tell it.
struct ArgumentInfo {
  std::vector<std::string> names;    // "-o", "--output"; of a positional its one name
  std::string value;                 // what it takes, in words; empty when nothing
  std::vector<std::string> choices;  // the values it takes, where they have names
  std::string help;
  bool positional = false;
  bool required = false;
  bool repeats = false;  // may be given more than once
};

struct CommandInfo {
  std::string name;  // empty for the program itself
  std::string help;
  std::vector<ArgumentInfo> arguments;
};

/// What is registered: the program first, then its commands.
std::vector<CommandInfo> command_tree(const CLI::App& app);

/// The manual page of the program, in roff.
std::string manual_page(const CLI::App& app);

}  // namespace polyhop::app

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "command_tree.hpp"

#include <sstream>

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

ArgumentInfo info_of(const CLI::Option& option) {
  ArgumentInfo info;
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

CommandInfo info_of(const CLI::App& command, const std::string& name) {
  CommandInfo info{name, command.get_description(), {}};
  for (const CLI::Option* option : command.get_options()) info.arguments.push_back(info_of(*option));
  return info;
}

}  // namespace

std::vector<CommandInfo> command_tree(const CLI::App& app) {
  std::vector<CommandInfo> tree = {info_of(app, "")};
  for (const CLI::App* command : app.get_subcommands({})) tree.push_back(info_of(*command, command->get_name()));
  return tree;
}

}  // namespace polyhop::app

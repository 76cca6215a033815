// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "polyhop/experiment/toml_reader.hpp"

namespace polyhop::app {

/// The flags that change keys of an experiment file.
struct KeyArguments {
  std::vector<std::string> set;
  std::optional<std::string> seeds;
};

/// Registers --set, with its help, and --seeds.
void add_keys(Command& command, KeyArguments& arguments, const std::string& set_help);

/// What shells offer after --set: every key of an experiment, or only those of its network, and values that have names.
std::vector<std::string> setting_beginnings();
std::vector<std::string> graph_setting_beginnings();

/// The changes, each with its flag for messages; --seeds comes last.
std::vector<KeySetting> settings_of(const KeyArguments& arguments);

}  // namespace polyhop::app

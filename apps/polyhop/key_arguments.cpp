// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "key_arguments.hpp"

namespace polyhop::app {

void add_keys(Command& command, KeyArguments& arguments, const std::string& set_help) {
  command.option("--set", arguments.set, set_help);
  command.option("--seeds", arguments.seeds, "instead of the file's: 3, \"[1, 5]\" or 0..19");
}

std::vector<KeySetting> settings_of(const KeyArguments& arguments) {
  std::vector<KeySetting> settings(arguments.set.begin(), arguments.set.end());
  if (arguments.seeds) settings.emplace_back("seeds=" + *arguments.seeds, "--seeds " + *arguments.seeds);
  return settings;
}

}  // namespace polyhop::app

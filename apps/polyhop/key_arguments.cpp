// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "key_arguments.hpp"

#include "option_flags.hpp"
#include "polyhop/experiment/config.hpp"

namespace polyhop::app {

namespace {

// "graph.agents=" and so on, for all keys that are not inside of methods; behind each key whose values have names,
// "graph.topology=ring" and so on.
void add_beginnings(const std::vector<FieldInfo>& fields, const std::string& path, std::vector<std::string>& out) {
  for (const FieldInfo& field : fields) {
    const std::string key = path + field.name + "=";
    if (field.fields.empty()) out.push_back(key);
    if (!field.type.starts_with("list")) {
      for (const std::string& name : names_in(field.type)) out.push_back(key + name);
    }
    add_beginnings(field.fields, path + field.name + ".", out);
  }
}

}  // namespace

std::vector<std::string> setting_beginnings() {
  std::vector<std::string> out;
  add_beginnings(ExperimentOptions::fields().info(), "", out);
  out.emplace_back("method.");
  return out;
}

std::vector<std::string> graph_setting_beginnings() {
  std::vector<std::string> out;
  add_beginnings(GraphOptions::fields().info(), "graph.", out);
  return out;
}

void add_keys(Command& command, KeyArguments& arguments, const std::string& set_help) {
  command.option("--set", arguments.set, set_help).takes("KEY=VALUE").begins_with(setting_beginnings());
  command.option("--seeds", arguments.seeds, "use these instead of the file's: 3, \"[1, 5]\" or 0..19");
}

std::vector<KeySetting> settings_of(const KeyArguments& arguments) {
  std::vector<KeySetting> settings(arguments.set.begin(), arguments.set.end());
  if (arguments.seeds) settings.emplace_back("seeds=" + *arguments.seeds, "--seeds " + *arguments.seeds);
  return settings;
}

}  // namespace polyhop::app

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop help: what --help says, as many people ask for it.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "terminal.hpp"

namespace polyhop::app {

void add_help(CommandLine& line) {
  const auto command = std::make_shared<std::string>();
  std::vector<std::string> names;
  const std::vector<CommandInfo> tree = line.tree();
  for (std::size_t n = 1; n < tree.size(); ++n) names.push_back(tree[n].name);
  Command help = line.command("help", "show what a command does and its options");
  help.option("COMMAND", *command, "which one (default: list all)").suggests(names);
  help.callback([command, &line] {
    fmt::print("{}", line.help(*command));
    flush_output();
    return done;
  });
}

}  // namespace polyhop::app

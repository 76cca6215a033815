// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "help_text.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "polyhop/report/text_table.hpp"

namespace polyhop::app {
namespace {

constexpr Index left_edge = 2;
constexpr std::size_t longest_choices = 24;  // in the column of names; longer ones are listed in the text

// "-o,--output TEXT", "FILE..."
std::string head_of(const ArgumentInfo& argument) {
  std::string out = fmt::format("{}", fmt::join(argument.names, ","));
  if (argument.positional) return out + (argument.repeats ? "..." : "");
  if (argument.value.empty()) return out;
  const bool is_list = !argument.choices.empty() && argument.value.size() > longest_choices;
  return out + " " + (is_list ? "NAME" : argument.value);
}

std::string text_of(const ArgumentInfo& argument) {
  const bool is_shown = !argument.positional && argument.value.size() <= longest_choices;
  if (argument.choices.empty() || is_shown) return argument.help;
  const auto explained = [&](const std::string& choice) {
    return argument.help.find(choice + ": ") != std::string::npos;
  };
  if (std::ranges::all_of(argument.choices, explained)) return argument.help;
  // Before what is said of the default.
  const std::size_t end = std::min(argument.help.rfind(" (default: "), argument.help.size());
  const std::string text = argument.help.substr(0, end);
  return fmt::format("{}{}{}{}", text, text.find(':') == std::string::npos ? ": " : "; one of ",
                     fmt::join(argument.choices, ", "), argument.help.substr(end));
}

// A name, and beside it, or below one that is too long, what it is.
std::string help_entry(const std::string& head, const std::string& text, Index width) {
  const Index column = std::clamp<Index>(width / 3, 12, 28);
  const std::string beside = std::string(left_edge, ' ') + head;
  const Index used = display_width(beside);
  if (used + 2 > column) {
    return paragraph(beside, width, left_edge + 2) + paragraph(std::string(column, ' ') + text, width, column);
  }
  return paragraph(beside + std::string(column - used, ' ') + text, width, column);
}

std::string usage(const CommandInfo& command) {
  std::string out = "Usage: polyhop " + (command.name.empty() ? "COMMAND" : command.name) + " [OPTIONS]";
  for (const ArgumentInfo& argument : command.arguments) {
    if (!argument.positional) continue;
    const std::string name = argument.names.front() + (argument.repeats ? "..." : "");
    out += " " + (argument.required ? name : "[" + name + "]");
  }
  return out;
}

}  // namespace

std::string help_text(const CommandInfo& command, const std::vector<CommandInfo>& tree, Index width) {
  std::string out = paragraph(command.help, width) + "\n" + paragraph(usage(command), width, 4);
  std::vector<std::string> groups;  // in the order in which they come
  for (const ArgumentInfo& argument : command.arguments) {
    const std::string group = argument.positional ? "Arguments" : argument.group;
    if (std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  std::ranges::stable_sort(groups, {}, [](const std::string& group) { return group == "Arguments" ? 0 : 1; });
  for (const std::string& group : groups) {
    out += "\n" + group + ":\n";
    for (const ArgumentInfo& argument : command.arguments) {
      if ((argument.positional ? "Arguments" : argument.group) != group) continue;
      out += help_entry(head_of(argument), text_of(argument), width);
    }
  }
  if (!command.name.empty()) return out;
  out += "\nCommands:\n";
  for (std::size_t n = 1; n < tree.size(); ++n) out += help_entry(tree[n].name, tree[n].help, width);
  return out + "\n" + paragraph("`polyhop help COMMAND` shows the options of a command.", width);
}

}  // namespace polyhop::app

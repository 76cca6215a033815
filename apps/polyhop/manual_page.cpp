// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "manual_page.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace polyhop::app {
namespace {

// A text without meaning for roff: hyphens that can be copied, no escapes, no requests.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '|') {
      out += "|\\:";  // a line may be broken here
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string in_square(const std::string& text) { return "[" + text + "]"; }

std::string synopsis(const CommandInfo& command) {
  std::string out = bold("polyhop " + command.name) + " " + in_square(italic("options"));
  for (const ArgumentInfo& argument : command.arguments) {
    if (!argument.positional) continue;
    const std::string name = italic(argument.names.front()) + (argument.repeats ? " ..." : "");
    out += " " + (argument.required ? name : in_square(name));
  }
  return out;
}

std::string entry(const ArgumentInfo& argument) {
  std::string head;
  for (const std::string& name : argument.names) {
    head += (head.empty() ? "" : ", ") + (argument.positional ? italic(name) : bold(name));
  }
  if (!argument.positional && !argument.value.empty()) head += " " + italic(argument.value);
  std::string help = roff(argument.help);
  if (argument.positional && !argument.choices.empty()) help += ": " + roff(argument.value);
  return ".TP\n" + head + "\n" + help + "\n";
}

std::string arguments_of(const CommandInfo& command) {
  std::string out;
  for (const ArgumentInfo& argument : command.arguments) {
    if (argument.positional) out += entry(argument);
  }
  for (const ArgumentInfo& argument : command.arguments) {
    if (!argument.positional && argument.names.back() != "--help") out += entry(argument);
  }
  return out;
}

std::string exit_codes() {
  static constexpr std::array<std::pair<int, const char*>, 9> codes = {
      {{0, "done; also when a method diverged, which the results show"},
       {1, "internal error; of doctor: this machine is not fit"},
       {2, "usage: unknown commands, flags or values"},
       {3,
        "bad configuration or data: file, line, key, what was found, what is allowed; also when some runs "
        "failed, and for what exceeds the memory limit"},
       {4, "fit diverged, or did not converge in as many iterations as were allowed"},
       {5, "under mpirun or srun: a rank was killed, or silent for too long; run the same command to continue"},
       {130, "interrupted by SIGINT, after a last checkpoint"},
       {138, "stopped by SIGUSR1, after a last checkpoint"},
       {143, "terminated by SIGTERM, after a last checkpoint"}}};
  std::string out = ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : codes) out += ".TP\n" + bold(std::to_string(code)) + "\n" + roff(meaning) + "\n";
  return out + "docs/interface.md lists them all.\n";
}

}  // namespace

std::string manual_page(const std::vector<CommandInfo>& tree) {
  std::string out = ".\\\" Written by `polyhop --man`: change the commands' own help instead.\n";
  out += std::string(".TH POLYHOP 1 \"\" \"polyhop ") + POLYHOP_VERSION + "\" \"User Commands\"\n.ad l\n.nh\n";
  out += ".SH NAME\npolyhop \\- " + roff(tree.front().help.substr(tree.front().help.find(": ") + 2)) + "\n";
  out += ".SH SYNOPSIS\n" + bold("polyhop") + " " + italic("command") + " " + in_square(italic("options")) + "\n";
  out += ".SH DESCRIPTION\n" +
         roff(
             "K agents on a graph minimise the mean of their costs together, each talking only to its neighbours. "
             "polyhop runs experiments, TOML files that name a network, a problem and the methods to compare, and "
             "ranks the methods. Results go to the standard output, progress to the standard error.") +
         "\n" + arguments_of(tree.front()) + ".SH COMMANDS\n";
  for (std::size_t n = 1; n < tree.size(); ++n) {
    out += ".SS " + synopsis(tree[n]) + "\n" + roff(tree[n].help) + "\n" + arguments_of(tree[n]);
  }
  return out + exit_codes() + ".SH ENVIRONMENT\n.TP\n" + bold("NO_COLOR") +
         "\nif set, no colours unless --color always asks for them\n.TP\n" + bold("COLUMNS") +
         "\nthe width of the text, where it is not that of the terminal (default without one: 80)\n.TP\n" +
         bold("POLYHOP_CPU") +
         "\nx86-64-v3 or plain: use the kernels for a lesser processor, which is slower and gives the same bits\n";
}

}  // namespace polyhop::app

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop completion: what a shell needs to complete the command, made from the commands as they are registered.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "manual_page.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

using Tree = std::vector<CommandInfo>;

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

// The same text with a backslash before each of `special`, and quotes that survive inside single quotes.
std::string escaped(std::string_view text, std::string_view special, std::string_view quote) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
      continue;
    }
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::vector<std::string> flags_of(const CommandInfo& command) {
  std::vector<std::string> out;
  for (const ArgumentInfo& argument : command.arguments) {
    if (!argument.positional) out.insert(out.end(), argument.names.begin(), argument.names.end());
  }
  return out;
}

std::vector<std::string> commands_of(const Tree& tree) {
  std::vector<std::string> out;
  for (std::size_t n = 1; n < tree.size(); ++n) out.push_back(tree[n].name);
  return out;
}

// The names that a command's positional arguments may have.
std::vector<std::string> positional_choices(const CommandInfo& command) {
  for (const ArgumentInfo& argument : command.arguments) {
    if (argument.positional && !argument.choices.empty()) return argument.choices;
  }
  return {};
}

// The keys among what a value begins with.
std::vector<std::string> keys_of(const ArgumentInfo& argument) {
  std::vector<std::string> out;
  for (const std::string& text : argument.beginnings) {
    if (text.ends_with('=') || text.find('=') == std::string::npos) out.push_back(text);
  }
  return out;
}

// The others: of each key its values, in order.
std::vector<std::pair<std::string, std::vector<std::string>>> values_of(const ArgumentInfo& argument) {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  for (const std::string& text : argument.beginnings) {
    const std::size_t end = std::min(text.find('='), text.size());
    if (end + 1 >= text.size()) continue;
    const std::string key = text.substr(0, end);
    if (out.empty() || out.back().first != key) out.emplace_back(key, std::vector<std::string>());
    out.back().second.push_back(text.substr(end + 1));
  }
  return out;
}

// One branch for a command: after a flag its values, after a dash the flags, else names or files.
std::string bash_branch(const CommandInfo& command, const std::vector<std::string>& words) {
  std::string out = fmt::format("    '{}')\n      case $previous in\n", command.name);
  for (const ArgumentInfo& argument : command.arguments) {
    if (argument.positional || argument.value.empty()) continue;
    const std::string names = joined(argument.names, "|");
    if (!argument.beginnings.empty()) {
      out += fmt::format("        {}) words='{}'; compopt -o nospace 2>/dev/null ;;\n", names,
                         joined(keys_of(argument), " "));
      for (const auto& [key, values] : values_of(argument)) {
        out += fmt::format("        {}) words='{}' ;;\n", key, joined(values, " "));
      }
    } else if (!argument.choices.empty()) {
      out += fmt::format("        {}) words='{}' ;;\n", names, joined(argument.choices, " "));
    } else {
      out += fmt::format("        {}) return ;;\n", names);
    }
  }
  return out + fmt::format("        *) [[ $current == -* ]] && words='{}' || words='{}' ;;\n      esac\n      ;;\n",
                           joined(flags_of(command), " "), joined(words, " "));
}

std::string bash_script(const Tree& tree) {
  std::string out = R"(# polyhop for bash: source <(polyhop completion bash)
_polyhop() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= words= n
  for ((n = 1; n < COMP_CWORD; ++n)); do
    [[ ${COMP_WORDS[n]} == -* ]] || { command=${COMP_WORDS[n]}; break; }
  done
  COMPREPLY=()
  # Bash takes the = of KEY=VALUE for a word of its own.
  if [[ $current == = ]]; then current=; elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  case $command in
)";
  out += bash_branch(tree.front(), commands_of(tree));
  for (std::size_t n = 1; n < tree.size(); ++n) out += bash_branch(tree[n], positional_choices(tree[n]));
  return out + R"(  esac
  [[ -z $words ]] || COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _polyhop polyhop
)";
}

// '(-o --output)'{-o,--output}'[help]:value:action'
std::string zsh_argument(const ArgumentInfo& argument) {
  const auto text = [](const std::string& s) { return escaped(s, "[]:", "'\\''"); };
  const std::string action = !argument.beginnings.empty()
                                 ? "{_polyhop_value || compadd -S \"\" -- " + joined(keys_of(argument), " ") + "}"
                             : !argument.choices.empty() ? "(" + joined(argument.choices, " ") + ")"
                                                         : "_files";
  if (argument.positional)
    return fmt::format("'{}:{}:{}'", argument.repeats ? "*" : "", argument.names.front(), action);
  const std::string tail = fmt::format("[{}]{}", text(argument.help), argument.value.empty() ? "" : ":value:" + action);
  if (argument.repeats) return fmt::format("'*{}{}'", argument.names.front(), tail);
  if (argument.names.size() == 1) return fmt::format("'{}{}'", argument.names.front(), tail);
  return fmt::format("'({})'{{{}}}'{}'", joined(argument.names, " "), joined(argument.names, ","), tail);
}

std::string zsh_arguments(const CommandInfo& command, const char* indent) {
  std::string out = "_arguments -s";
  for (const ArgumentInfo& argument : command.arguments)
    out += fmt::format(" \\\n{}{}", indent, zsh_argument(argument));
  return out + "\n";
}

// Completes what stands behind KEY=, whatever the command.
std::string zsh_values(const Tree& tree) {
  std::map<std::string, std::vector<std::string>> all;
  for (const CommandInfo& command : tree) {
    for (const ArgumentInfo& argument : command.arguments) {
      for (const auto& [key, values] : values_of(argument)) all[key] = values;
    }
  }
  std::string out = "_polyhop_value() {\n  compset -P \"*=\" || return 1\n  case $IPREFIX in\n";
  for (const auto& [key, values] : all) out += fmt::format("    {}=) compadd -- {} ;;\n", key, joined(values, " "));
  return out + "  esac\n  return 0\n}\n";
}

std::string zsh_script(const Tree& tree) {
  std::string out = "#compdef polyhop\n# polyhop for zsh: source <(polyhop completion zsh)\n" + zsh_values(tree) +
                    "_polyhop() {\n  local -a commands=(\n";
  for (std::size_t n = 1; n < tree.size(); ++n) {
    out += fmt::format("    '{}:{}'\n", tree[n].name, escaped(tree[n].help, ":", "'\\''"));
  }
  out += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    " +
         zsh_arguments(tree.front(), "      ") +
         "    return\n  fi\n  shift words\n  ((CURRENT--))\n  case $words[1] in\n";
  for (std::size_t n = 1; n < tree.size(); ++n) {
    out += fmt::format("    {})\n      {}      ;;\n", tree[n].name, zsh_arguments(tree[n], "        "));
  }
  return out +
         "  esac\n}\nif [[ $funcstack[1] == _polyhop ]]; then\n  _polyhop \"$@\"\nelse\n  compdef _polyhop "
         "polyhop\nfi\n";
}

std::string fish_line(const std::string& condition, const ArgumentInfo& argument) {
  const std::vector<std::string> known = argument.beginnings.empty() ? argument.choices : keys_of(argument);
  const std::string choices = joined(known, " ");
  std::string out = fmt::format("complete -c polyhop -n '{}'", condition);
  if (argument.positional) return argument.choices.empty() ? "" : fmt::format("{} -f -a '{}'\n", out, choices);
  for (const std::string& name : argument.names) {
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!known.empty()) {
    out += fmt::format(" -x -a '{}'", choices);
  } else if (!argument.value.empty()) {
    out += " -r";
  }
  out += fmt::format(" -d '{}'\n", escaped(argument.help, "\\", "\\'"));
  std::vector<std::string> settings;
  for (const auto& [key, values] : values_of(argument)) {
    for (const std::string& value : values) settings.push_back(key + "=" + value);
  }
  if (settings.empty()) return out;
  return out +
         fmt::format("complete -c polyhop -n '{}; and string match -q \"*=*\" -- (commandline -ct)' -l {} -x -a '{}'\n",
                     condition, argument.names.back().substr(2), joined(settings, " "));
}

std::string fish_script(const Tree& tree) {
  std::string out = "# polyhop for fish: polyhop completion fish | source\n";
  for (std::size_t n = 1; n < tree.size(); ++n) {
    out += fmt::format("complete -c polyhop -n __fish_use_subcommand -f -a {} -d '{}'\n", tree[n].name,
                       escaped(tree[n].help, "\\", "\\'"));
  }
  for (const CommandInfo& command : tree) {
    const std::string condition =
        command.name.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + command.name;
    for (const ArgumentInfo& argument : command.arguments) out += fish_line(condition, argument);
  }
  return out;
}

}  // namespace

void add_completion(CommandLine& line) {
  const auto shell = std::make_shared<std::string>();
  Command completion =
      line.command("completion", "print a script that completes commands, flags and their values in your shell");
  completion.option("SHELL", *shell, "the shell").required().one_of({"bash", "zsh", "fish"});
  completion.callback([shell, &line] {
    const Tree tree = line.tree();
    fmt::print("{}", *shell == "bash" ? bash_script(tree) : *shell == "zsh" ? zsh_script(tree) : fish_script(tree));
    flush_output();
    return done;
  });
  const auto print_manual = [&line] {
    fmt::print("{}", manual_page(line.tree()));
    flush_output();
  };
  line.flag("--man", print_manual, "print the manual page and exit");
}

}  // namespace polyhop::app

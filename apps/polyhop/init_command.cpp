// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop init: a first experiment to change.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "output_path.hpp"
#include "polyhop/core/atomic_file.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/experiment/config.hpp"
#include "polyhop/problem/column_choice.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

// Every line `key = value`, also where it is commented out, gets the option's own help as its comment, once.
constexpr std::string_view starter = R"(# An experiment for polyhop. As it stands it runs in a few seconds:
#   polyhop run FILE
# Lines that begin with # show more options; `polyhop methods` lists the rules, `polyhop check` shows all options.

name = "NAME"
seeds = "0..4"
iterations = 2000
record_every = 10
target = 1e-6
# stop_at_target = true
# start = "normal"
# time_limit = 60

[graph]
topology = "ring"
agents = 12
weights = "metropolis"
# seed = 1
# With topology = "erdos-renyi": probability = 0.4. With "grid" or "torus": rows and columns instead of agents.
# `polyhop graph FILE` describes the network.

[problem]
loss = "least-squares"
dimension = 200
samples = 5
noise = 0.0
scale_spread = 0.3
minimiser_spread = 0.0
batch = 1
sampling = "uniform"
# l2 = 0.01
# seed = 1

# [record]
# steps = "agents"

# Each [[method]] is run on each seed. A list as an option's value makes one method for each entry.
[[method]]
name = "GAP tight"
step = { rule = "gap", bound = "tight", damping = "rows", project = true, relaxation = 1.5 }

[[method]]
name = "GAP, as published"
step = { rule = "gap", sweeps = 2 }

[[method]]
name = "constant"
step = { rule = "constant", value = [0.005, 0.01] }
average = false
)";

// The options that a table of the file takes.
std::vector<FieldInfo> fields_of(const std::string& table) {
  if (table == "graph") return GraphOptions::fields().info();
  if (table == "problem") return ProblemOptions::fields().info();
  if (table == "record") return RecordOptions::fields().info();
  if (table == "method") return method_fields();
  return ExperimentOptions::fields().info();
}

bool is_key(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string_view::npos;
}

// What a line is about, a leading "# " apart.
struct Line {
  std::string table;  // of a [table] or [[table]]
  std::string key;    // of key = value
};
Line parsed(std::string_view line) {
  if (line.starts_with("# ")) line.remove_prefix(2);
  if (line.starts_with('[')) {
    const auto begin = line.find_first_not_of('[');
    return {std::string(line.substr(begin, line.find(']') - begin)), ""};
  }
  const std::string_view key = line.substr(0, line.find(" = "));
  return {"", key.size() < line.size() && is_key(key) ? std::string(key) : ""};
}

std::string help_of_key(const std::string& table, const std::string& key) {
  for (const FieldInfo& field : fields_of(table)) {
    if (field.name == key) return field.help;
  }
  throw Error("the starter file has a key that there is not: " + table + "." + key);
}

// The experiment is named after its file, so that two of them do not share a folder of results; or else "mine".
std::string name_for(const std::string& file) {
  const std::string stem = std::filesystem::path(file).stem().string();
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; };
  return !stem.empty() && stem != "-" && std::ranges::all_of(stem, is_plain) ? stem : "mine";
}

std::string starter_text(const std::string& file) {
  constexpr std::size_t column = 34;
  std::istringstream lines{std::string(starter)};
  std::string out;
  std::string table;
  std::set<std::string> explained;
  for (std::string line; std::getline(lines, line);) {
    if (line == "name = \"NAME\"") line = "name = \"" + name_for(file) + "\"";
    const Line what = parsed(line);
    if (!what.table.empty()) table = what.table;
    if (!what.key.empty() && explained.insert(table + "." + what.key).second) {
      const std::string help = help_of_key(table, what.key);
      // Beside a short line, above a long one.
      if (line.size() < column) {
        line += std::string(column - line.size(), ' ') + "# " + help;
      } else {
        line = "# " + help + "\n" + line;
      }
    }
    out += line + "\n";
  }
  return out;
}

// A bare `polyhop run` looks for *.toml.
std::string with_ending(const std::string& file) {
  const std::filesystem::path path(file);
  return file == "-" || path.has_extension() || !path.has_filename() ? file : file + ".toml";
}

void init_command(const std::string& file, bool force) {
  if (file == "-") {
    fmt::print("{}", starter_text(file));
    return flush_output();
  }
  std::error_code ignored;
  if (!force && std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) {
    throw InputError("", "'" + file + "' already exists; --force replaces it");
  }
  require_folder("", file);
  try {
    AtomicFile out(file);
    out.write(starter_text(file));
    out.commit();
  } catch (const Error& e) {
    throw InputError("", e.what());
  }
  fmt::print("Written: {}\nNext:    polyhop run {}\n", printable(file), printable(shell_word(file)));
  flush_output();
}

}  // namespace

void add_init(CommandLine& line) {
  const auto file = std::make_shared<std::string>("experiment.toml");
  const auto force = std::make_shared<bool>(false);
  Command init = line.command("init", "write a commented experiment file to start from");
  init.option("FILE", *file,
              "where to write it, with .toml at the end, or - for the standard output (default: experiment.toml)");
  init.flag("--force", *force, "replace an existing file");
  init.callback([file, force] {
    init_command(with_ending(*file), *force);
    return done;
  });
}

}  // namespace polyhop::app

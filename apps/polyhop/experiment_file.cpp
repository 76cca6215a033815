// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "experiment_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "command_line.hpp"
#include "polyhop/experiment/store.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

namespace fs = std::filesystem;

// Whether a TOML file looks like an experiment, valid or not: one of its lines begins a table of one, or
// includes another file.
bool is_experiment(const fs::path& file) {
  constexpr std::array<std::string_view, 4> signs = {"[[method", "[graph", "[problem", "include"};
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (std::ranges::any_of(signs, [&](std::string_view sign) { return line.starts_with(sign); })) return true;
  }
  return false;
}

std::vector<std::string> experiments_here() {
  std::vector<std::string> out;
  std::error_code failed;
  for (auto entry = fs::directory_iterator(".", failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    const fs::path name = entry->path().filename();
    std::error_code ignored;
    const bool is_toml = name.extension() == ".toml" && fs::is_regular_file(entry->path(), ignored);
    // As in a folder that is run, those that begin with _ are parts of others.
    if (is_toml && !name.string().starts_with('_') && is_experiment(name)) out.push_back(name.string());
  }
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> results_here() {
  std::vector<std::string> out;
  std::error_code failed;
  for (auto entry = fs::directory_iterator("out", failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    std::error_code ignored;
    if (fs::exists(Store::file_in(entry->path().string()), ignored)) out.push_back(entry->path().string());
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::string only_experiment_here(bool quiet) {
  const std::vector<std::string> found = experiments_here();
  if (found.empty()) {
    throw UsageError("FILE is missing, and this folder holds no experiment (*.toml); `polyhop init` writes one");
  }
  if (found.size() > 1) {
    throw UsageError(fmt::format("FILE is missing, and this folder holds several experiments; name one: {}",
                                 fmt::join(found, ", ")));
  }
  if (!quiet) complain("using " + found.front() + ", the only experiment in this folder", found);
  return found.front();
}

std::string only_results_here(bool quiet) {
  const std::vector<std::string> found = results_here();
  if (found.empty()) throw UsageError("DIR is missing, and there are no results in out; `polyhop run` writes some");
  if (found.size() > 1) {
    throw UsageError(
        fmt::format("DIR is missing, and out holds several experiments; name one: {}", fmt::join(found, ", ")));
  }
  if (!quiet) complain("using " + found.front() + ", the only experiment in out", found);
  return found.front();
}

}  // namespace polyhop::app

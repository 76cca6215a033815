// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/load.hpp"

#include <filesystem>
#include <system_error>

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/experiment/toml_reader.hpp"

namespace polyhop {
namespace {

namespace fs = std::filesystem;

bool holds_store(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(Store::file_in(folder.string()), error);
}

// Where `run` puts the results of an experiment file: out/NAME. Empty if it does not exist.
fs::path results_of(const std::string& file) {
  try {
    const Value root = read_toml_file(file);
    const Value* name = root.find("name");
    const auto* text = name != nullptr ? name->as<std::string>() : nullptr;
    const fs::path folder = text != nullptr ? fs::path("out") / *text : fs::path();
    return text != nullptr && holds_store(folder) ? folder : fs::path();
  } catch (const InputError&) {
    return {};
  }
}

// Rejects what is not a folder of results, and says which one is.
void require_store(const std::string& folder) {
  if (holds_store(folder)) return;
  const fs::path path(folder);
  const auto refuse = [&](const std::string& message) { throw InputError("", "'" + folder + "' " + message); };
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    if (path.extension() == ".toml") {
      const fs::path results = results_of(folder);
      refuse("is an experiment, and its results are in a folder" +
             (results.empty() ? "; run it first, with `polyhop run " + folder + "`"
                              : ": give '" + results.string() + "' instead"));
    }
    const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
    refuse(holds_store(parent) ? "is a file of an experiment's results; give their folder, '" + parent.string() + "'"
                               : "is a file, expected a folder that `polyhop run` wrote");
  }
  if (path.is_relative() && holds_store("out" / path)) {
    throw InputError("", "there is no experiment in '" + folder + "'; did you mean '" + ("out" / path).string() + "'?");
  }
  const std::string advice = "; `polyhop run` writes the results of the experiment NAME into out/NAME";
  if (!fs::exists(path, error)) refuse("does not exist" + advice);
  if (fs::is_directory(path, error)) refuse("holds no results: experiment.sqlite is missing" + advice);
}

}  // namespace

Record load_record(const std::string& folder, bool with_models) {
  require_store(folder);
  try {
    return Store(folder, Store::Mode::read).load(with_models);
  } catch (const Error& e) {
    throw InputError("", e.what());
  }
}

}  // namespace polyhop

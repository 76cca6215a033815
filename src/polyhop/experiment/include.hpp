// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/experiment/toml_reader.hpp"

namespace polyhop {

/// The pieces of a configuration: the experiment's own file, the files that it includes, and settings on the command
/// line. While it is read, lines of included files have numbers far beyond those of the experiment's own file, and the
/// n-th setting has the line -n, so that a line number alone shows where a value comes from.
class Sources {
 public:
  Sources() : Sources("") {}
  explicit Sources(std::string file) : files_({std::move(file)}) {}

  /// Renumbers all lines of `root`, which came from `file`, so that they are not mistaken for another file's.
  void add(const std::string& file, Value& root);
  /// Applies the settings to `root`. Throws InputError that names the flag.
  void apply(const std::vector<KeySetting>& settings, Value& root);
  /// Remembers the line of everything in `root`, for errors that know only a key.
  void keep(const Value& root) { root_ = root; }
  /// The error, or each of several, with its file and line or its flag. Methods are called by their names, if they have
  /// one.
  [[nodiscard]] InputError located(const InputError& errors) const;

 private:
  std::vector<std::string> files_;
  std::vector<std::string> flags_;
  Value root_;
};

/// Processes the key `include = "_methods.toml"` (a name or a list of names, relative to the folder of `file`) of
/// `root`, the content of `file`, and removes the key. The file itself overrides what it includes, and later included
/// files override earlier ones: plain keys are replaced, tables are merged key by key, and lists of tables are joined,
/// earlier entries first. Included files cannot include others. Throws InputError.
Sources carry_out_includes(Value& root, const std::string& file);

}  // namespace polyhop

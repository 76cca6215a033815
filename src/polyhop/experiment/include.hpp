// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/experiment/toml_reader.hpp"

namespace polyhop {

/// What a configuration was put together from: the experiment's own file, those that it includes, and settings on the
/// command line. While it is read, lines of included files are numbered far beyond those of the own file, and the n-th
/// setting has the line -n, so that a line alone says what it is of.
class Sources {
 public:
  Sources() : Sources("") {}
  explicit Sources(std::string file) : files_({std::move(file)}) {}

  /// Moves all lines of `root`, which `file` holds, to where they are not mistaken for another file's.
  void add(const std::string& file, Value& root);
  /// Applies the settings to `root`. Throws InputError that names the flag.
  void apply(const std::vector<KeySetting>& settings, Value& root);
  /// Remembers the line of everything in `root`, for errors that know only a key.
  void keep(const Value& root) { root_ = root; }
  /// The error, or each of several, with the file and line that it is about, or with the flag. Methods go by their
  /// names, if they have one.
  [[nodiscard]] InputError located(const InputError& errors) const;

 private:
  std::vector<std::string> files_;
  std::vector<std::string> flags_;
  Value root_;
};

/// Carries out the key `include = "_methods.toml"` (a name or a list of names, relative to the folder of `file`) of
/// `root`, the content of `file`, and takes it out. What included files say is put under what the file itself says, and
/// earlier ones under later ones: plain keys of the upper one win, tables are merged key by key, lists of tables are
/// joined, the lower one first. Included files include nothing themselves. Throws InputError.
Sources carry_out_includes(Value& root, const std::string& file);

}  // namespace polyhop

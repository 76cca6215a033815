// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "polyhop/core/value.hpp"

namespace polyhop {

/// The limits of a TOML document: larger ones are rejected before they are parsed.
struct TomlLimits {
  static constexpr std::size_t bytes = std::size_t{16} << 20;
  static constexpr std::size_t brackets = 32;  // open [ and { around a value
  static constexpr std::size_t segments = 16;  // in a dotted key such as a.b.c
};

/// Reads a TOML 1.0 text into a table. Every value has the line it starts on (a table: the line of its header or of its
/// first key); keys are in the order of the text. Infinity and NaN are passed on; dates and times are rejected. Throws
/// InputError with the line and the reason.
Value read_toml(std::string_view text);

/// The same for a regular file; directories, pipes and devices are rejected without being read. Throws InputError with
/// the file, the line and the reason.
Value read_toml_file(const std::string& path);

/// A key changed on the command line.
struct KeySetting {
  KeySetting(std::string key_and_value) : text(std::move(key_and_value)), flag("--set " + text) {}
  KeySetting(const char* key_and_value) : KeySetting(std::string(key_and_value)) {}
  KeySetting(std::string key_and_value, std::string by) : text(std::move(key_and_value)), flag(std::move(by)) {}

  std::string text;  // "graph.agents=20"
  std::string flag;  // its name in messages: "--set graph.agents=20"
};

/// Applies the text of a setting, `key=value`, to a configuration. The key is dotted, with quotes around a part that
/// contains a dot or an equals sign. In a list of tables a part is an index from 0 or the `name` of an entry (in
/// quotes: always the name): `method.0.step.sweeps=5`, `method.GAP.step.sweeps=5`, `method."GAP 0.5".step.sweeps=5`.
/// Missing tables are added. The value is read as TOML if possible, otherwise taken as text; it gets the line `line`,
/// and so do added tables. Throws InputError with the key and the reason.
void apply_setting(Value& root, std::string_view setting, int line = 0);

}  // namespace polyhop

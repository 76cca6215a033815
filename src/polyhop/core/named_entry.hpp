// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop {

/// The table entry of this name. Throws InputError with the nearest name, or all of them.
template <class Entries>
const auto& entry_named(const Entries& entries, const std::string& name, const std::string& path, int line = 0) {
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw InputError(path, "unknown name " + in_quotes(name) + suggestion(name, names), line);
}

/// Reads a choice from a table of entries that have a `name` and a `read`: `"gap"`, or `{ rule = "gap", ... }` if `key`
/// is "rule". `expected` is the example in messages; `more` is what else `read` takes.
template <class Entries, class... More>
auto read_named(const Entries& entries, const std::string& key, const std::string& expected, const Value& choice,
                const std::string& path, const More&... more) {
  Value table = choice;
  if (const auto* name = choice.as<std::string>()) {
    Value named(*name);
    named.line = choice.line;
    table = Value(Value::Table{{key, std::move(named)}});
    table.line = choice.line;
  }
  const Value* found = table.find(key);
  if (found == nullptr) throw InputError(path, "found " + choice.text() + ", expected " + expected, choice.line);
  const std::string where = choice.as<std::string>() != nullptr && key == "name" ? path : path + "." + key;
  const auto* name = found->as<std::string>();
  if (name == nullptr) throw InputError(where, "found " + found->text() + ", expected a name", found->line);
  return entry_named(entries, *name, where, found->line).read(table, path, more...);
}

}  // namespace polyhop

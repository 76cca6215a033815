// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/toml_writer.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

std::string key_text(const std::string& key) {
  static constexpr std::string_view bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const bool plain = !key.empty() && key.find_first_not_of(bare) == std::string::npos;
  return plain ? key : in_quotes(key);
}

// The same value with every key in TOML's form, so that Value::text can write it.
Value with_key_texts(const Value& value) {
  if (const auto* list = value.as<Value::Array>()) {
    Value::Array out;
    for (const Value& entry : *list) out.push_back(with_key_texts(entry));
    return out;
  }
  const auto* table = value.as<Value::Table>();
  if (table == nullptr) return value;
  Value::Table out;
  for (const auto& [key, entry] : *table) {
    if (!entry.empty()) out.emplace_back(key_text(key), with_key_texts(entry));
  }
  return out;
}

bool is_list_of_tables(const Value& value) {
  const auto* list = value.as<Value::Array>();
  return list != nullptr && !list->empty() &&
         std::ranges::all_of(*list, [](const Value& entry) { return entry.as<Value::Table>() != nullptr; });
}

// A table that is too long for a line gets a header and lines of its own, after the other keys.
std::string lines(const Value::Table& table, const std::string& path) {
  constexpr std::size_t longest = 80;
  std::string out, tables;
  for (const auto& [key, value] : table) {
    if (value.empty()) continue;
    const std::string name = path + "." + key_text(key);
    const std::string line = key_text(key) + " = " + with_key_texts(value).text() + "\n";
    const auto* inner = value.as<Value::Table>();
    if (inner != nullptr && line.size() > longest) {
      tables += "\n[" + name + "]\n" + lines(*inner, name);
    } else {
      out += line;
    }
  }
  return out + tables;
}

}  // namespace

std::string to_toml(const Value& root) {
  const auto* table = root.as<Value::Table>();
  if (table == nullptr) throw Error("a TOML document is a table, found " + root.kind());
  Value::Table plain;
  std::string tables;
  for (const auto& [key, value] : *table) {
    if (const auto* inner = value.as<Value::Table>()) {
      tables += "\n[" + key_text(key) + "]\n" + lines(*inner, key_text(key));
    } else if (is_list_of_tables(value)) {
      for (const Value& entry : *value.as<Value::Array>()) {
        tables += "\n[[" + key_text(key) + "]]\n" + lines(*entry.as<Value::Table>(), key_text(key));
      }
    } else {
      plain.emplace_back(key, value);
    }
  }
  return lines(plain, "") + tables;
}

}  // namespace polyhop

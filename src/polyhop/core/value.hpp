// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace polyhop {

/// A piece of configuration: what TOML, `--set` and other front ends provide, and what option fields read. Each value
/// remembers the line it came from (0 if there is none, below 0 if a flag gave it, see Sources), so that errors can say
/// where.
struct Value {
  using Array = std::vector<Value>;
  using Table = std::vector<std::pair<std::string, Value>>;  // in the order of the file
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table> data;
  int line = 0;

  Value() = default;
  Value(bool b) : data(b) {}
  Value(std::int64_t n) : data(n) {}
  Value(int n) : data(std::int64_t{n}) {}
  Value(double x) : data(x) {}
  Value(std::string s) : data(std::move(s)) {}
  Value(const char* s) : data(std::string(s)) {}
  Value(Array a) : data(std::move(a)) {}
  Value(Table t) : data(std::move(t)) {}

  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  [[nodiscard]] T* as() {
    return std::get_if<T>(&data);
  }
  [[nodiscard]] bool empty() const { return std::holds_alternative<std::monostate>(data); }
  /// The entry of a table, or nullptr.
  [[nodiscard]] const Value* find(std::string_view key) const;
  /// The entry of a table, added if missing; turns an empty value into a table.
  Value& operator[](std::string_view key);
  /// "a boolean", "an integer", ...: for messages.
  [[nodiscard]] std::string kind() const;
  /// As it would appear in a TOML file.
  [[nodiscard]] std::string text() const;
};

/// The shortest text that reads back as the same double.
std::string shortest(double x);

/// `text` in quotes, with the escapes of TOML (and of JSON).
std::string in_quotes(std::string_view text);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/value.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "polyhop/core/error.hpp"

namespace polyhop {

const Value* Value::find(std::string_view key) const {
  if (const auto* table = as<Table>()) {
    for (const auto& [name, value] : *table) {
      if (name == key) return &value;
    }
  }
  return nullptr;
}

Value& Value::operator[](std::string_view key) {
  if (empty()) data = Table{};
  auto* table = as<Table>();
  if (table == nullptr) throw Error("'" + std::string(key) + "' asked of " + kind() + ", which has no keys");
  for (auto& [name, value] : *table) {
    if (name == key) return value;
  }
  return table->emplace_back(std::string(key), Value{}).second;
}

std::string Value::kind() const {
  static constexpr std::array<const char*, 7> names = {"nothing", "a boolean", "an integer", "a number",
                                                       "text",    "a list",    "a table"};
  return names[data.index()];
}

std::string shortest(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr;
  return {buffer.data(), end};
}

std::string in_quotes(std::string_view text) {
  static constexpr const char* digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (u < 0x20 || u == 0x7f) {
      out += std::string("\\u00") + digits[u >> 4] + digits[u & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string Value::text() const {
  struct Writer {
    std::string operator()(std::monostate) const { return "nothing"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t n) const { return std::to_string(n); }
    std::string operator()(double x) const {
      std::string s = shortest(x);
      // TOML distinguishes 1 from 1.0.
      return s.find_first_of(".en") == std::string::npos ? s + ".0" : s;
    }
    std::string operator()(const std::string& s) const { return in_quotes(s); }
    std::string operator()(const Array& a) const {
      std::string s;
      for (const auto& v : a) s += (s.empty() ? "" : ", ") + v.text();
      return "[" + s + "]";
    }
    std::string operator()(const Table& t) const {
      std::string s;
      for (const auto& [k, v] : t) s += (s.empty() ? "" : ", ") + k + " = " + v.text();
      return s.empty() ? "{}" : "{ " + s + " }";
    }
  };
  return std::visit(Writer{}, data);
}

}  // namespace polyhop

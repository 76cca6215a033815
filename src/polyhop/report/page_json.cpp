// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/page_json.hpp"

#include <fmt/format.h>

#include <cmath>

#include "polyhop/report/text_table.hpp"

namespace polyhop::page_json {
namespace {

// The entries of a table and of those within it, under dotted keys.
void flatten(const Value::Table& table, const std::string& prefix, Pairs& out) {
  for (const auto& [key, value] : table) {
    if (const auto* inner = value.as<Value::Table>()) {
      flatten(*inner, prefix + key + ".", out);
    } else {
      const auto* text = value.as<std::string>();
      if (text != nullptr && text->empty()) continue;  // not given
      out.emplace_back(prefix + key, text != nullptr ? *text : value.text());
    }
  }
}

}  // namespace

std::string json(double x, int digits) {
  if (std::isnan(x)) return "null";
  if (std::isinf(x)) return x > 0 ? "1e999" : "-1e999";
  return digits == all_digits ? shortest(x) : fmt::format("{:.{}g}", x, digits);
}

std::string json(Index n) { return std::to_string(n); }

std::string json(std::string_view text) { return in_quotes(printable(text)); }

std::string joined(const std::vector<std::string>& parts, char open, char close) {
  std::string out(1, open);
  for (const std::string& part : parts) {
    if (out.size() > 1) out += ',';
    out += part;
  }
  return out + close;
}

std::string list(const std::vector<std::string>& parts) { return joined(parts, '[', ']'); }

std::string field(std::string_view key, const std::string& value) { return fmt::format("\"{}\":{}", key, value); }

std::string object(std::initializer_list<std::pair<std::string_view, std::string>> fields) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : fields) parts.push_back(field(key, value));
  return joined(parts, '{', '}');
}

std::string numbers(std::span<const double> x) {
  return list_of(x, [](double v) { return json(v, chart_digits); });
}

std::string pairs_json(const Pairs& pairs) {
  return list_of(pairs, [](const auto& p) { return list({json(p.first), json(p.second)}); });
}

std::string settings_json(const Value& config, const std::string& plain_title) {
  const auto* root = config.as<Value::Table>();
  if (root == nullptr) return "[]";
  std::vector<std::string> groups;
  const auto add = [&](const std::string& title, const Value::Table& table) {
    Pairs pairs;
    flatten(table, "", pairs);
    if (!pairs.empty()) groups.push_back(object({{"title", json(title)}, {"rows", pairs_json(pairs)}}));
  };
  Value::Table plain;
  for (const auto& entry : *root) {
    if (entry.first != "method" && entry.second.as<Value::Table>() == nullptr) plain.push_back(entry);
  }
  add(plain_title, plain);
  for (const auto& [key, value] : *root) {
    if (const auto* table = value.as<Value::Table>()) add("[" + key + "]", *table);
    const auto* methods = key == "method" ? value.as<Value::Array>() : nullptr;
    if (methods == nullptr) continue;
    for (const Value& method : *methods) {
      if (const auto* table = method.as<Value::Table>()) add("[[method]]", *table);
    }
  }
  return list(groups);
}

}  // namespace polyhop::page_json

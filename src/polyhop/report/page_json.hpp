// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/value.hpp"

/// JSON for the data of a page, built as text: an infinite number is written as 1e999, which every browser reads as
/// Infinity, and a NaN as null. Text may be untrusted; filled_page makes it harmless.
namespace polyhop::page_json {

constexpr int chart_digits = 5;
constexpr int all_digits = 17;

std::string json(double x, int digits = all_digits);
std::string json(Index n);
std::string json(std::string_view text);

std::string joined(const std::vector<std::string>& parts, char open, char close);
std::string list(const std::vector<std::string>& parts);
/// Keys are ours and need no escape; values are JSON.
std::string field(std::string_view key, const std::string& value);
std::string object(std::initializer_list<std::pair<std::string_view, std::string>> fields);

template <class Range, class F>
std::string list_of(const Range& range, const F& text) {
  std::vector<std::string> parts;
  for (const auto& item : range) parts.push_back(text(item));
  return list(parts);
}

/// Numbers for a chart.
std::string numbers(std::span<const double> x);

using Pairs = std::vector<std::pair<std::string, std::string>>;
std::string pairs_json(const Pairs& pairs);

/// A configuration as titled groups: the plain keys, each table, each method.
std::string settings_json(const Value& config, const std::string& plain_title);

}  // namespace polyhop::page_json

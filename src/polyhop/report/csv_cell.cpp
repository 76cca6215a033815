// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/csv_cell.hpp"

#include <charconv>
#include <system_error>

namespace polyhop {

namespace {

// What a spreadsheet would take for a formula, and compute.
bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@").find(text.front()) == std::string_view::npos) return false;
  const std::string_view digits = text.front() == '+' ? text.substr(1) : text;
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error != std::errc() || end != digits.data() + digits.size();
}

}  // namespace

std::string csv_cell(std::string_view text) {
  if (is_formula(text)) return csv_cell("'" + std::string(text));
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace polyhop

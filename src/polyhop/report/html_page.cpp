// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/html_page.hpp"

#include <array>
#include <span>
#include <utility>

#include "polyhop/report/text_table.hpp"

namespace polyhop {
namespace {

using Escape = std::pair<std::string_view, std::string_view>;

constexpr std::array<Escape, 3> in_html = {{{"<", "&lt;"}, {">", "&gt;"}, {"&", "&amp;"}}};
constexpr std::array<Escape, 5> in_json = {
    {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}}};

// A text with its escapes.
std::string escaped(std::string_view text, std::span<const Escape> escapes) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    Escape next = {text.substr(0, 1), text.substr(0, 1)};
    for (const Escape& escape : escapes) {
      if (text.starts_with(escape.first)) next = escape;
    }
    out += next.second;
    text.remove_prefix(next.first.size());
  }
  return out;
}

}  // namespace

std::string filled_page(std::string_view page, std::string_view title, std::string_view data) {
  const std::array<std::pair<std::string_view, std::string>, 3> fillings = {
      {{"@TITLE@", escaped(printable(title), in_html)},
       {"@DATA@", escaped(data, in_json)},
       {"@D3@", std::string(d3_script())}}};
  // Each mark stands once, in this order; what is filled in is never searched.
  std::string out;
  for (const auto& [mark, text] : fillings) {
    const auto at = page.find(mark);
    out += page.substr(0, at);
    out += text;
    page.remove_prefix(at + mark.size());
  }
  return out += page;
}

}  // namespace polyhop

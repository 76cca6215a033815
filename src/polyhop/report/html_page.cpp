// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/html_page.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "polyhop/report/text_table.hpp"

namespace polyhop {
namespace {

std::string html(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string harmless_json(std::string json) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> escapes = {
      {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}}};
  for (const auto& [what, escape] : escapes) {
    for (std::size_t at = 0; (at = json.find(what, at)) != std::string::npos; at += escape.size()) {
      json.replace(at, what.size(), escape);
    }
  }
  return json;
}

std::string filled_page(std::string_view page, std::string_view title, std::string_view data) {
  // Each marker stands once, in this order; what is filled in is never searched.
  constexpr std::string_view title_mark = "@TITLE@", data_mark = "@DATA@";
  const auto title_at = page.find(title_mark);
  const auto data_at = page.rfind(data_mark);
  std::string out(page.substr(0, title_at));
  out += html(title);
  out += page.substr(title_at + title_mark.size(), data_at - title_at - title_mark.size());
  out += data;
  return out += page.substr(data_at + data_mark.size());
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/html_scoreboard.hpp"

#include <string_view>

#include "polyhop/core/value.hpp"
#include "polyhop/report/html_page.hpp"
#include "polyhop/report/scoreboard_export.hpp"
#include "polyhop/report/scoreboard_text.hpp"

namespace polyhop {

/// The page without title and data: report/page with d3 and the policy in place, put together by
/// cmake/report_page.cmake.
std::string_view scoreboard_page();

std::string html_scoreboard(const Scoreboard& board, const std::string& title) {
  const std::string data =
      "{\"headline\":" + in_quotes(scoreboard_headline(board)) + ",\"board\":" + scoreboard_json(board) + "}";
  return filled_page(scoreboard_page(), title, harmless_json(data));
}

}  // namespace polyhop

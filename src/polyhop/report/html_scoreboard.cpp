// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/html_scoreboard.hpp"

#include "polyhop/report/html_page.hpp"
#include "polyhop/report/page_json.hpp"
#include "polyhop/report/scoreboard_export.hpp"
#include "polyhop/report/scoreboard_text.hpp"

namespace polyhop {

std::string html_scoreboard(const Scoreboard& board, const std::string& title) {
  using namespace page_json;
  const std::string data = object({{"headline", json(scoreboard_headline(board))}, {"board", scoreboard_json(board)}});
  return filled_page(scoreboard_page(), "Scoreboard: " + title, data);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/report/scoreboard.hpp"

namespace polyhop {

/// "5 instances, 3 methods, 10 seeds", and what the ratios are to.
std::string scoreboard_headline(const Scoreboard& board);

/// For a terminal: the methods over all instances, best first, with geometric means of their ratios and how many
/// instances are within 1.05, 1.5 and 3 times the baseline's iterations; then the ratio of iterations on each instance.
/// A mean says over how many instances it is where those are not all, and is not shown where they are fewer than half.
std::string scoreboard_text(const Scoreboard& board, Index width = 0, bool color = false);

/// What a scoreboard on paper says besides its numbers.
struct MarkdownOptions {
  std::string command;   // that makes it again
  bool figures = false;  // figures/scoreboard-SCORE.svg stand beside it
};

/// A page for a repository: the methods over all instances, the instances, a table of instances x methods for each
/// score, and where it comes from. The same scoreboard gives the same text.
std::string scoreboard_markdown(const Scoreboard& board, const MarkdownOptions& options);

}  // namespace polyhop

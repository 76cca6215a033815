// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/report/scoreboard.hpp"

namespace polyhop {

/// "5 instances, 3 methods, 10 seeds", and what the ratios are relative to.
std::string scoreboard_headline(const Scoreboard& board);

/// For a terminal: the methods over all instances, best first, with geometric means of their ratios and how many
/// instances are within 1.05, 1.5 and 3 times the baseline's iterations; then the ratio of iterations on each instance.
/// A mean over fewer than all instances says over how many; over fewer than half, it is not shown.
std::string scoreboard_text(const Scoreboard& board, Index width = 0, bool color = false);

/// What a Markdown scoreboard says besides its numbers.
struct MarkdownOptions {
  std::string command;   // that makes it again
  bool figures = false;  // figures/scoreboard-SCORE.svg stand beside it
};

/// A page for a repository: the methods over all instances, the instances, a table of instances x methods for each
/// score, and provenance. The same scoreboard gives the same text.
std::string scoreboard_markdown(const Scoreboard& board, const MarkdownOptions& options);

}  // namespace polyhop

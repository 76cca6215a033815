// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/report/figure.hpp"
#include "polyhop/report/scoreboard.hpp"

namespace polyhop {

/// Draws the performance profiles of a score with gnuplot, tau on a logarithmic axis, best methods first, into a file
/// whose ending says what it is: .svg, .pdf or .png. Size, font and legend are those of the options. The file appears
/// as a whole or not at all. Throws InputError for another ending, and when no method solved any instance.
void write_profile_figure(const Scoreboard& board, Score score, const std::string& file,
                          const FigureOptions& options = {.width = 12, .height = 7.5, .legend = LegendPlace::below});

}  // namespace polyhop

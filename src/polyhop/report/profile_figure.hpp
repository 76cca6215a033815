// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/report/figure.hpp"
#include "polyhop/report/scoreboard.hpp"

namespace polyhop {

/// Draws the performance profiles of a score with gnuplot, tau on a logarithmic axis, best methods first, into a .svg,
/// .pdf or .png file. Size, font and legend follow the options. The file appears as a whole or not at all. Throws
/// InputError for another ending, or if no method solved any instance.
void write_profile_figure(const Scoreboard& board, Score score, const std::string& file,
                          const FigureOptions& options = {.width = 12, .height = 7.5, .legend = LegendPlace::below});

}  // namespace polyhop

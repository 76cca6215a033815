// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/report/scoreboard.hpp"

namespace polyhop {

/// Draws the performance profiles of a score with gnuplot, tau on a logarithmic axis, into a file whose ending says
/// what it is: .svg, .pdf or .png; sizes are in cm, and the legend below adds to the height. The file appears as a
/// whole or not at all. Throws InputError for another ending, and when no method solved any instance.
void write_profile_figure(const Scoreboard& board, Score score, const std::string& file, double width = 12,
                          double height = 7.5);

}  // namespace polyhop

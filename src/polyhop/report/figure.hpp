// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/experiment/record.hpp"
#include "polyhop/report/median_curve.hpp"

namespace polyhop {

/// What a figure shows, and its size; the default is one column of a two-column paper.
struct FigureOptions {
  CurveX x = CurveX::iterations;
  CurveY y = curve_y(&Point::excess_risk);
  std::vector<std::string> methods;  // all when empty; names as in the record
  double width = 8.8;                // cm
  double height = 6.4;               // a legend that finds no room among the curves stands below and adds to it
  bool band = true;                  // the outer tenths over the seeds, behind each of at most four medians
  static const FieldTable<FigureOptions>& fields();
};

/// Throws InputError for a name that no method of the records has.
void require_methods(const std::vector<Record>& records, const std::vector<std::string>& methods);

/// Draws the median curves of one or more experiments with gnuplot, on a logarithmic y axis, into a file whose ending
/// says what it is: .svg, .pdf or .png. Curves differ by colour, dashes and marks, so that they can be told apart
/// without colour. With several records a label begins with its experiment's name. The file appears as a whole or not
/// at all. Throws InputError for another ending, an unknown method and a figure without any number to draw.
void write_figure(const std::vector<Record>& records, const FigureOptions& options, const std::string& file);

}  // namespace polyhop

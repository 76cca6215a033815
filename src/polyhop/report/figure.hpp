// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/experiment/record.hpp"
#include "polyhop/report/median_curve.hpp"

namespace polyhop {

/// Where a legend goes: automatic (in a corner that no curve passes, or else below), inside (in such a corner), outside
/// (to the right of the axes, which get narrower), below (which makes the figure taller), or nowhere.
enum class LegendPlace { automatic, inside, outside, below, none };
template <>
struct EnumNames<LegendPlace> {
  static constexpr std::array<std::pair<LegendPlace, std::string_view>, 5> names = {{{LegendPlace::automatic, "auto"},
                                                                                     {LegendPlace::inside, "inside"},
                                                                                     {LegendPlace::outside, "outside"},
                                                                                     {LegendPlace::below, "below"},
                                                                                     {LegendPlace::none, "none"}}};
};

/// "9", "Times" or "Times,9" as a font: a name of letters, digits, spaces and dashes, and a size in points. Throws
/// InputError for anything else.
struct FigureFont {
  static constexpr double smallest = 4, largest = 40;
  std::string name = "Helvetica";
  double size = 8;
  static FigureFont read(const std::string& text);
};

/// A length in cm: "3.5in", "89mm", "8.9cm", "252pt"; a number alone is cm. Throws InputError for anything else, and
/// for less than 3 cm or more than 100.
double figure_length(const std::string& text);

/// What a figure shows, and its size; the default is one column of a two-column paper.
struct FigureOptions {
  CurveX x = CurveX::iterations;
  CurveY y = curve_y(&Point::excess_risk);
  std::vector<std::string> methods = {};  // all when empty; names as in the record
  double width = 8.8;                     // cm
  double height = 6.4;                    // a legend below adds to it
  bool band = true;                       // the outer tenths over the seeds
  std::vector<std::string> bands = {};  // behind which medians: names, or "all"; when empty, behind all of at most four
  LegendPlace legend = LegendPlace::automatic;
  std::string font = FigureFont{}.name;
  double font_size = FigureFont{}.size;  // points
  static const FieldTable<FigureOptions>& fields();
};

/// Throws InputError for a name that no method of the records has.
void require_methods(const std::vector<Record>& records, const std::vector<std::string>& methods);

/// Draws the median curves of one or more experiments with gnuplot, on a logarithmic y axis, into a .svg, .pdf or .png
/// file. Curves differ by colour, dashes and marks, so that they can be told apart without colour. With several
/// records, methods with the same name share a colour, and dashes tell the experiments apart, unless two curves would
/// then look alike; a label begins with the experiment's name, or the legend explains methods and experiments apart
/// where that is shorter. The legend hides no curve. The file appears as a whole or not at all. Throws InputError for
/// another ending, an unknown method, an invalid font name, or a figure with nothing to draw.
void write_figure(const std::vector<Record>& records, const FigureOptions& options, const std::string& file);

}  // namespace polyhop

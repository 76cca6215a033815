// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "polyhop/core/index.hpp"

/// What figures share: sizes, the looks of lines, legends, and the gnuplot commands for them. Lengths are in cm.
namespace polyhop::figure {

inline constexpr double font_size = 8;  // points
inline constexpr double cm_per_inch = 2.54;
inline constexpr double left_margin = 1.3, right_margin = 0.4, top_margin = 0.25, bottom_margin = 1;
inline constexpr double letter = font_size / 72 * cm_per_inch;  // its height
inline constexpr double legend_line = 1.25 * letter;            // from one to the next
inline constexpr double legend_gap = 0.15;                      // around a legend
inline constexpr Index label_width = 40;                        // characters

/// Writes what gnuplot makes of the commands; the file appears as a whole or not at all. Throws InputError where it
/// cannot be made.
void draw_into(const std::string& file, const std::string& commands);

/// How the n-th line looks: curves differ by colour, dashes and marks, each with a period of its own.
struct LineStyle {
  std::string line;
  std::string mark;
  std::string_view colour;
};
LineStyle line_style(std::size_t n);

/// Where the legend stands, from the figure's left and upper edges. It is laid out here, since gnuplot's own guesses of
/// the size of texts differ from format to format.
struct Legend {
  double left = 0;
  double top = 0;
  double entry_width = 0;
  std::size_t rows = 0;  // columns are filled one after the other
  double extra = 0;      // what it adds to the figure's height when it stands below the axes
};
double legend_entry_width(const std::vector<std::string>& labels);
/// Below the axes of a figure of this size.
Legend legend_below(const std::vector<std::string>& labels, double width, double height);
/// Draws it, in a figure whose height holds the legend's share.
std::string legend_script(const std::vector<std::string>& labels, const Legend& legend, double width, double height);

/// A figure's size: its width, its height without and with a legend below.
struct Size {
  double width = 0;
  double height = 0;
  double with_legend = 0;
};

/// Terminal, border and grid; the file's ending says which format. Throws InputError for one that is not drawn.
std::string figure_head(const std::string& file, double width, double height);
/// Margins, and the titles of the axes.
std::string figure_frame(const Size& size, std::string_view x_label, std::string_view y_label);

}  // namespace polyhop::figure

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/report/figure.hpp"

/// What figures share: sizes, line styles, legends, and the gnuplot commands for them. Lengths are in cm.
namespace polyhop::figure {

inline constexpr double cm_per_inch = 2.54;
inline constexpr double legend_gap = 0.15;  // around a legend
inline constexpr Index label_width = 48;    // characters

/// The font of a figure, and the lengths that grow with it.
struct Letters {
  std::string font = FigureFont{}.name;
  double size = FigureFont{}.size;  // points
  [[nodiscard]] double height() const { return size / 72 * cm_per_inch; }
  [[nodiscard]] double line() const { return 1.25 * height(); }  // from one entry of a legend to the next
  [[nodiscard]] double share() const { return size / FigureFont{}.size; }
  [[nodiscard]] double width(std::string_view text) const;
  [[nodiscard]] double left_margin() const { return 1.5 * share(); }
  [[nodiscard]] double bottom_margin() const { return share(); }
  [[nodiscard]] double top_margin() const { return 0.25 * share(); }
  [[nodiscard]] double right_margin() const { return 0.4 * share(); }
};

/// Runs the commands in gnuplot and writes the result; the file appears as a whole or not at all. Throws InputError if
/// it cannot be created.
void draw_into(const std::string& file, const std::string& commands);

/// How the n-th line looks: curves differ by colour, dashes and marks, each with a period of its own.
struct LineStyle {
  std::string line;
  std::string mark;  // empty: none
  std::string_view colour;
};
LineStyle line_style(std::size_t n);
/// The colour and the marks of the n-th line, with other dashes.
LineStyle line_style(std::size_t n, std::size_t dash);
/// These dashes in grey, without marks.
LineStyle dash_style(std::size_t dash);
inline constexpr std::size_t line_colours = 7, line_dashes = 6;

/// A point of the plot: 0 at the left and at the bottom, 1 at the right and at the top.
struct PlotPoint {
  double x = 0;
  double y = 0;
};
/// What a legend inside the plot must not hide: pieces of lines.
using Obstacles = std::vector<std::pair<PlotPoint, PlotPoint>>;
/// Whether none of them crosses a rectangle.
bool is_free(const Obstacles& obstacles, const PlotPoint& low, const PlotPoint& high);

/// A figure's size, the width that a legend beside the axes takes, and the height that one below them adds.
struct Size {
  double width = 0;
  double height = 0;        // without what the legend adds
  double legend_right = 0;  // of the width
  double legend_below = 0;  // added to the height
  [[nodiscard]] double full_height() const { return height + legend_below; }
  [[nodiscard]] double plot_width(const Letters& letters) const {
    return width - legend_right - letters.left_margin() - letters.right_margin();
  }
  [[nodiscard]] double plot_height(const Letters& letters) const {
    return height - letters.bottom_margin() - letters.top_margin();
  }
};

/// Where each entry of a legend goes, measured from the figure's left and upper edges. It is laid out here because
/// gnuplot's estimates of text sizes differ between formats.
struct Legend {
  std::vector<std::string> labels;  // cut to fit
  std::vector<PlotPoint> places;    // in cm
  Size size;
  Letters letters = {};
};
/// Places a legend so that it hides nothing. Throws InputError if it should go inside and no corner is free, or beside
/// the axes and leaves them too little room.
Legend make_legend(const std::vector<std::string>& labels, LegendPlace place, const FigureOptions& options,
                   const Obstacles& obstacles);
/// Draws the legend, with a sample of each line.
std::string legend_script(const Legend& legend, const std::vector<LineStyle>& styles, const std::string& file);

Letters letters_of(const FigureOptions& options);

/// Terminal, border and grid, in the format of the file's ending. Throws InputError if it is not supported.
std::string figure_head(const std::string& file, const Size& size, const Letters& letters);
/// Margins, and the titles of the axes.
std::string figure_frame(const Size& size, const Letters& letters, std::string_view x_label, std::string_view y_label);

}  // namespace polyhop::figure

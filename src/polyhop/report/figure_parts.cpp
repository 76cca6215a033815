// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/figure_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "polyhop/core/atomic_file.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/report/gnuplot.hpp"
#include "polyhop/report/text_table.hpp"

namespace polyhop::figure {
namespace {

constexpr double legend_sample = 0.8, legend_text = 1;  // how long a piece of line is, and where text begins

// Okabe and Ito's colours, which the colour-blind can tell apart; dashes and marks repeat with other periods.
constexpr std::array<std::string_view, 7> colours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                     "#E69F00", "#56B4E9", "#000000"};
constexpr std::array<std::string_view, 5> dashes = {"1", "(8,3)", "(2,2)", "(8,3,2,3)", "(14,3)"};
constexpr std::array<int, 9> mark_types = {7, 5, 9, 13, 11, 6, 4, 8, 12};

std::string terminal(const std::string& file, double width_cm, double height_cm) {
  // gnuplot's cairo terminals take a point for 1/96 of an inch.
  constexpr double cairo_scale = 72.0 / 96;
  const std::string ending = std::filesystem::path(file).extension().string();
  const double width = width_cm / cm_per_inch;
  const double height = height_cm / cm_per_inch;
  if (ending == ".svg") {
    constexpr double dpi = 96;
    return fmt::format("svg size {:.0f},{:.0f} font 'Helvetica,Arial,sans-serif,{:.2f}' linewidth 1.2 dashlength 0.6",
                       width * dpi, height * dpi, font_size * dpi / 72);
  }
  if (ending == ".pdf") {
    return fmt::format("pdfcairo size {:.4f}in,{:.4f}in font 'Helvetica,{}' fontscale {} linewidth 1.6 dashlength 1.6",
                       width, height, font_size, cairo_scale);
  }
  if (ending == ".png") {
    constexpr double dpi = 300;
    return fmt::format(
        "pngcairo size {:.0f},{:.0f} font 'Helvetica,{}' fontscale {:.3f} linewidth 3.6 pointscale 3 "
        "dashlength 2",
        width * dpi, height * dpi, font_size, dpi / 72 * cairo_scale);
  }
  throw InputError("figure", in_quotes(file) + " should end in .svg, .pdf or .png");
}

AtomicFile opened(const std::string& file) {
  try {
    return AtomicFile(file);
  } catch (const Error& e) {
    throw InputError("figure", e.what());
  }
}

}  // namespace

void draw_into(const std::string& file, const std::string& commands) {
  AtomicFile out = opened(file);
  out.write(gnuplot_output(commands));
  out.commit();
}

LineStyle line_style(std::size_t n) {
  const std::string_view colour = colours[n % colours.size()];
  return {fmt::format("lc rgb '{}' dt {} lw 1.1", colour, dashes[n % dashes.size()]),
          fmt::format("lc rgb '{}' pt {} ps 0.45", colour, mark_types[n % mark_types.size()]), colour};
}

double legend_entry_width(const std::vector<std::string>& labels) {
  Index characters = 0;
  for (const auto& label : labels) characters = std::max(characters, display_width(label));
  // A character is about half as wide as high.
  return legend_text + letter * (0.5 * static_cast<double>(characters) + 0.5);
}

Legend legend_below(const std::vector<std::string>& labels, double width, double height) {
  const double entry = legend_entry_width(labels);
  const auto columns = static_cast<std::size_t>(std::max(1.0, std::floor((width - 2 * legend_gap) / entry)));
  const std::size_t rows = (labels.size() + columns - 1) / columns;
  return {columns > 1 ? legend_gap : left_margin, height + legend_gap / 2, entry, rows,
          legend_line * static_cast<double>(rows) + legend_gap};
}

std::string legend_script(const std::vector<std::string>& labels, const Legend& legend, double width, double height) {
  const auto screen = [&](double x, double y) {
    return fmt::format("screen {:.4f},{:.4f}", x / width, 1 - y / height);
  };
  std::string out;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const double x = legend.left + legend.entry_width * static_cast<double>(n / legend.rows);
    const double y = legend.top + legend_line * (static_cast<double>(n % legend.rows) + 0.5);
    const LineStyle look = line_style(n);
    out +=
        fmt::format("set arrow from {} to {} nohead {} front\n", screen(x, y), screen(x + legend_sample, y), look.line);
    out += fmt::format("set label '' at {} point {} front\n", screen(x + legend_sample / 2, y), look.mark);
    out += fmt::format("set label {} at {} left noenhanced front\n", gnuplot_string(labels[n]),
                       screen(x + legend_text, y));
  }
  return out;
}

std::string figure_head(const std::string& file, double width, double height) {
  return "set encoding utf8\nset terminal " + terminal(file, width, height) +
         "\nunset key\n"
         "set border 15 lw 0.7 lc rgb '#202020'\nset tics front scale 0.6,0.3\n"
         "set grid xtics ytics back lt 1 lc rgb '#e4e4e4' lw 0.5\n";
}

// Margins are given: gnuplot would guess the width of "10^{-15}" from its characters.
std::string figure_frame(const Size& size, std::string_view x_label, std::string_view y_label) {
  const auto set = [](const char* margin, double share) {
    return fmt::format("set {} at screen {:.4f}\n", margin, share);
  };
  return set("lmargin", left_margin / size.width) + set("rmargin", 1 - right_margin / size.width) +
         set("tmargin", 1 - top_margin / size.with_legend) +
         set("bmargin", 1 - (size.height - bottom_margin) / size.with_legend) +
         fmt::format("set label '{}' at screen {:.4f}, graph 0.5 center rotate\n", y_label, 0.2 / size.width) +
         fmt::format("set label '{}' at graph 0.5, screen {:.4f} center\n", x_label,
                     1 - (size.height - 0.25) / size.with_legend);
}

}  // namespace polyhop::figure

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/figure_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>

#include "polyhop/core/atomic_file.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/report/gnuplot.hpp"
#include "polyhop/report/text_table.hpp"

namespace polyhop::figure {
namespace {

// How long a piece of line is, and where text begins; shorter beside small letters.
double legend_sample(const Letters& letters) { return 0.6 * std::min(1.0, letters.share()); }
double legend_text(const Letters& letters) { return 1.25 * legend_sample(letters); }

// Colours that the colour-blind can tell apart, neighbours of unlike lightness, so that grey print keeps them apart as
// well; dashes and marks repeat with other periods.
constexpr std::array<std::string_view, line_colours> colours = {"#004C86", "#E69F00", "#009E73", "#000000",
                                                                "#7CC4F0", "#C44E00", "#CC79A7"};
constexpr std::array<std::string_view, line_dashes> dashes = {"1",         "(8,3)",  "(2,2)",
                                                              "(8,3,2,3)", "(14,3)", "(8,2,2,2,2,2)"};
constexpr std::array<int, 9> mark_types = {7, 5, 9, 13, 11, 6, 4, 8, 12};

// What gnuplot's terminal for a file takes for a point: pixels of an SVG, of which an inch has 96, else points.
constexpr double svg_dpi = 96;
double points_in(const std::string& file) { return file.ends_with(".svg") ? svg_dpi / 72 : 1; }

std::string terminal(const std::string& file, const Size& size, const Letters& letters) {
  // gnuplot's cairo terminals take a point for 1/96 of an inch.
  constexpr double cairo_scale = 72.0 / 96;
  const std::string ending = std::filesystem::path(file).extension().string();
  const double width = size.width / cm_per_inch;
  const double height = size.full_height() / cm_per_inch;
  if (ending == ".svg") {
    // With a ground of its own, it can be read on a dark page.
    return fmt::format(
        "svg size {:.0f},{:.0f} font '{},Arial,sans-serif,{:.2f}' linewidth 1.2 dashlength 0.6 background '#ffffff'",
        width * svg_dpi, height * svg_dpi, letters.font, letters.size * points_in(file));
  }
  if (ending == ".pdf") {
    return fmt::format("pdfcairo size {:.4f}in,{:.4f}in font '{},{}' fontscale {} linewidth 1.6 dashlength 1.6", width,
                       height, letters.font, letters.size, cairo_scale);
  }
  if (ending == ".png") {
    constexpr double dpi = 300;
    return fmt::format(
        "pngcairo size {:.0f},{:.0f} font '{},{}' fontscale {:.3f} linewidth 3.6 pointscale 3 "
        "dashlength 2",
        width * dpi, height * dpi, letters.font, letters.size, dpi / 72 * cairo_scale);
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

// Between columns, in letters.
constexpr double column_gap = 0.9;

double entry_width(const std::string& label, const Letters& letters) {
  return legend_text(letters) + letters.width(label) + column_gap * letters.height();
}

// Labels cut so that their entries are at most so wide.
std::vector<std::string> cut_to(const std::vector<std::string>& labels, double width, const Letters& letters) {
  std::vector<std::string> out;
  for (const std::string& label : labels) {
    std::string shown = label;
    while (display_width(shown) > 4 && entry_width(shown, letters) > width) {
      shown = shortened(label, display_width(shown) - 1);
    }
    out.push_back(shown);
  }
  return out;
}

// Whether a piece of a line passes through a rectangle (Liang and Barsky 1984).
bool passes(const std::pair<PlotPoint, PlotPoint>& piece, const PlotPoint& low, const PlotPoint& high) {
  const auto& [from, to] = piece;
  double begin = 0, end = 1;
  const auto clip = [&](double start, double step, double least, double most) {
    if (step == 0) return start >= least && start <= most;
    const double first = (least - start) / step, second = (most - start) / step;
    begin = std::max(begin, std::min(first, second));
    end = std::min(end, std::max(first, second));
    return begin <= end;
  };
  return clip(from.x, to.x - from.x, low.x, high.x) && clip(from.y, to.y - from.y, low.y, high.y);
}

double widest(const std::vector<std::string>& labels, const Letters& letters) {
  double out = 0;
  for (const std::string& label : labels) out = std::max(out, entry_width(label, letters));
  return out;
}

// One below the other.
void add_column(Legend& legend, double left, double top, const Letters& letters) {
  for (std::size_t n = 0; n < legend.labels.size(); ++n) {
    legend.places.push_back({left, top + letters.line() * (static_cast<double>(n) + 0.5)});
  }
}

// The widths of columns of so many rows, filled one after the other: methods with names alike, which stand next to each
// other, then share a column.
std::vector<double> column_widths(const std::vector<std::string>& labels, std::size_t rows, const Letters& letters) {
  std::vector<double> out((labels.size() + rows - 1) / rows);
  for (std::size_t n = 0; n < labels.size(); ++n) {
    out[n / rows] = std::max(out[n / rows], entry_width(labels[n], letters));
  }
  return out;
}

// Below the axes, in as few rows as the width allows.
Legend below(const std::vector<std::string>& labels, Size size, const Letters& letters) {
  const double room = size.width - 2 * legend_gap;
  Legend out{cut_to(labels, room, letters), {}, size, letters};
  std::size_t rows = 1;
  const auto total = [&](const std::vector<double>& widths) {
    return std::accumulate(widths.begin(), widths.end(), -column_gap * letters.height());
  };
  while (rows < labels.size() && total(column_widths(out.labels, rows, letters)) > room) ++rows;
  const auto widths = column_widths(out.labels, rows, letters);
  const double spare = std::max(0.0, room - total(widths)) / 2;  // centred
  for (std::size_t n = 0; n < out.labels.size(); ++n) {
    const double left = std::accumulate(widths.begin(), widths.begin() + static_cast<Index>(n / rows), 0.0);
    const double row = static_cast<double>(n % rows) + 0.5;
    out.places.push_back({legend_gap + spare + left, size.height + legend_gap / 2 + letters.line() * row});
  }
  out.size.legend_below = letters.line() * static_cast<double>(rows) + legend_gap;
  return out;
}

// The same for many names: in letters that keep the plot the larger part, if such letters can still be read.
Legend many_below(const std::vector<std::string>& labels, const Size& size, const Letters& letters) {
  const auto with = [&](double share) { return below(labels, size, {letters.font, share * letters.size}); };
  for (const double share : {1.0, 0.95, 0.9, 0.85}) {
    if (Legend out = with(share); out.size.legend_below < 0.6 * size.plot_height(letters)) return out;
  }
  return with(1);
}

// To the right of the axes, which keep at least three tenths of the width.
Legend outside(const std::vector<std::string>& labels, Size size, const Letters& letters) {
  size.legend_right = widest(labels, letters);
  if (size.plot_width(letters) < 0.3 * size.width) {
    throw InputError("legend", fmt::format("beside the axes the names would take {:.1f} of {:.1f} cm; make the figure "
                                           "wider, take a smaller font, or write below",
                                           size.legend_right, size.width));
  }
  const double lines = letters.line() * static_cast<double>(labels.size()) + letters.top_margin() + legend_gap;
  size.legend_below = std::max(0.0, lines - size.height);
  Legend out{labels, {}, size, letters};
  add_column(out, size.width - size.legend_right, letters.top_margin(), letters);
  return out;
}

// In the first corner of the plot that nothing passes.
std::optional<Legend> inside(const std::vector<std::string>& labels, const Size& size, const Letters& letters,
                             const Obstacles& obstacles) {
  const double width = size.plot_width(letters);
  const double height = size.plot_height(letters);
  const double lines = letters.line() * static_cast<double>(labels.size());
  const double across = (widest(labels, letters) + legend_gap) / width, high = (lines + 2 * legend_gap) / height;
  if (across >= 1 || high >= 0.6) return {};
  for (const auto& [left, top] : {std::pair(false, true), {true, false}, {false, false}, {true, true}}) {
    const PlotPoint from = {left ? 0 : 1 - across, top ? 1 - high : 0};
    const PlotPoint to = {from.x + across, from.y + high};
    if (!is_free(obstacles, from, to)) continue;
    Legend out{labels, {}, size, letters};
    add_column(out, letters.left_margin() + from.x * width + (left ? legend_gap : 0),
               letters.top_margin() + (1 - to.y) * height + legend_gap, letters);
    return out;
  }
  return {};
}

}  // namespace

bool is_free(const Obstacles& obstacles, const PlotPoint& low, const PlotPoint& high) {
  return std::ranges::none_of(obstacles, [&](const auto& piece) { return passes(piece, low, high); });
}

double Letters::width(std::string_view text) const {
  // In shares of the height, of a wide font such as DejaVu Sans.
  constexpr double narrow = 0.4, usual = 0.63, capital = 0.75, widest = 0.98;
  double out = 0;
  for (const char c : text) {
    if (std::string_view(" !'(),-.:;I[]fijlrt|").find(c) != std::string_view::npos) {
      out += narrow;
    } else if (std::string_view("%@MWmw").find(c) != std::string_view::npos) {
      out += widest;
    } else if (static_cast<unsigned char>(c) < 0x80) {
      out += c >= 'A' && c <= 'Z' ? capital : usual;
    }
  }
  const auto others = std::ranges::count_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return height() * (out + capital * static_cast<double>(display_width(text) - others));
}

void draw_into(const std::string& file, const std::string& commands) {
  AtomicFile out = opened(file);
  out.write(gnuplot_output(commands));
  out.commit();
}

LineStyle line_style(std::size_t n) { return line_style(n, n); }

LineStyle line_style(std::size_t n, std::size_t dash) {
  const std::string_view colour = colours[n % colours.size()];
  return {fmt::format("lc rgb '{}' dt {} lw 1.1", colour, dashes[dash % dashes.size()]),
          fmt::format("lc rgb '{}' pt {} ps 0.45", colour, mark_types[n % mark_types.size()]), colour};
}

LineStyle dash_style(std::size_t dash) {
  constexpr std::string_view grey = "#606060";
  return {fmt::format("lc rgb '{}' dt {} lw 1.1", grey, dashes[dash % dashes.size()]), "", grey};
}

Letters letters_of(const FigureOptions& options) { return {options.font, options.font_size}; }

Legend make_legend(const std::vector<std::string>& labels, LegendPlace place, const FigureOptions& options,
                   const Obstacles& obstacles) {
  constexpr std::size_t few = 8;
  const Letters letters = letters_of(options);
  // Many names are written a little smaller, so that the plot stays the larger part.
  const Letters small = {letters.font, labels.size() > few ? 0.8 * letters.size : letters.size};
  const Size size = {options.width, options.height};
  if (place == LegendPlace::none) return {{}, {}, size, letters};
  if (place == LegendPlace::below) return many_below(labels, size, small);
  if (place == LegendPlace::outside) return outside(labels, size, small);
  if (auto found = inside(labels, size, letters, obstacles)) return *std::move(found);
  if (place == LegendPlace::automatic) return many_below(labels, size, small);
  throw InputError("legend", "no corner of the plot has room for " + std::to_string(labels.size()) +
                                 " names without hiding a curve; write outside or below, or choose fewer methods");
}

std::string legend_script(const Legend& legend, const std::vector<LineStyle>& styles, const std::string& file) {
  const auto screen = [&](double x, double y) {
    return fmt::format("screen {:.4f},{:.4f}", x / legend.size.width, 1 - y / legend.size.full_height());
  };
  const double sample = legend_sample(legend.letters);
  std::string out;
  for (std::size_t n = 0; n < legend.labels.size(); ++n) {
    const auto& [x, y] = legend.places[n];
    const LineStyle& look = styles[n];
    out += fmt::format("set arrow from {} to {} nohead {} front\n", screen(x, y), screen(x + sample, y), look.line);
    if (!look.mark.empty()) {
      out += fmt::format("set label '' at {} point {} front\n", screen(x + sample / 2, y), look.mark);
    }
    out += fmt::format("set label {} at {} left noenhanced front font ',{:.2f}'\n", gnuplot_string(legend.labels[n]),
                       screen(x + sample + legend.letters.height() / 2, y), legend.letters.size * points_in(file));
  }
  return out;
}

std::string figure_head(const std::string& file, const Size& size, const Letters& letters) {
  return "set encoding utf8\nset terminal " + terminal(file, size, letters) +
         "\nunset key\n"
         "set border 15 lw 0.7 lc rgb '#202020'\nset tics front scale 0.6,0.3\n"
         "set grid xtics ytics back lt 1 lc rgb '#e4e4e4' lw 0.5\n";
}

// Margins are given: gnuplot would guess the width of "10^{-15}" from its characters.
std::string figure_frame(const Size& size, const Letters& letters, std::string_view x_label, std::string_view y_label) {
  const auto set = [](const char* margin, double share) {
    return fmt::format("set {} at screen {:.4f}\n", margin, share);
  };
  return set("lmargin", letters.left_margin() / size.width) +
         set("rmargin", 1 - (letters.right_margin() + size.legend_right) / size.width) +
         set("tmargin", 1 - letters.top_margin() / size.full_height()) +
         set("bmargin", 1 - (size.height - letters.bottom_margin()) / size.full_height()) +
         fmt::format("set label '{}' at screen {:.4f}, graph 0.5 center rotate\n", y_label,
                     0.2 * letters.share() / size.width) +
         fmt::format("set label '{}' at graph 0.5, screen {:.4f} center\n", x_label,
                     1 - (size.height - 0.25 * letters.share()) / size.full_height());
}

}  // namespace polyhop::figure

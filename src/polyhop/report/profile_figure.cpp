// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/profile_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/report/figure_parts.hpp"
#include "polyhop/report/gnuplot.hpp"
#include "polyhop/report/text_table.hpp"

namespace polyhop {
namespace {

using namespace figure;

std::string_view label_of(Score score) {
  switch (score) {
    case Score::iterations:
      return "\u03c4, times the fewest iterations of any method";
    case Score::vectors:
      return "\u03c4, times the fewest vectors of any method";
    case Score::final_risk:
      return "\u03c4, times the smallest final excess risk of any method";
    case Score::final_risk_averaged:
      return "\u03c4, times the smallest final excess risk of any method, averaged";
    case Score::equal_vectors:
      return "\u03c4, times the smallest excess risk of any method at equal vectors";
    case Score::equal_vectors_averaged:
      return "\u03c4, times the smallest excess risk of any method at equal vectors, averaged";
  }
  return "";
}

// Where tau ends: a little beyond the largest ratio, but one hopeless method shall not squeeze the others.
double end_of(const Profiles& profiles) {
  constexpr double least = 1.5, most = 1e4;
  double largest = 1;
  for (const auto& ratios : profiles.ratios) {
    if (!ratios.empty()) largest = std::max(largest, ratios.back());
  }
  return std::clamp(1.15 * largest, least, most);
}

// Where it begins: a little below 1, so that the line of a method that is always best is not on the edge.
double begin_of(double end) { return std::pow(end, -0.02); }

// 1, 2, 5, 10, ... while those are few, else decades; below 2 finer ones.
std::string tau_tics(double end) {
  constexpr std::array<double, 7> fine = {1, 1.1, 1.2, 1.3, 1.5, 1.7, 2};
  std::string out;
  const auto add = [&](double at) {
    if (at <= end * (1 + 1e-9)) out += fmt::format("{}'{}' {}", out.empty() ? "" : ", ", number(at, 3), shortest(at));
  };
  if (end <= 2.5) {
    for (const double at : fine) add(at);
    return out;
  }
  for (double decade = 1; decade <= end; decade *= 10) {
    add(decade);
    if (end > 200) continue;
    add(2 * decade);
    add(5 * decade);
  }
  return out;
}

// The staircase of a method: at each ratio its share jumps by one instance.
std::string stairs(const std::vector<double>& ratios, Index instances, double end) {
  std::string out = "1 0\n";
  double share = 0;
  for (std::size_t n = 0; n < ratios.size() && ratios[n] <= end; ++n) {
    const double next = static_cast<double>(n + 1) / static_cast<double>(instances);
    out += fmt::format("{0} {1}\n{0} {2}\n", shortest(ratios[n]), share, next);
    share = next;
  }
  return out + fmt::format("{} {}\n", shortest(end), share);
}

// All stairs, as shares of the plot, whose upper edge is at `top`.
Obstacles obstacles_of(const Profiles& profiles, double end, double top) {
  const auto place = [&](double ratio) { return std::log(ratio / begin_of(end)) / std::log(end / begin_of(end)); };
  Obstacles out;
  for (const auto& ratios : profiles.ratios) {
    PlotPoint at{place(1), 0};
    for (std::size_t n = 0; n < ratios.size() && ratios[n] <= end; ++n) {
      const double x = place(ratios[n]);
      const double y = static_cast<double>(n + 1) / static_cast<double>(profiles.instances) / top;
      out.push_back({at, {x, at.y}});
      out.push_back({{x, at.y}, {x, y}});
      at = {x, y};
    }
    out.push_back({at, {1, at.y}});
  }
  return out;
}

// Methods with lines of their own, best ones first; the others are grey where there are more methods than colours.
std::size_t leading(std::size_t methods) {
  constexpr std::size_t few = 5;
  return methods > line_colours ? few : methods;
}

constexpr const char* muted = "lc rgb '#b8b8b8' dt 1 lw 0.6";

std::string profile_script(const Scoreboard& board, Score score, const std::string& file,
                           const FigureOptions& options) {
  constexpr double top = 1.04;
  const Profiles profiles = performance_profiles(board, score);
  if (profiles.instances == 0) throw InputError("figure", "no method solved any instance");
  const std::vector<std::size_t> order = ranked(board);
  std::vector<std::string> labels;
  std::vector<LineStyle> styles;
  const std::size_t named = leading(order.size());
  for (std::size_t n = 0; n < named; ++n) {
    styles.push_back(line_style(n));
    labels.push_back(shortened(printable(board.methods[order[n]]), label_width));
  }
  if (named < order.size()) {
    styles.push_back({muted, "", ""});
    labels.push_back(std::to_string(order.size() - named) + " other methods");
  }
  const double end = end_of(profiles);
  const Legend legend = make_legend(labels, options.legend, options, obstacles_of(profiles, end, top));
  const Letters letters = letters_of(options);

  std::string out = figure_head(file, legend.size, letters);
  out += fmt::format("set logscale x\nset xrange [{}:{}]\nset xtics ({})\n", shortest(begin_of(end)), shortest(end),
                     tau_tics(end));
  out += fmt::format("set yrange [0:{}]\nset ytics ('0' 0, '25%%' 0.25, '50%%' 0.5, '75%%' 0.75, '100%%' 1)\n", top);
  const bool fits = letters.width(label_of(score)) <= legend.size.plot_width(letters) + letters.left_margin();
  out += figure_frame(legend.size, letters, fits ? label_of(score) : "\u03c4, times the best", "instances solved");
  out += legend_script(legend, styles, file);
  std::vector<std::string> plots;  // the best ones last, over the others
  for (std::size_t n = order.size(); n-- > 0;) {
    out += fmt::format("$line{} << EOD\n{}EOD\n", n, stairs(profiles.ratios[order[n]], profiles.instances, end));
    plots.push_back(fmt::format("$line{} using 1:2 with lines {} notitle", n, n < named ? styles[n].line : muted));
    // Marks tell lines apart where they lie on each other.
    if (n < named) plots.push_back(fmt::format("$line{} using 1:2 every 2 with points {} notitle", n, styles[n].mark));
  }
  return out + fmt::format("plot {}\n", fmt::join(plots, ", \\\n  "));
}

}  // namespace

void write_profile_figure(const Scoreboard& board, Score score, const std::string& file, const FigureOptions& options) {
  const std::string commands = profile_script(board, score, file, options);
  draw_into(file, commands);
}

}  // namespace polyhop

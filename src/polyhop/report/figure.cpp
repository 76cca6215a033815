// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include "polyhop/core/error.hpp"
#include "polyhop/core/median.hpp"
#include "polyhop/report/figure_parts.hpp"
#include "polyhop/report/gnuplot.hpp"
#include "polyhop/report/text_table.hpp"
#include "polyhop/report/thinning.hpp"

namespace polyhop {
namespace {

using namespace figure;

constexpr std::size_t max_bands = 4;  // more of them hide each other
constexpr Index max_points = 200;     // of a drawn curve: more cannot be seen
constexpr std::size_t marks = 8;      // on a curve

bool can_be_drawn(double y) { return y > 0 && std::isfinite(y); }

/// A curve as it is drawn.
struct Drawn {
  std::string label;
  std::vector<CurvePoint> points;  // up to where the median diverges
  bool diverges = false;
};

/// The part of the plane that is shown: x from 0, y from 10^bottom to 10^top.
struct Frame {
  double right = 0;
  int bottom = 0;
  int top = 0;
  [[nodiscard]] double lowest() const { return std::pow(10.0, bottom); }
  [[nodiscard]] double highest() const { return std::pow(10.0, top); }
  // 0 at the left and at the bottom, 1 at the right and at the top.
  [[nodiscard]] double place_x(double x) const { return x / right; }
  [[nodiscard]] double place_y(double y) const { return (std::log10(y) - bottom) / (top - bottom); }
};

Drawn drawn(const MedianCurve& curve, std::string label) {
  Drawn out{shortened(printable(label), label_width), {}, false};
  const auto lost = std::ranges::find_if(curve.points, [](const CurvePoint& p) { return !std::isfinite(p.y.median); });
  out.diverges = lost != curve.points.end() && lost != curve.points.begin();
  for (const Index n : thinned(lost - curve.points.begin(), max_points)) {
    out.points.push_back(curve.points[n]);
  }
  return out;
}

std::vector<Drawn> drawn_curves(const std::vector<Record>& records, const FigureOptions& options) {
  require_methods(records, options.methods);
  std::vector<Drawn> out;
  for (const Record& record : records) {
    for (const MedianCurve& curve : median_curves(record, options.x, options.y)) {
      const bool wanted = options.methods.empty() || std::ranges::count(options.methods, curve.method) > 0;
      if (wanted) out.push_back(drawn(curve, (records.size() > 1 ? record.name + ": " : "") + curve.method));
    }
  }
  return out;
}

// Medians decide what is shown; a curve that rises far above where it began leaves the frame.
Frame frame_of(const std::vector<Drawn>& curves, const FigureOptions& options) {
  constexpr double max_rise = 10;
  constexpr int max_decades = 20;
  double low = std::numeric_limits<double>::infinity();
  double start = 0;
  double high = 0;
  Frame frame;
  for (const Drawn& curve : curves) {
    bool first = true;
    for (const CurvePoint& p : curve.points) {
      frame.right = std::max(frame.right, p.x);
      if (!can_be_drawn(p.y.median)) continue;
      if (std::exchange(first, false)) start = std::max(start, p.y.median);
      low = std::min(low, p.y.median);
      high = std::max(high, p.y.median);
    }
  }
  if (high == 0) {
    throw InputError("figure", "no run has an " + name_of(options.y) + " above 0 that could be drawn");
  }
  frame.top = static_cast<int>(std::ceil(std::log10(std::min(high, max_rise * start))));
  frame.bottom = std::clamp(static_cast<int>(std::floor(std::log10(low))), frame.top - max_decades, frame.top - 1);
  if (!(frame.right > 0)) frame.right = 1;
  return frame;
}

// Powers of ten at every `step`-th decade, with smaller tics between them.
std::string y_tics(const Frame& frame) {
  constexpr int max_labels = 7;
  const int decades = frame.top - frame.bottom;
  const int step = (decades + max_labels - 1) / max_labels;
  std::string out;
  for (int n = frame.bottom; n <= frame.top; ++n) {
    const bool major = n % step == 0;
    const std::string power = (n < 0 ? "\u2212" : "") + std::to_string(std::abs(n));
    out += fmt::format("{}'{}' 1e{} {}", out.empty() ? "" : ", ", major ? "10^{" + power + "}" : "", n, major ? 0 : 1);
    for (int digit = 2; digit <= 9 && step == 1 && n < frame.top; ++digit) {
      out += fmt::format(", '' {}e{} 1", digit, n);
    }
  }
  return out;
}

// About five round numbers, with one smaller tic between each two.
std::string x_tics(double right) {
  const double rough = right / 5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
  constexpr double slack = 1e-9;  // a tic on the edge is inside
  std::string out;
  for (int n = 0; n * step / 2 <= right * (1 + slack); ++n) {
    const double at = n * step / 2;
    const std::string text = right < 1e4 ? significant(at, 4) : number(at, 3);
    out += fmt::format("{}'{}' {} {}", n == 0 ? "" : ", ", n % 2 == 0 ? text : "", shortest(at), n % 2);
  }
  return out;
}

struct Corner {
  bool left;
  bool top;
};
constexpr std::array<Corner, 4> corners = {{{false, true}, {true, false}, {false, false}, {true, true}}};

// How many points of curves lie in a corner of the frame, given as shares of its width and height.
std::size_t covered(const std::vector<Drawn>& curves, const Frame& frame, const Corner& corner, double width,
                    double height) {
  std::size_t count = 0;
  for (const Drawn& curve : curves) {
    for (const CurvePoint& p : curve.points) {
      if (!can_be_drawn(p.y.median)) continue;
      const double x = frame.place_x(p.x);
      const double y = frame.place_y(p.y.median);
      if ((corner.left ? x < width : x > 1 - width) && (corner.top ? y > 1 - height : y < height)) ++count;
    }
  }
  return count;
}

std::vector<std::string> labels_of(const std::vector<Drawn>& curves) {
  std::vector<std::string> labels;
  for (const Drawn& curve : curves) labels.push_back(curve.label);
  return labels;
}

// In a corner of the frame where no curve passes; below the axes when there is none.
Legend legend_of(const std::vector<Drawn>& curves, const Frame& frame, const FigureOptions& options) {
  const std::vector<std::string> labels = labels_of(curves);
  const double entry = legend_entry_width(labels);
  const double width = options.width - left_margin - right_margin;
  const double height = options.height - bottom_margin - top_margin;
  const double lines = legend_line * static_cast<double>(curves.size());
  const auto hidden = [&](const Corner& corner) {
    return covered(curves, frame, corner, (entry + legend_gap) / width, (lines + 2 * legend_gap) / height);
  };
  const auto best = std::ranges::min_element(corners, {}, hidden);
  if (hidden(*best) > 0 || entry + legend_gap >= width || lines >= 0.6 * height) {
    return legend_below(labels, options.width, options.height);
  }
  const double left = best->left ? left_margin + legend_gap : options.width - right_margin - entry;
  const double top = best->top ? top_margin + legend_gap : options.height - bottom_margin - legend_gap - lines;
  return {left, top, entry, curves.size(), 0};
}

/// The data blocks of a curve and what plots them.
class CurveScript {
 public:
  CurveScript(const Drawn& curve, const Frame& frame, std::size_t n, std::size_t count) : style_(line_style(n)) {
    const std::string id = std::to_string(n);
    data_ = "$line" + id + " << EOD\n";
    for (const CurvePoint& p : curve.points) {
      const std::string median = can_be_drawn(p.y.median) ? shortest(p.y.median) : "NaN";
      data_ += shortest(p.x) + " " + median + "\n";
    }
    data_ += "EOD\n$band" + id + " << EOD\n";
    for (const CurvePoint& p : curve.points) {
      if (!std::isfinite(p.y.high)) break;  // a tenth has diverged: there is no upper edge any more
      const auto inside = [&](double y) { return shortest(std::clamp(y, frame.lowest(), frame.highest())); };
      data_ += shortest(p.x) + " " + inside(p.y.low) + " " + inside(p.y.high) + "\n";
    }
    data_ += "EOD\n$mark" + id + " << EOD\n" + marks_of(curve, n, count) + "EOD\n$end" + id + " << EOD\n";
    if (curve.diverges) data_ += point(curve.points.back());
    data_ += "EOD\n";
    band_ = fmt::format("$band{} using 1:2:3 with filledcurves fc rgb '{}' fs transparent solid 0.15 noborder notitle",
                        id, style_.colour);
    line_ = fmt::format("$line{} using 1:2 with lines {} notitle", id, style_.line);
    marks_ = fmt::format("$mark{} using 1:2 with points {} notitle", id, style_.mark);
    if (curve.diverges) {
      marks_ += fmt::format(", $end{} using 1:2 with points lc rgb '{}' pt 2 ps 0.8 lw 1.5 notitle", id, style_.colour);
    }
  }
  std::string data_, band_, line_, marks_;

 private:
  static std::string point(const CurvePoint& p) { return shortest(p.x) + " " + shortest(p.y.median) + "\n"; }

  // Marks of different curves stand at different places.
  static std::string marks_of(const Drawn& curve, std::size_t n, std::size_t count) {
    std::string out;
    const double share = (static_cast<double>(n) + 0.5) / static_cast<double>(count);
    for (std::size_t m = 0; m < marks && !curve.points.empty(); ++m) {
      const double place = (static_cast<double>(m) + share) / static_cast<double>(marks);
      const CurvePoint& p = curve.points[static_cast<std::size_t>(place * static_cast<double>(curve.points.size()))];
      if (can_be_drawn(p.y.median)) out += point(p);
    }
    return out;
  }

  LineStyle style_;
};

// A level to compare the curves with.
struct Level {
  double y;
  const char* name;
};

// The goal that all records share, or the optimum's own share of wrong classes, where it is in sight.
std::optional<Level> level_of(const std::vector<Record>& records, const Frame& frame, CurveY y) {
  const ComparedWith with = column_of(y).compared;
  const auto of = [&](const Record& record) {
    if (with == ComparedWith::target) return record.target;
    std::vector<double> rates;
    for (const Cell& cell : record.cells) {
      if (!std::isnan(cell.reference_error_rate)) rates.push_back(cell.reference_error_rate);
    }
    return rates.empty() ? 0 : median(std::move(rates));
  };
  const double level = of(records.front());
  const bool same = std::ranges::all_of(records, [&](const Record& r) { return of(r) == level; });
  const bool asked = with != ComparedWith::nothing;
  if (!same || !asked || !(level > frame.lowest()) || !(level < frame.highest())) return {};
  return Level{level, with == ComparedWith::optimum ? "optimum" : "target"};
}

// At the end of the line that fewer curves pass.
std::string level_label(const std::vector<Drawn>& curves, const Frame& frame, const Level& level) {
  constexpr double width = 0.13, height = 0.08;  // shares of the frame
  std::array<std::size_t, 2> near = {0, 0};
  for (const Drawn& curve : curves) {
    for (const CurvePoint& p : curve.points) {
      const double above = can_be_drawn(p.y.median) ? frame.place_y(p.y.median) - frame.place_y(level.y) : -1;
      if (above < -0.01 || above > height) continue;
      if (frame.place_x(p.x) < width) ++near[0];
      if (frame.place_x(p.x) > 1 - width) ++near[1];
    }
  }
  const bool left = near[0] <= near[1];
  // Below the optimum nobody comes.
  return fmt::format("set label '{}' at graph {}, first {} {} offset 0,{} tc rgb '#606060' front\n", level.name,
                     left ? "0.015" : "0.985", shortest(level.y), left ? "left" : "right",
                     level.name == std::string_view("optimum") ? "-0.6" : "0.4");
}

std::string plot_command(const std::vector<CurveScript>& curves, bool band, const std::optional<Level>& level) {
  std::vector<std::string> parts;
  if (level) parts.push_back(shortest(level->y) + " with lines lc rgb '#808080' dt (4,4) lw 0.7 notitle");
  for (const auto& c : curves) {
    if (band) parts.push_back(c.band_);
  }
  for (const auto& c : curves) parts.push_back(c.line_);
  for (const auto& c : curves) parts.push_back(c.marks_);
  return fmt::format("plot {}\n", fmt::join(parts, ", \\\n  "));
}

std::string script(const std::vector<Record>& records, const FigureOptions& options, const std::string& file) {
  const std::vector<Drawn> curves = drawn_curves(records, options);
  const Frame frame = frame_of(curves, options);
  std::vector<CurveScript> scripts;
  for (std::size_t n = 0; n < curves.size(); ++n) scripts.emplace_back(curves[n], frame, n, curves.size());
  const auto level = level_of(records, frame, options.y);
  const Legend legend = legend_of(curves, frame, options);
  const double height = options.height + legend.extra;

  std::string out = figure_head(file, options.width, height);
  out += fmt::format("set xrange [0:{}]\nset xtics ({})\n", shortest(frame.right), x_tics(frame.right));
  out +=
      fmt::format("set logscale y\nset yrange [1e{}:1e{}]\nset ytics ({})\n", frame.bottom, frame.top, y_tics(frame));
  out += figure_frame({options.width, options.height, height}, label_of(options.x), column_of(options.y).label);
  out += legend_script(labels_of(curves), legend, options.width, height);
  if (level) out += level_label(curves, frame, *level);
  for (const auto& c : scripts) out += c.data_;
  return out + plot_command(scripts, options.band && curves.size() <= max_bands, level);
}

}  // namespace

const FieldTable<FigureOptions>& FigureOptions::fields() {
  using O = FigureOptions;
  static const auto table = FieldTable<O>()
                                .add("x", &O::x, "what the curves run over")
                                .add("y", &O::y, "what they show")
                                .add("methods", &O::methods, "which, by name; all of them when the list is empty")
                                .add("width", &O::width, "in centimetres", {within(3, 100)})
                                .add("height", &O::height, "in centimetres", {within(3, 100)})
                                .add("band", &O::band, "show the outer tenths over the seeds");
  return table;
}

void require_methods(const std::vector<Record>& records, const std::vector<std::string>& methods) {
  std::set<std::string> known;
  for (const Record& record : records) {
    for (const Cell& cell : record.cells) known.insert(cell.method);
  }
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& method : methods) {
    if (!known.contains(method)) {
      throw InputError("methods", "there is no method " + in_quotes(method) + suggestion(method, names));
    }
  }
}

void write_figure(const std::vector<Record>& records, const FigureOptions& options, const std::string& file) {
  if (records.empty()) throw InputError("figure", "there is no experiment to draw");
  const std::string commands = script(records, options, file);
  draw_into(file, commands);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

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

constexpr const char* every_band = "all";  // in a list of bands

bool can_be_drawn(double y) { return y > 0 && std::isfinite(y); }

/// A curve as it is drawn.
struct Drawn {
  std::string label;
  std::string method;
  std::size_t record = 0;  // its number
  bool band = false;
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

// The point at which a curve falls to 0 for good, below what rounding lets anyone know: there its line leaves the
// frame. The number of points where none does.
std::size_t fall_of(const std::vector<CurvePoint>& points) {
  const auto above = [](const CurvePoint& p) { return can_be_drawn(p.y.median); };
  const auto last = std::find_if(points.rbegin(), points.rend(), above);
  const auto next = static_cast<std::size_t>(points.rend() - last);
  return next > 0 && next < points.size() && points[next].y.median == 0 ? next : points.size();
}

// The points of a band: where a tenth of the runs has diverged, it goes off the top and ends.
std::span<const CurvePoint> band_of(const std::vector<CurvePoint>& points) {
  const auto end = std::ranges::find_if(points, [](const CurvePoint& p) { return !std::isfinite(p.y.high); });
  return {points.begin(), end != points.end() && std::isinf(end->y.high) ? end + 1 : end};
}

Drawn drawn(const MedianCurve& curve, const std::string& label, std::size_t record, bool band) {
  Drawn out{shortened(printable(label), label_width), curve.method, record, band, {}, false};
  const auto lost = std::ranges::find_if(curve.points, [](const CurvePoint& p) { return !std::isfinite(p.y.median); });
  out.diverges = lost != curve.points.end() && lost != curve.points.begin();
  for (const Index n : thinned(lost - curve.points.begin(), max_points)) {
    out.points.push_back(curve.points[n]);
  }
  return out;
}

bool wanted(const std::vector<std::string>& names, const std::string& method) {
  return std::ranges::count(names, method) > 0;
}

void require_bands(const std::vector<Record>& records, const std::vector<std::string>& bands) {
  if (bands == std::vector<std::string>{every_band}) return;
  try {
    require_methods(records, bands);
  } catch (const InputError& e) {
    throw InputError("bands", e.message());
  }
}

std::vector<Drawn> drawn_curves(const std::vector<Record>& records, const FigureOptions& options) {
  require_methods(records, options.methods);
  require_bands(records, options.bands);
  std::vector<Drawn> out;
  for (std::size_t n = 0; n < records.size(); ++n) {
    const Record& record = records[n];
    for (const MedianCurve& curve : median_curves(record, options.x, options.y)) {
      if (!options.methods.empty() && !wanted(options.methods, curve.method)) continue;
      const bool band =
          options.bands.empty() || wanted(options.bands, every_band) || wanted(options.bands, curve.method);
      const std::string label = (records.size() > 1 ? record.name + ": " : "") + curve.method;
      out.push_back(drawn(curve, label, n, options.band && band));
    }
  }
  if (options.bands.empty() && out.size() > max_bands) {
    for (Drawn& curve : out) curve.band = false;
  }
  return out;
}

/// How curves look, and the entries of the legend that explains it.
struct Looks {
  std::vector<LineStyle> styles;
  std::vector<std::string> labels;
  std::vector<LineStyle> samples;
};

// Of several experiments, methods of one name share a colour and marks, and each experiment has dashes of its own,
// unless two curves would then look alike. The legend explains methods and experiments apart where that is shorter.
Looks looks_of(const std::vector<Drawn>& curves, const std::vector<Record>& records) {
  std::vector<std::string> names;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  // of a name and an experiment
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const Drawn& curve : curves) {
    const auto at = std::ranges::find(names, curve.method);
    pairs.emplace_back(at - names.begin(), curve.record);
    if (at == names.end()) names.push_back(curve.method);
    seen.emplace(pairs.back().first % line_colours, curve.record % line_dashes);
  }
  const bool paired = records.size() > 1 && seen.size() == curves.size();
  Looks out;
  for (std::size_t n = 0; n < curves.size(); ++n) {
    out.styles.push_back(paired ? line_style(pairs[n].first, pairs[n].second) : line_style(n));
    out.labels.push_back(curves[n].label);
  }
  out.samples = out.styles;
  if (!paired || names.size() + records.size() >= curves.size()) return out;
  out.labels.clear();
  out.samples.clear();
  const auto explain = [&](const std::string& name, const LineStyle& style) {
    out.labels.push_back(shortened(printable(name), label_width));
    out.samples.push_back(style);
  };
  for (std::size_t n = 0; n < names.size(); ++n) explain(names[n], line_style(n, 0));
  for (std::size_t n = 0; n < records.size(); ++n) explain(records[n].name, dash_style(n));
  return out;
}

// Medians decide what is shown, up to the last point that can be drawn; a curve that rises far above where it began
// leaves the frame.
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
      if (!can_be_drawn(p.y.median)) continue;
      frame.right = std::max(frame.right, p.x);
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

// About five round numbers where the axis has room for them, with one smaller tic between each two. The last has none
// where the figure's edge would cut it off.
std::string x_tics(double right, double width, const Letters& letters) {
  const double rough = right / std::clamp(std::floor(width / letters.width("100000")), 1.0, 5.0);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
  constexpr double slack = 1e-9;   // a tic on the edge is inside
  constexpr double cut_off = 0.1;  // of a letter's height, which nobody sees
  std::string out;
  for (int n = 0; n * step / 2 <= right * (1 + slack); ++n) {
    const double at = n * step / 2;
    const std::string text = right < 1e4 ? significant(at, 4) : number(at, 3);
    const double room = (1 - at / right) * width + letters.right_margin() + cut_off * letters.height();
    const bool shown = n % 2 == 0 && letters.width(text) / 2 <= room;
    out += fmt::format("{}'{}' {} {}", n == 0 ? "" : ", ", shown ? text : "", shortest(at), n % 2);
  }
  return out;
}

// A level to compare the curves with.
struct Level {
  double y;
  const char* name;
};

// All that is drawn inside the frame. Of a band its upright strips, of which there is one at each point.
Obstacles obstacles_of(const std::vector<Drawn>& curves, const Frame& frame, const std::optional<Level>& level) {
  Obstacles out;
  const auto place = [&](double x, double y) {
    return PlotPoint{frame.place_x(x), frame.place_y(std::clamp(y, frame.lowest(), frame.highest()))};
  };
  for (const Drawn& curve : curves) {
    const CurvePoint* before = nullptr;
    const std::size_t fall = fall_of(curve.points);
    if (curve.band) {
      for (const CurvePoint& p : band_of(curve.points)) out.emplace_back(place(p.x, p.y.low), place(p.x, p.y.high));
    }
    for (std::size_t n = 0; n < curve.points.size(); ++n) {
      const CurvePoint& p = curve.points[n];
      if (!can_be_drawn(p.y.median) && n != fall) continue;
      if (before == nullptr) before = &p;
      out.emplace_back(place(before->x, before->y.median), place(p.x, p.y.median));
      before = &p;
    }
  }
  if (level) out.emplace_back(place(0, level->y), place(frame.right, level->y));
  return out;
}

/// The data blocks of a curve and what plots them.
class CurveScript {
 public:
  CurveScript(const Drawn& curve, const LineStyle& style, const Frame& frame, std::size_t n, std::size_t count) {
    const std::string id = std::to_string(n);
    data_ = "$line" + id + " << EOD\n";
    const std::size_t fall = fall_of(curve.points);
    for (std::size_t m = 0; m < curve.points.size(); ++m) {
      const CurvePoint& p = curve.points[m];
      const double shown = m == fall ? frame.lowest() / 10 : p.y.median;
      data_ += shortest(p.x) + " " + (can_be_drawn(shown) ? shortest(shown) : "NaN") + "\n";
    }
    data_ += "EOD\n$band" + id + " << EOD\n";
    for (const CurvePoint& p : band_of(curve.points)) {
      const auto inside = [&](double y) { return shortest(std::clamp(y, frame.lowest(), frame.highest())); };
      data_ += shortest(p.x) + " " + inside(p.y.low) + " " + inside(p.y.high) + "\n";
    }
    data_ += "EOD\n$mark" + id + " << EOD\n" + marks_of(curve, n, count) + "EOD\n$end" + id + " << EOD\n";
    if (curve.diverges) data_ += point(curve.points.back());
    data_ += "EOD\n";
    if (curve.band)
      band_ =
          fmt::format("$band{} using 1:2:3 with filledcurves fc rgb '{}' fs transparent solid 0.15 noborder notitle",
                      id, style.colour);
    line_ = fmt::format("$line{} using 1:2 with lines {} notitle", id, style.line);
    marks_ = fmt::format("$mark{} using 1:2 with points {} notitle", id, style.mark);
    if (curve.diverges) {
      marks_ += fmt::format(", $end{} using 1:2 with points lc rgb '{}' pt 2 ps 0.8 lw 1.5 notitle", id, style.colour);
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

// Where the middle of the level's label is, at whatever place along the line; `height`: of a letter, as a share.
double label_middle(const Level& level, const Frame& frame, double height) {
  const bool below = level.name == std::string_view("optimum");
  return frame.place_y(level.y) + (below ? -0.8 : 0.8) * height;
}

std::pair<PlotPoint, PlotPoint> label_strip(const Level& level, const Frame& frame, double height) {
  const double y = label_middle(level, frame, height);
  return {{0, y}, {1, y}};
}

// On the line, below it for the optimum, which no curve passes; where no curve is, if there is such a place.
std::string level_label(const Level& level, const Frame& frame, const Obstacles& obstacles, const Size& size,
                        const Letters& letters) {
  const double width = letters.width(level.name) / size.plot_width(letters);
  const double height = letters.height() / size.plot_height(letters);
  const double middle = label_middle(level, frame, height);
  constexpr double edge = 0.015;
  double x = 1 - edge - width;
  for (const double place : {x, edge, 0.5 - width / 2, 0.75 - width / 2, 0.25 - width / 2}) {
    if (!is_free(obstacles, {place, middle - height / 2}, {place + width, middle + height / 2})) continue;
    x = place;
    break;
  }
  return fmt::format("set label '{}' at graph {:.4f}, graph {:.4f} left tc rgb '#606060' front\n", level.name, x,
                     middle);
}

std::string plot_command(const std::vector<CurveScript>& curves, const std::optional<Level>& level) {
  std::vector<std::string> parts;
  if (level) parts.push_back(shortest(level->y) + " with lines lc rgb '#808080' dt (4,4) lw 0.7 notitle");
  for (const auto& c : curves) {
    if (!c.band_.empty()) parts.push_back(c.band_);
  }
  for (const auto& c : curves) parts.push_back(c.line_);
  for (const auto& c : curves) parts.push_back(c.marks_);
  return fmt::format("plot {}\n", fmt::join(parts, ", \\\n  "));
}

std::string script(const std::vector<Record>& records, const FigureOptions& options, const std::string& file) {
  const std::vector<Drawn> curves = drawn_curves(records, options);
  const Frame frame = frame_of(curves, options);
  const Looks looks = looks_of(curves, records);
  std::vector<CurveScript> scripts;
  for (std::size_t n = 0; n < curves.size(); ++n)
    scripts.emplace_back(curves[n], looks.styles[n], frame, n, curves.size());
  const auto level = level_of(records, frame, options.y);
  const Letters letters = letters_of(options);
  const double plot_height = Size{options.width, options.height}.plot_height(letters);
  const Obstacles obstacles = obstacles_of(curves, frame, level);
  Obstacles with_label = obstacles;
  if (level) with_label.push_back(label_strip(*level, frame, letters.height() / plot_height));
  const Legend legend = make_legend(looks.labels, options.legend, options, with_label);

  std::string out = figure_head(file, legend.size, letters);
  out += fmt::format("set xrange [0:{}]\nset xtics ({})\n", shortest(frame.right),
                     x_tics(frame.right, legend.size.plot_width(letters), letters));
  out +=
      fmt::format("set logscale y\nset yrange [1e{}:1e{}]\nset ytics ({})\n", frame.bottom, frame.top, y_tics(frame));
  out += figure_frame(legend.size, letters, label_of(options.x), column_of(options.y).label);
  out += legend_script(legend, looks.samples, file);
  if (level) out += level_label(*level, frame, obstacles, legend.size, letters);
  for (const auto& c : scripts) out += c.data_;
  return out + plot_command(scripts, level);
}

// A name that means nothing to gnuplot.
void require_font(const std::string& name) {
  static constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -";
  if (!name.empty() && name.find_first_not_of(plain) == std::string::npos) return;
  throw InputError("font", in_quotes(name) + " is not the name of a font; write a name such as Times, a size in " +
                               "points such as 9, or both: Times,9");
}

void require_size(double size) {
  if (size >= FigureFont::smallest && size <= FigureFont::largest) return;
  throw InputError("font", fmt::format("the size should be from {} to {} points, found {}; write for example Times,9",
                                       FigureFont::smallest, FigureFont::largest, shortest(size)));
}

// The number that all of a text is.
std::optional<double> number_of(std::string_view text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(out)) return {};
  return out;
}

struct Unit {
  std::string_view name;
  double cm;
};
constexpr std::array<Unit, 4> units = {{{"cm", 1}, {"mm", 0.1}, {"in", cm_per_inch}, {"pt", cm_per_inch / 72}}};

}  // namespace

const FieldTable<FigureOptions>& FigureOptions::fields() {
  using O = FigureOptions;
  static const auto table =
      FieldTable<O>()
          .add("x", &O::x, "what the curves run over")
          .add("y", &O::y, "what they show")
          .add("methods", &O::methods, "which, by name; all of them when the list is empty")
          .add("width", &O::width, "in centimetres", {within(3, 100)})
          .add("height", &O::height, "in centimetres", {within(3, 100)})
          .add("band", &O::band, "show the outer tenths over the seeds")
          .add("bands", &O::bands,
               "behind which curves: names of methods, or all; behind all of at most four when "
               "the list is empty")
          .add("legend", &O::legend, "where it stands; auto: in a free corner, else below")
          .add("font", &O::font, "its name")
          .add("font_size", &O::font_size, "in points", {within(FigureFont::smallest, FigureFont::largest)});
  return table;
}

FigureFont FigureFont::read(const std::string& text) {
  FigureFont out;
  const std::size_t comma = text.rfind(',');
  std::string last = comma == std::string::npos ? text : text.substr(comma + 1);
  if (last.ends_with("pt")) last.resize(last.size() - 2);
  const auto size = number_of(last);
  if (size) out.size = *size;
  if (!size || comma != std::string::npos) out.name = size ? text.substr(0, comma) : text;
  require_font(out.name);
  require_size(out.size);
  return out;
}

double figure_length(const std::string& text) {
  constexpr double least = 3, most = 100;
  const auto unit = std::ranges::find_if(units, [&](const Unit& u) { return text.ends_with(u.name); });
  const auto size = number_of(unit == units.end() ? text : text.substr(0, text.size() - unit->name.size()));
  if (!size) {
    throw InputError(
        "", in_quotes(text) + " is not a length; write a number with cm, mm, in or pt, such as 8.8cm or " + "3.5in");
  }
  const double cm = *size * (unit == units.end() ? 1 : unit->cm);
  if (!(cm >= least && cm <= most)) {
    throw InputError("", fmt::format("should be from {} to {} cm, found {}, which is {} cm", least, most,
                                     in_quotes(text), significant(cm, 3)));
  }
  return cm;
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
  require_font(options.font);
  const std::string commands = script(records, options, file);
  draw_into(file, commands);
}

}  // namespace polyhop

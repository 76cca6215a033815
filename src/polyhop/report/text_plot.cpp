// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/text_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "polyhop/report/median_curve.hpp"
#include "polyhop/report/ranking.hpp"
#include "polyhop/report/text_table.hpp"

namespace polyhop {
namespace {

constexpr Index margin = 6;  // "1e-15 "
constexpr Index least_columns = 20;
constexpr Index least_rows = 4;

constexpr std::array<std::string_view, 8> symbols = {"●", "○", "■", "□", "▲", "△", "◆", "◇"};
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// What the axes are drawn with.
struct Lines {
  std::string_view tic, side, corner, bottom, bottom_tic;
};
constexpr Lines ascii = {"+", "|", "+", "-", "+"};
constexpr Lines box = {"┤", "│", "└", "─", "┴"};

/// The plotted part of the plane: the cost from 0 to `right`, log10 of the measure from `bottom` to `top`.
struct Window {
  double right = 0;
  double bottom = std::numeric_limits<double>::infinity();
  double top = -std::numeric_limits<double>::infinity();
};

bool is_visible(const CurvePoint& p) { return p.y.median > 0 && std::isfinite(p.y.median); }

// As in figures: a curve that rises far above where it began leaves the plot.
std::optional<Window> window_of(const std::vector<MedianCurve>& curves) {
  constexpr double max_rise = 1;  // decades
  constexpr double max_decades = 20;
  Window frame;
  double start = frame.top;
  for (const MedianCurve& curve : curves) {
    bool first = true;
    for (const CurvePoint& p : curve.points) {
      if (!is_visible(p)) continue;
      const double y = std::log10(p.y.median);
      if (std::exchange(first, false)) start = std::max(start, y);
      frame.right = std::max(frame.right, p.x);
      frame.bottom = std::min(frame.bottom, y);
      frame.top = std::max(frame.top, y);
    }
  }
  if (!std::isfinite(frame.top)) return {};
  frame.top = std::ceil(std::min(frame.top, start + max_rise));
  frame.bottom = std::clamp(std::floor(frame.bottom), frame.top - max_decades, frame.top - 1);
  if (!(frame.right > 0)) frame.right = 1;
  return frame;
}

/// Characters on a grid, row 0 at the top; each knows which curve put it there.
class Canvas {
 public:
  Canvas(Index columns, Index rows) : columns_(columns), rows_(rows), owner_(columns * rows, -1) {}

  // A curve between two columns; what lies above or below the canvas is not drawn.
  void line(Index column, double from, double to, int curve) {
    const auto first = static_cast<Index>(std::lround(std::min(from, to)));
    const auto last = static_cast<Index>(std::lround(std::max(from, to)));
    for (Index row = std::max<Index>(first, 0); row <= std::min(last, rows_ - 1); ++row) {
      int& owner = owner_[row * columns_ + column];
      if (owner < 0 || (column + curve) % 2 == 0) owner = curve;  // where curves meet they take turns
    }
  }
  [[nodiscard]] int owner(Index column, Index row) const { return owner_[row * columns_ + column]; }
  [[nodiscard]] Index columns() const { return columns_; }
  [[nodiscard]] Index rows() const { return rows_; }

 private:
  Index columns_;
  Index rows_;
  std::vector<int> owner_;
};

// The value at `x`, in log10, by interpolation between the points around it; nothing where the curve is not.
std::optional<double> height_at(const std::vector<CurvePoint>& points, double x) {
  const auto after = std::ranges::lower_bound(points, x, {}, &CurvePoint::x);
  if (after == points.end() || !is_visible(*after)) return {};
  const double y = std::log10(after->y.median);
  if (after == points.begin() || after->x == x) return y;
  const CurvePoint& before = *(after - 1);
  if (!is_visible(before)) return {};
  const double from = std::log10(before.y.median);
  return from + (y - from) * (x - before.x) / (after->x - before.x);
}

void draw(Canvas& canvas, const MedianCurve& curve, const Window& frame, int number) {
  // Rows far outside are as good as one: no height overflows an integer.
  const auto row_of = [&](double y) {
    const double share = std::clamp((frame.top - y) / (frame.top - frame.bottom), -1.0, 2.0);
    return share * static_cast<double>(canvas.rows() - 1);
  };
  constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();
  double last = nowhere;
  for (Index column = 0; column < canvas.columns(); ++column) {
    const double x = frame.right * static_cast<double>(column) / static_cast<double>(canvas.columns() - 1);
    const auto y = height_at(curve.points, x);
    const double row = y ? row_of(*y) : nowhere;
    // Half of a steep step belongs to each of its columns, so the line has no gaps.
    const double halfway = std::isnan(last) ? row : (last + row) / 2;
    if (y) canvas.line(column, halfway, row, number);
    if (y && !std::isnan(last)) canvas.line(column - 1, last, halfway, number);
    last = row;
  }
}

std::string mark(int curve, bool plain) {
  return plain ? std::string(1, letters[curve % letters.size()]) : std::string(symbols[curve % symbols.size()]);
}

std::string right_aligned(const std::string& text, Index width) {
  return std::string(std::max<Index>(width - display_width(text), 0), ' ') + text;
}

// The power of ten that a row stands for, where it is one that is labelled.
std::string row_label(const Window& frame, Index row, Index rows) {
  const double decades = frame.top - frame.bottom;
  const double a_row = decades / static_cast<double>(rows - 1);
  constexpr std::array<double, 5> steps = {1, 2, 3, 5, 10};
  const auto wide = std::ranges::find_if(steps, [&](double s) { return s >= 3 * a_row; });
  const double step = wide == steps.end() ? steps.back() : *wide;
  const double y = frame.top - a_row * static_cast<double>(row);
  const double nearest = std::round(y / step) * step;
  if (nearest > frame.top || nearest < frame.bottom) return "";
  if (std::lround((frame.top - nearest) / a_row) != row) return "";
  return "1e" + std::to_string(std::lround(nearest));
}

std::string axis(const Window& frame, Index columns, const Lines& lines, CurveX x) {
  std::string out = std::string(margin, ' ') + std::string(lines.corner);
  for (Index column = 0; column < columns; ++column) {
    out += column == columns / 2 || column == columns - 1 ? lines.bottom_tic : lines.bottom;
  }
  const std::string middle = number(frame.right / 2, 3);
  const std::string end = number(frame.right, 3);
  std::string text = std::string(margin + 1, ' ') + "0";
  text += right_aligned(middle, columns / 2 - 1 + display_width(middle) / 2 + 1);
  text += right_aligned(end, margin + 1 + columns - display_width(text));
  return out + "\n" + text + "  " + name_of(x) + "\n";
}

std::string without_last_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string text_plot(const Record& record, Index width, Index height, const TextPlotOptions& options) {
  const Index room_for_axis_name = 2 + std::ssize(name_of(options.x));
  const bool plain = options.plain;
  auto curves = median_curves(record, options.x, options.y);
  const std::vector<Standing> standings = rank(record);
  std::ranges::stable_sort(curves, {}, [&](const MedianCurve& curve) {
    return std::ranges::find(standings, curve.method, &Standing::method) - standings.begin();
  });
  const auto frame = window_of(curves);
  if (!frame) return "";
  Canvas canvas(std::max(width - margin - 1 - room_for_axis_name, least_columns), std::max(height, least_rows));
  for (std::size_t n = 0; n < curves.size(); ++n) draw(canvas, curves[n], *frame, static_cast<int>(n));

  const Lines& lines = plain ? ascii : box;
  std::string out = std::string(column_of(options.y).label) + "\n";
  for (Index row = 0; row < canvas.rows(); ++row) {
    const std::string label = row_label(*frame, row, canvas.rows());
    std::string line = right_aligned(label.empty() ? "" : label + " ", margin);
    line += label.empty() ? lines.side : lines.tic;
    for (Index column = 0; column < canvas.columns(); ++column) {
      const int owner = canvas.owner(column, row);
      line += owner < 0 ? " " : mark(owner, plain);
    }
    out += without_last_blanks(line);
  }
  out += axis(*frame, canvas.columns(), lines, options.x);
  for (std::size_t n = 0; n < curves.size(); ++n) {
    const std::string name = printable(curves[n].method);
    const std::string line = std::string(margin, ' ') + mark(static_cast<int>(n), plain) + " " + name;
    out += paragraph(line, width, margin + 2);
  }
  return out;
}

}  // namespace polyhop

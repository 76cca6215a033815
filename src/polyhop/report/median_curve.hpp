// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/experiment/record.hpp"
#include "polyhop/report/ranking.hpp"

namespace polyhop {

/// What a curve runs over: the cost so far.
enum class CurveX { iterations, vectors, evaluations, seconds };
template <>
struct EnumNames<CurveX> {
  static constexpr std::array<std::pair<CurveX, std::string_view>, 4> names = {{{CurveX::iterations, "iterations"},
                                                                                {CurveX::vectors, "vectors"},
                                                                                {CurveX::evaluations, "evaluations"},
                                                                                {CurveX::seconds, "seconds"}}};
};

/// What a curve shows: one of the measures of a point, by its index. Its name is the column's, with dashes.
enum class CurveY : std::size_t {};
/// Does not compile for a member that is not a measure.
consteval CurveY curve_y(double Point::*member) {
  const auto& all = columns_of<ColumnKind::measure>;
  const auto found = std::ranges::find(all, column_of(member).number, &PointColumn::number);
  if (found == all.end()) throw std::invalid_argument("not a measure");
  return CurveY(found - all.begin());
}
constexpr const PointColumn& column_of(CurveY y) {
  return columns_of<ColumnKind::measure>[static_cast<std::size_t>(y)];
}
template <>
struct EnumNames<CurveY> {
  static inline const std::vector<std::pair<CurveY, std::string>> names = [] {
    std::vector<std::pair<CurveY, std::string>> out;
    for (const PointColumn& column : columns_of<ColumnKind::measure>) {
      out.emplace_back(CurveY(out.size()), column.name);
      std::ranges::replace(out.back().second, '_', '-');
    }
    return out;
  }();
};

/// The cost of a run up to a point.
double cost_at(const Point& point, CurveX x);
/// The label of its axis.
std::string_view label_of(CurveX x);

struct CurvePoint {
  double x = 0;
  Spread y;  // infinite where a run of that share has diverged
};

/// A method over all its seeds.
struct MedianCurve {
  std::string method;
  std::vector<CurvePoint> points;
};

/// One curve per method, in the order of the record: at each recorded iteration, the median of x and the spread of y
/// over the seeds. A run that ended at the target keeps its last value, one that diverged or ran out of time counts as
/// infinite from then on, and an unfinished or failed one is left out. A curve ends when fewer than half of its runs
/// are left; a method without runs has no points. Excess risks are 0 where tables show them as 0: see shown_floor().
std::vector<MedianCurve> median_curves(const Record& record, CurveX x, CurveY y);

}  // namespace polyhop

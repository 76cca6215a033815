// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/median_curve.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <ranges>

namespace polyhop {
namespace {

std::vector<CurvePoint> points_of(const std::vector<const Cell*>& cells, CurveX x, CurveY y) {
  std::map<Index, std::vector<const Point*>> at;  // the runs' own points, by iteration
  for (const Cell* cell : cells) {
    for (const Point& point : cell->points) at[point.iteration].push_back(&point);
  }
  std::vector<CurvePoint> out;
  for (const auto& [iteration, points] : at) {
    if (2 * points.size() < cells.size()) continue;
    std::vector<double> xs, ys;
    for (const Point* point : points) {
      xs.push_back(cost_at(*point, x));
      ys.push_back(number_in(column_of(y), *point));
    }
    for (const Cell* cell : cells) {
      if (!cell->points.empty() && cell->points.back().iteration >= iteration) continue;
      const bool stays = cell->status == Status::target && !cell->points.empty();
      ys.push_back(stays ? number_in(column_of(y), cell->points.back()) : never);
    }
    out.push_back({quantile(std::move(xs), 0.5), spread(ys)});
  }
  return out;
}

}  // namespace

double cost_at(const Point& point, CurveX x) {
  switch (x) {
    case CurveX::iterations:
      return static_cast<double>(point.iteration);
    case CurveX::vectors:
      return static_cast<double>(point.vectors);
    case CurveX::evaluations:
      return static_cast<double>(point.values + point.gradients);
    case CurveX::seconds:
      return point.seconds;
  }
  return never;
}

std::string_view label_of(CurveX x) {
  switch (x) {
    case CurveX::iterations:
      return column_of(&Point::iteration).label;
    case CurveX::vectors:
      return column_of(&Point::vectors).label;
    case CurveX::evaluations:
      return "evaluations of costs and gradients";
    case CurveX::seconds:
      return column_of(&Point::seconds).label;
  }
  return "";
}

std::vector<MedianCurve> median_curves(const Record& record, CurveX x, CurveY y) {
  std::vector<MedianCurve> curves;
  for (const auto& [method, cells] : ended_by_method(record)) curves.push_back({method, points_of(cells, x, y)});
  if (column_of(y).compared != ComparedWith::target) return curves;
  const double floor = shown_floor(record);
  for (MedianCurve& curve : curves) {
    for (Spread& shown : curve.points | std::views::transform(&CurvePoint::y)) {
      for (double* risk : {&shown.low, &shown.median, &shown.high}) *risk = *risk < floor ? 0 : *risk;
    }
  }
  return curves;
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/median_curve.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>

namespace polyhop {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double value(const Point& point, CurveX x) {
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

double value(const Point& point, CurveY y) {
  switch (y) {
    case CurveY::excess_risk:
      return point.excess_risk;
    case CurveY::excess_risk_worst:
      return point.excess_risk_worst;
    case CurveY::excess_risk_mean_model:
      return point.excess_risk_mean_model;
    case CurveY::excess_risk_averaged:
      return point.excess_risk_averaged;
    case CurveY::consensus_error:
      return point.consensus_error;
    case CurveY::distance:
      return point.distance;
    case CurveY::error_rate:
      return point.error_rate;
  }
  return never;
}

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
      xs.push_back(value(*point, x));
      ys.push_back(value(*point, y));
    }
    for (const Cell* cell : cells) {
      if (!cell->points.empty() && cell->points.back().iteration >= iteration) continue;
      const bool stays = cell->status == Status::target && !cell->points.empty();
      ys.push_back(stays ? value(cell->points.back(), y) : never);
    }
    out.push_back({quantile(std::move(xs), 0.5), spread(ys)});
  }
  return out;
}

}  // namespace

bool is_excess_risk(CurveY y) {
  return y != CurveY::consensus_error && y != CurveY::distance && y != CurveY::error_rate;
}

std::vector<MedianCurve> median_curves(const Record& record, CurveX x, CurveY y) {
  std::vector<MedianCurve> curves;
  for (const auto& [method, cells] : ended_by_method(record)) curves.push_back({method, points_of(cells, x, y)});
  return curves;
}

}  // namespace polyhop

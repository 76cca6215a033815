// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

/// What a curve shows: how far a run still is from the end.
enum class CurveY {
  excess_risk,
  excess_risk_worst,
  excess_risk_mean_model,
  excess_risk_averaged,
  consensus_error,
  distance,
  error_rate
};
template <>
struct EnumNames<CurveY> {
  static constexpr std::array<std::pair<CurveY, std::string_view>, 7> names = {
      {{CurveY::excess_risk, "excess-risk"},
       {CurveY::excess_risk_worst, "excess-risk-worst"},
       {CurveY::excess_risk_mean_model, "excess-risk-mean-model"},
       {CurveY::excess_risk_averaged, "excess-risk-averaged"},
       {CurveY::consensus_error, "consensus-error"},
       {CurveY::distance, "distance"},
       {CurveY::error_rate, "error-rate"}}};
};

/// Whether `y` is compared with the record's target.
bool is_excess_risk(CurveY y);

struct CurvePoint {
  double x = 0;
  Spread y;  // infinite where a run of that share has diverged
};

/// A method over all its seeds.
struct MedianCurve {
  std::string method;
  std::vector<CurvePoint> points;
};

/// One curve for each method, in the order of the record: at each recorded iteration the median of x and the spread of
/// y over the seeds. A run that ended at the target stays where it is, one that diverged or ran out of time is
/// infinitely far from then on, an unfinished or failed one is left out. A curve ends where fewer than half of its runs
/// go on; a method without a run has no points.
std::vector<MedianCurve> median_curves(const Record& record, CurveX x, CurveY y);

}  // namespace polyhop

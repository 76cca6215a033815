// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/experiment/record.hpp"
#include "polyhop/report/median_curve.hpp"

namespace polyhop {

struct TextPlotOptions {
  CurveX x = CurveX::iterations;
  CurveY y = curve_y(&Point::excess_risk);
  bool plain = false;  // ASCII only
};

/// Wider plots than this show no more.
inline constexpr Index widest_plot = 120;

/// The medians of every method, on a logarithmic scale, as lines of text at most `width` columns wide: `height` lines
/// of plot, an axis, and a legend with each method's mark, best first. A plot that would be too small is made larger; a
/// record with nothing to show gives "".
std::string text_plot(const Record& record, Index width, Index height, const TextPlotOptions& options = {});

}  // namespace polyhop

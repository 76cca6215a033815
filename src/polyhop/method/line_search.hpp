// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "polyhop/core/index.hpp"
#include "polyhop/network/network.hpp"

/// Functions that the line searches share.
namespace polyhop {

inline constexpr int max_shrinks = 50;

/// How far rounding may change a difference of values near this one.
inline double rounding_of(double value) { return 1e-12 * std::max(1.0, std::abs(value)); }

/// Whether a trial may grow to `a`. Where rounding decides, every trial passes the test, so steps would grow without
/// limit.
inline bool may_grow(double a, double squared_norm, double value) {
  constexpr double lost = 1e4 * std::numeric_limits<double>::epsilon();
  return a * squared_norm >= lost * std::max(1.0, std::abs(value));
}

/// x[k] <- min over the whole network. As many scalars as the diameter, counted for the step size.
inline void spread_min(std::span<double> x, Network& network) {
  const Network::StepAccount account(network);
  std::ranges::transform(x, x.begin(), std::negate());
  network.spread_max(x);
  std::ranges::transform(x, x.begin(), std::negate());
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// The cost of what was not reached.
inline constexpr double never = std::numeric_limits<double>::infinity();

/// A median over seeds and the quantiles around it; infinite where more than that share never got there.
struct Spread {
  double low = 0;  // 10%
  double median = 0;
  double high = 0;  // 90%
};

/// How one method did over all seeds. Runs that are unfinished or failed count nowhere else.
struct Standing {
  std::string method;
  Index runs = 0;      // that ended
  Index reached = 0;   // of them, those that reached the target
  Index diverged = 0;  // of them
  Index unfinished = 0;
  Index failed = 0;
  Spread iterations;  // to the target
  Spread vectors;
  Spread evaluations;  // of costs and gradients
  Spread seconds;
  Spread final_risk;
};

/// The methods of a record, best first: by the median of iterations to the target, then by the final excess risk.
std::vector<Standing> rank(const Record& record);

/// The ranking as a table for a terminal, with a headline above it. Where methods were tuned, the headline compares the
/// best that was not with the best that was, and a column says what the search took.
std::string ranking_text(const Record& record, Index width = 0);

/// The quantile of a list by linear interpolation between order statistics; infinities stay infinite.
double quantile(std::vector<double> x, double q);

/// The median of a list and its outer tenths; infinite for an empty one.
Spread spread(const std::vector<double>& x);

/// The runs of each method that ended, whichever way, in the order of the record; a method may have none.
std::vector<std::pair<std::string, std::vector<const Cell*>>> ended_by_method(const Record& record);

/// What the search for a method's constant took; nullptr when it was not tuned.
const Tuning* tuning_of(const Record& record, const std::string& method);

}  // namespace polyhop

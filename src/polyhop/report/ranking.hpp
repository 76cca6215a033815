// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// A median over seeds and the quantiles around it; infinite where more than that share never got there.
struct Spread {
  double low = 0;   // 10%
  double median = 0;
  double high = 0;  // 90%
};

/// How one method did over all seeds.
struct Standing {
  std::string method;
  Index runs = 0;
  Index reached = 0;   // runs that reached the target
  Index diverged = 0;
  Spread iterations;   // to the target
  Spread vectors;
  Spread evaluations;  // of costs and gradients
  Spread seconds;
  Spread final_risk;
};

/// The methods of a record, best first: by the median of iterations to the target, then by the final excess risk.
std::vector<Standing> rank(const Record& record);

/// The ranking as a table for a terminal, with a headline above it.
std::string ranking_text(const Record& record, Index width = 0);

/// The quantile of a list by linear interpolation between order statistics; infinities stay infinite.
double quantile(std::vector<double> x, double q);

}  // namespace polyhop

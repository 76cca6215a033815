// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// The cost of a target that was not reached.
inline constexpr double never = std::numeric_limits<double>::infinity();

/// A median over seeds and the quantiles around it; infinite if too few runs got there.
struct Spread {
  double low = 0;  // 10%
  double median = 0;
  double high = 0;  // 90%
};

/// Which of a method's two models a user should take.
enum class Taken { last, averaged };
template <>
struct EnumNames<Taken> {
  static constexpr std::array<std::pair<Taken, std::string_view>, 2> names = {
      {{Taken::last, "last"}, {Taken::averaged, "averaged"}}};
};

/// How one method did over all seeds. Unfinished and failed runs are only counted.
struct Standing {
  std::string method;
  Index runs = 0;      // that ended
  Index reached = 0;   // how many of them reached the target
  Index diverged = 0;  // of them
  Index unfinished = 0;
  Index failed = 0;
  bool below_rounding = false;  // the target: no run can be said to reach it
  Spread iterations;            // to the target
  Spread vectors;
  Spread evaluations;  // of costs and gradients
  Spread seconds;
  Spread final_risk;           // of the last iterates
  Spread final_risk_averaged;  // of the averaged ones; NaN where no run recorded them
  Index averaged_better = 0;   // runs at whose end the averaged iterates have the lower risk
  /// Whichever has the lower median; the last iterates if both are at round-off or nothing else is known.
  Taken recommended = Taken::last;

  [[nodiscard]] const Spread& recommended_risk() const {
    return recommended == Taken::averaged ? final_risk_averaged : final_risk;
  }
};

/// The methods of a record, best first: those with a median of iterations to the target by the share of runs that
/// reached it, then by this median; the others by the share that diverged or failed, then by the share
/// that reached it, then by the recommended final risk.
std::vector<Standing> rank(const Record& record);

/// Excess risks below it are round-off: 1e-13 of the risk at the start, or the accuracy of the reference if that is
/// worse.
double risk_floor(const Record& record);
/// Differences J(w) - J(w^o) below this are rounding. No run counts as having reached a target below it.
double rounding_floor(const Record& record);
/// Below this, a final excess risk J(w) - J(w^o) is nothing but rounding, or the error of the reference: it is shown as
/// 0. If J(w^o) = 0, small risks are real and are shown.
double shown_floor(const Record& record);
/// The same of some of its runs.
double shown_floor(std::span<const Cell> cells);
/// An excess risk as tables and progress show it: 0 below such a floor.
std::string risk_text(double risk, double floor, int digits);
/// What such a 0 means: "less than 2e-15, the size of rounding errors".
std::string floor_text(const Record& record);

/// The two methods with the lowest final excess risks (of the recommended iterates), compared seed by seed.
struct Comparison {
  std::string first;  // the method whose median is the lowest
  Taken first_taken = Taken::last;
  std::string second;
  Taken second_taken = Taken::last;
  Index seeds = 0;  // on which both methods have a run that ended
  Index lower = 0;  // of them, where the first is below the second; both are raised to the floor
  Index higher = 0;
  double p = 1;  // of a two-sided sign test
};

/// Nothing unless two methods have a finite median.
std::optional<Comparison> compare_lowest(const Record& record, const std::vector<Standing>& standings);

/// The two-sided sign test: the probability of a split at least as uneven, if both outcomes were equally likely.
double sign_test(Index lower, Index higher);

/// The ranking for a terminal: a headline; a table of what it took to reach the target; a table of the excess risks at
/// the end, of last and averaged iterates; which iterate to take; what tuning took, if any method was tuned (the
/// headline then compares the best untuned method with the best tuned one); and advice. Everything is wrapped to the
/// width, unless that is 0. In colour, headings, the best method and warnings stand out.
std::string ranking_text(const Record& record, Index width = 0, bool color = false);

/// The quantile of a list by linear interpolation between order statistics; infinities stay infinite.
double quantile(std::vector<double> x, double q);

/// The median of a list and its 10% and 90% quantiles; infinite for an empty one.
Spread spread(const std::vector<double>& x);

/// The runs of each method that ended, in whatever way, in the order of the record; a method may have none.
std::vector<std::pair<std::string, std::vector<const Cell*>>> ended_by_method(const Record& record);

/// One sentence: which model of which method to take, and how sure that is; "" if nothing is known.
std::string recommendation(const Record& record, const std::vector<Standing>& standings);

/// Sentences on what to change: a batch larger than the data, columns of unlike size, how to reach the target, a
/// reference that is not good enough.
std::vector<std::string> advice(const Record& record, const std::vector<Standing>& standings);

/// What the search for a method's constant took; nullptr if it was not tuned.
const Tuning* tuning_of(const Record& record, const std::string& method);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>

#include "polyhop/report/text_table.hpp"

namespace polyhop {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

Spread spread(const std::vector<double>& x) { return {quantile(x, 0.1), quantile(x, 0.5), quantile(x, 0.9)}; }

const Point* first_at_target(const Cell& cell, double target) {
  const auto found = std::ranges::find_if(cell.points, [&](const Point& p) { return p.excess_risk <= target; });
  return found == cell.points.end() ? nullptr : &*found;
}

std::string amount(double x) { return std::isfinite(x) ? number(x, 3) : "-"; }

std::string remark(const Standing& s) {
  if (s.diverged == s.runs) return "diverged";
  if (s.diverged > 0) return std::to_string(s.diverged) + " of " + std::to_string(s.runs) + " diverged";
  if (s.reached == s.runs) return "";
  if (s.reached == 0) return "target not reached";
  return std::to_string(s.reached) + " of " + std::to_string(s.runs) + " reached the target";
}

std::string headline(const Record& record, const std::vector<Standing>& standings) {
  const Standing& best = standings.front();
  const std::string goal = significant(record.target, 3);
  if (!std::isfinite(best.iterations.median)) {
    return "No method reached an excess risk of " + goal + " in most runs; " + printable(best.method) +
           " came closest, at " + significant(best.final_risk.median, 3) + ".";
  }
  std::string text = printable(best.method) + " reached an excess risk of " + goal + " first, in " +
                     amount(best.iterations.median) + " iterations";
  if (standings.size() > 1 && std::isfinite(standings[1].iterations.median) && standings[1].iterations.median > 0) {
    text += ", " + significant(best.iterations.median / standings[1].iterations.median, 2) + "x those of " +
            printable(standings[1].method);
  }
  return text + ".";
}

}  // namespace

double quantile(std::vector<double> x, double q) {
  if (x.empty()) return std::numeric_limits<double>::quiet_NaN();
  // A run without a number is worse than any number.
  for (double& v : x) v = std::isnan(v) ? never : v;
  std::ranges::sort(x);
  const double place = q * static_cast<double>(x.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(below);
  if (share == 0 || x[below] == x[below + 1]) return x[below];
  return x[below] + share * (x[below + 1] - x[below]);
}

std::vector<Standing> rank(const Record& record) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Cell*>> by_method;
  for (const Cell& cell : record.cells) {
    if (!by_method.contains(cell.method)) order.push_back(cell.method);
    by_method[cell.method].push_back(&cell);
  }
  std::vector<Standing> standings;
  for (const auto& name : order) {
    Standing s;
    s.method = name;
    std::vector<double> iterations, vectors, evaluations, seconds, final_risk;
    for (const Cell* cell : by_method[name]) {
      ++s.runs;
      if (cell->status == Status::diverged) ++s.diverged;
      const Point* at = first_at_target(*cell, record.target);
      if (at != nullptr) ++s.reached;
      iterations.push_back(at != nullptr ? static_cast<double>(at->iteration) : never);
      vectors.push_back(at != nullptr ? static_cast<double>(at->vectors) : never);
      evaluations.push_back(at != nullptr ? static_cast<double>(at->values + at->gradients) : never);
      seconds.push_back(at != nullptr ? at->seconds : never);
      final_risk.push_back(cell->status == Status::diverged ? never : cell->points.back().excess_risk);
    }
    s.iterations = spread(iterations);
    s.vectors = spread(vectors);
    s.evaluations = spread(evaluations);
    s.seconds = spread(seconds);
    s.final_risk = spread(final_risk);
    standings.push_back(std::move(s));
  }
  std::ranges::stable_sort(standings, [](const Standing& a, const Standing& b) {
    return std::tuple(a.iterations.median, a.final_risk.median) < std::tuple(b.iterations.median, b.final_risk.median);
  });
  return standings;
}

std::string ranking_text(const Record& record, Index width) {
  const auto standings = rank(record);
  using Align = TextTable::Align;
  TextTable table({{"", Align::right},
                   {"method", Align::left},
                   {"iterations", Align::right},
                   {"vectors", Align::right},
                   {"evaluations", Align::right},
                   {"seconds", Align::right},
                   {"final risk", Align::right},
                   {"10%", Align::right},
                   {"90%", Align::right},
                   {"", Align::left}});
  Index place = 0;
  for (const Standing& s : standings) {
    table.add({std::to_string(++place), s.method, amount(s.iterations.median), amount(s.vectors.median),
               amount(s.evaluations.median), std::isfinite(s.seconds.median) ? significant(s.seconds.median, 3) : "-",
               significant(s.final_risk.median, 3), significant(s.final_risk.low, 3),
               significant(s.final_risk.high, 3), remark(s)});
  }
  return headline(record, standings) + "\n\n" + table.text(width);
}

}  // namespace polyhop

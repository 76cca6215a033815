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

const Point* first_at_target(const Cell& cell, double target) {
  const auto found = std::ranges::find_if(cell.points, [&](const Point& p) { return p.excess_risk <= target; });
  return found == cell.points.end() ? nullptr : &*found;
}

std::string of(Index part, Index whole) { return std::to_string(part) + " of " + std::to_string(whole); }

std::string verdict(const Standing& s) {
  if (s.runs == 0) return "";
  if (s.diverged == s.runs) return "diverged";
  if (s.diverged > 0) return of(s.diverged, s.runs) + " diverged";
  if (s.reached == s.runs) return "";
  if (s.reached == 0) return "target not reached";
  return of(s.reached, s.runs) + " reached the target";
}

std::string remark(const Standing& s) {
  const Index all = s.runs + s.unfinished + s.failed;
  std::string text = verdict(s);
  for (const auto& [count, word] : {std::pair(s.failed, " failed"), std::pair(s.unfinished, " unfinished")}) {
    if (count > 0) text += (text.empty() ? "" : ", ") + (count == all ? std::string(word + 1) : of(count, all) + word);
  }
  return text;
}

std::string tuning_text(const Tuning* tuning) {
  if (tuning == nullptr) return "none";
  return std::to_string(tuning->trials) + (tuning->trials == 1 ? " run, " : " runs, ") +
         amount(static_cast<double>(tuning->iterations)) + " iterations";
}

// A name in a sentence: it may be words that read as part of it.
std::string quoted(const std::string& method) { return "'" + printable(method) + "'"; }

// "'a' reached ... in 0.9x the iterations of ... 'b'", the better one first, or "" unless both a tuned method and one
// that is not got there.
std::string tuned_headline(const Record& record, const std::vector<Standing>& standings) {
  const auto best = [&](bool tuned) {
    const auto found = std::ranges::find_if(standings, [&](const Standing& s) {
      return (tuning_of(record, s.method) != nullptr) == tuned && std::isfinite(s.iterations.median);
    });
    return found == standings.end() ? nullptr : &*found;
  };
  const Standing* tuned = best(true);
  const Standing* untuned = best(false);
  if (tuned == nullptr || untuned == nullptr || !(tuned->iterations.median > 0)) return "";
  const Index trials = tuning_of(record, tuned->method)->trials;
  const std::string took = " took " + std::to_string(trials) + (trials == 1 ? " trial run." : " trial runs.");
  const auto reached = [&](const Standing& first, const Standing& other) {
    return " reached an excess risk of " + significant(record.target, 3) + " in " +
           significant(first.iterations.median / other.iterations.median, 2) + "x the iterations of ";
  };
  if (tuned == &standings.front()) {
    return quoted(tuned->method) + ", the best tuned constant," + reached(*tuned, *untuned) + quoted(untuned->method) +
           "; its search" + took;
  }
  return quoted(untuned->method) + reached(*untuned, *tuned) + "the best tuned constant, " + quoted(tuned->method) +
         ", whose search" + took;
}

std::string headline(const Record& record, const std::vector<Standing>& standings) {
  if (standings.empty()) return "There are no runs.";
  if (const std::string text = tuned_headline(record, standings); !text.empty()) return text;
  const Standing& best = standings.front();
  const std::string goal = significant(record.target, 3);
  if (best.runs == 0) return "No run has ended.";
  if (!std::isfinite(best.iterations.median)) {
    const std::string text = "No method reached an excess risk of " + goal + " in most runs";
    if (!std::isfinite(best.final_risk.median)) return text + ".";
    return text + "; " + quoted(best.method) + " came closest, at " + significant(best.final_risk.median, 3) + ".";
  }
  std::string text = quoted(best.method) + " reached an excess risk of " + goal + " first, in " +
                     amount(best.iterations.median) + " iterations";
  if (standings.size() > 1 && std::isfinite(standings[1].iterations.median) && standings[1].iterations.median > 0) {
    text += ", " + significant(best.iterations.median / standings[1].iterations.median, 2) + "x those of " +
            quoted(standings[1].method);
  }
  return text + ".";
}

// What to do about the methods that diverged or stalled, each told once.
std::string advice_text(const Record& record) {
  std::map<std::string, std::vector<std::string>> methods;
  for (const Cell& cell : record.cells) {
    if (cell.message.empty() || (cell.status != Status::diverged && cell.status != Status::stalled)) continue;
    auto& names = methods[name_of(cell.status) + ": " + cell.message];
    if (std::ranges::find(names, cell.method) == names.end()) names.push_back(cell.method);
  }
  std::string text;
  for (const auto& [message, names] : methods) {
    for (const std::string& name : names) text += (&name == &names.front() ? "\n" : ", ") + printable(name);
    text += " " + message + ".\n";
  }
  return text;
}

Standing standing_of(const std::string& method, const std::vector<const Cell*>& cells, double target) {
  Standing s;
  s.method = method;
  std::vector<double> iterations, vectors, evaluations, seconds, final_risk;
  for (const Cell* cell : cells) {
    ++s.runs;
    if (cell->status == Status::diverged) ++s.diverged;
    const Point* at = first_at_target(*cell, target);
    if (at != nullptr) ++s.reached;
    iterations.push_back(at != nullptr ? static_cast<double>(at->iteration) : never);
    vectors.push_back(at != nullptr ? static_cast<double>(at->vectors) : never);
    evaluations.push_back(at != nullptr ? static_cast<double>(at->values + at->gradients) : never);
    seconds.push_back(at != nullptr ? at->seconds : never);
    const bool lost = cell->status == Status::diverged || cell->points.empty();
    final_risk.push_back(lost ? never : cell->points.back().excess_risk);
  }
  s.iterations = spread(iterations);
  s.vectors = spread(vectors);
  s.evaluations = spread(evaluations);
  s.seconds = spread(seconds);
  s.final_risk = spread(final_risk);
  return s;
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

Spread spread(const std::vector<double>& x) {
  if (x.empty()) return {never, never, never};
  return {quantile(x, 0.1), quantile(x, 0.5), quantile(x, 0.9)};
}

std::vector<std::pair<std::string, std::vector<const Cell*>>> ended_by_method(const Record& record) {
  std::vector<std::pair<std::string, std::vector<const Cell*>>> out;
  std::map<std::string, std::size_t> place;
  for (const Cell& cell : record.cells) {
    const auto [at, is_new] = place.try_emplace(cell.method, out.size());
    if (is_new) out.emplace_back(cell.method, std::vector<const Cell*>());
    const bool ended = cell.status != Status::unfinished && cell.status != Status::failed;
    if (ended) out[at->second].second.push_back(&cell);
  }
  return out;
}

const Tuning* tuning_of(const Record& record, const std::string& method) {
  const auto found = std::ranges::find(record.tunings, method, &Tuning::method);
  return found == record.tunings.end() ? nullptr : &*found;
}

std::vector<Standing> rank(const Record& record) {
  std::vector<Standing> standings;
  for (const auto& [method, cells] : ended_by_method(record)) {
    Standing s = standing_of(method, cells, record.target);
    for (const Cell& cell : record.cells) {
      if (cell.method != method) continue;
      if (cell.status == Status::unfinished) ++s.unfinished;
      if (cell.status == Status::failed) ++s.failed;
    }
    standings.push_back(std::move(s));
  }
  std::ranges::stable_sort(standings, [](const Standing& a, const Standing& b) {
    return std::tuple(a.iterations.median, a.final_risk.median) < std::tuple(b.iterations.median, b.final_risk.median);
  });
  return standings;
}

std::string ranking_text(const Record& record, Index width) {
  const auto standings = rank(record);
  const bool tuned = !record.tunings.empty();
  using Align = TextTable::Align;
  std::vector<TextTable::Column> columns = {
      {"", Align::right},           {"method", Align::left},       {"iterations", Align::right},
      {"vectors", Align::right},    {"evaluations", Align::right}, {"seconds", Align::right},
      {"final risk", Align::right}, {"10%", Align::right},         {"90%", Align::right}};
  if (tuned) columns.push_back({"tuning", Align::left});
  columns.push_back({"", Align::left});
  TextTable table(std::move(columns));
  Index place = 0;
  for (const Standing& s : standings) {
    const auto risk = [&](double x) { return s.runs > 0 ? significant(x, 3) : "-"; };
    std::vector<std::string> row = {
        std::to_string(++place),      s.method,
        amount(s.iterations.median),  amount(s.vectors.median),
        amount(s.evaluations.median), std::isfinite(s.seconds.median) ? significant(s.seconds.median, 3) : "-",
        risk(s.final_risk.median),    risk(s.final_risk.low),
        risk(s.final_risk.high)};
    if (tuned) row.push_back(tuning_text(tuning_of(record, s.method)));
    row.push_back(remark(s));
    table.add(std::move(row));
  }
  return headline(record, standings) + "\n\n" + table.text(width) + advice_text(record);
}

}  // namespace polyhop

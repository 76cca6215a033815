// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "polyhop/core/words.hpp"
#include "polyhop/experiment/advice.hpp"
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
  if (s.diverged > 0 && s.reached > 0) {
    return of(s.reached, s.runs) + " reached, " + std::to_string(s.diverged) + " diverged";
  }
  if (s.diverged > 0) return of(s.diverged, s.runs) + " diverged";
  if (s.reached == s.runs) return "";
  if (s.below_rounding) return "target below rounding";
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

// A name in a sentence: it may be words that read as part of it.
std::string quoted(const std::string& method) { return "'" + printable(method) + "'"; }

// " on 4 of 5 seeds", or "" where all of a method's runs got there.
std::string where_reached(const Standing& s) {
  return s.reached == s.runs ? "" : " on " + of(s.reached, s.runs) + " seeds";
}

// "0.9x the iterations of ", or of equals "as many iterations as ".
std::string times(double ratio, const char* the, const char* equal) {
  const std::string shown = significant(ratio, 2);
  return shown == "1" ? std::string(equal) : shown + "x " + the;
}

// "'b'", or "'b' (goal: final-risk)" for a constant that is best for something else than reaching the target.
std::string tuned_name(const Record& record, const Standing& tuned) {
  const TuningGoal goal = tuning_of(record, tuned.method)->goal;
  return quoted(tuned.method) + (goal == TuningGoal::iterations_to_target ? "" : " (goal: " + name_of(goal) + ")");
}

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
  const std::string took = " took " + count_of(tuning_of(record, tuned->method)->trials, "trial run") + ".";
  const auto reached = [&](const Standing& first, const Standing& other) {
    return " reached an excess risk of " + significant(record.target, 3) + where_reached(first) + " in " +
           times(first.iterations.median / other.iterations.median, "the iterations of ", "as many iterations as ");
  };
  const auto got_there = [](const Standing& s) {
    const std::string where = where_reached(s);
    return where.empty() ? "" : ", which got there" + where;
  };
  if (tuned == &standings.front()) {
    return tuned_name(record, *tuned) + ", the best tuned constant," + reached(*tuned, *untuned) +
           quoted(untuned->method) + got_there(*untuned) + "; its search" + took;
  }
  return quoted(untuned->method) + reached(*untuned, *tuned) + "the best tuned constant, " +
         tuned_name(record, *tuned) + got_there(*tuned) +
         (where_reached(*tuned).empty() ? ", whose search" : " and whose search") + took;
}

// What to say where no method got there in most runs.
std::string unreached_headline(const Record& record, const std::vector<Standing>& standings) {
  if (standings.front().below_rounding) {
    return "The target, an excess risk of " + significant(record.target, 3) +
           ", is below what rounding allows here, about " + significant(rounding_floor(record), 2) +
           ": no method can be said to reach it. Raise `target`.";
  }
  const std::string text = "No method reached an excess risk of " + significant(record.target, 3) + " in most runs";
  const Standing& best = standings.front();
  if (best.reached > 0) return text + "; " + quoted(best.method) + " did" + where_reached(best) + ".";
  const double risk = best.recommended_risk().median;
  if (!std::isfinite(risk)) return text + ".";
  return text + "; " + quoted(best.method) + " came closest, at " + risk_text(risk, shown_floor(record), 3) +
         (best.recommended == Taken::averaged ? " (averaged iterates)." : ".");
}

std::string final_headline(const Record& record, const std::vector<Standing>& standings) {
  if (standings.empty()) return "There are no runs.";
  if (const std::string text = tuned_headline(record, standings); !text.empty()) return text;
  const Standing& best = standings.front();
  if (best.runs == 0) return "No run has ended, so there is nothing to rank yet.";
  if (!std::isfinite(best.iterations.median)) return unreached_headline(record, standings);
  std::string text = quoted(best.method) + " reached an excess risk of " + significant(record.target, 3) +
                     where_reached(best) + " first, in " + amount(best.iterations.median) +
                     (best.iterations.median == 1 ? " iteration" : " iterations");
  if (standings.size() > 1 && std::isfinite(standings[1].iterations.median) && standings[1].iterations.median > 0) {
    text += ", " + times(best.iterations.median / standings[1].iterations.median, "those of ", "as many as ") +
            quoted(standings[1].method);
    if (const std::string where = where_reached(standings[1]); !where.empty()) text += ", which got there" + where;
  }
  return text + ".";
}

bool is_partial(const Record& record) {
  return std::ranges::count(record.cells, Status::unfinished, &Cell::status) > 0;
}

// A sentence that holds until the other runs end. It begins with a word of ours or a name in quotes.
std::string so_far(std::string sentence) {
  if (sentence.front() >= 'A' && sentence.front() <= 'Z') sentence.front() += 'a' - 'A';
  return "So far: " + sentence;
}

std::string headline(const Record& record, const std::vector<Standing>& standings) {
  const bool some_ended = std::ranges::any_of(standings, [](const Standing& s) { return s.runs > 0; });
  const std::string text = final_headline(record, standings);
  return is_partial(record) && some_ended ? so_far(text) : text;
}

std::size_t distinct_seeds(const Record& record) {
  std::set<std::uint64_t> seeds;
  for (const Cell& cell : record.cells) seeds.insert(cell.seed);
  return seeds.size();
}

std::string over_seeds(const Record& record) {
  const std::size_t seeds = distinct_seeds(record);
  if (seeds <= 1) return "";
  return is_partial(record) ? ", medians over the runs that have ended" : fmt::format(", medians over {} seeds", seeds);
}

using Align = TextTable::Align;

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  return seconds < 1000 ? significant(seconds, 3) : fmt::format("{:.0f}", seconds);
}

// What each method took to reach the target, best first.
TextTable target_table(const std::vector<Standing>& standings) {
  std::vector<TextTable::Column> columns = {{"#", Align::right},           {"method", Align::left},
                                            {"iterations", Align::right},  {"vectors", Align::right},
                                            {"evaluations", Align::right}, {"seconds", Align::right}};
  const bool remarks = std::ranges::any_of(standings, [](const Standing& s) { return !remark(s).empty(); });
  if (remarks) columns.push_back({.header = "remark", .below = true});
  TextTable table(std::move(columns));
  Index place = 0;
  for (const Standing& s : standings) {
    std::vector<std::string> row = {std::to_string(++place),      s.method,
                                    amount(s.iterations.median),  amount(s.vectors.median),
                                    amount(s.evaluations.median), seconds_text(s.seconds.median)};
    if (remarks) row.push_back(remark(s));
    const bool is_best = place == 1 && std::isfinite(s.iterations.median);
    table.add(std::move(row), is_best ? std::make_optional(Ink::good) : std::nullopt);
  }
  return table;
}

// Last and averaged iterates side by side, where there are averaged ones; with quantiles where there are several seeds.
TextTable risk_table(const std::vector<Standing>& standings, bool quantiles, double floor) {
  const auto has_average = [](const Standing& s) { return !std::isnan(s.final_risk_averaged.median); };
  const bool averages = std::ranges::any_of(standings, has_average);
  std::vector<TextTable::Column> columns = {{"method", Align::left}};
  const auto add_columns = [&](const char* header) {
    columns.push_back({header, Align::right});
    if (quantiles) columns.insert(columns.end(), {{"10%", Align::right, true}, {"90%", Align::right, true}});
  };
  add_columns("last");
  if (averages) {
    add_columns("averaged");
    columns.push_back({"take", Align::left});
  }
  TextTable table(std::move(columns));
  for (const Standing& s : standings) {
    std::vector<std::string> row = {s.method};
    const auto add_cells = [&](const Spread& risk, bool known) {
      row.push_back(known ? risk_text(risk.median, floor, 3) : "-");
      if (!quantiles) return;
      for (const double x : {risk.low, risk.high}) row.push_back(known ? risk_text(x, floor, 2) : "-");
    };
    add_cells(s.final_risk, s.runs > 0);
    if (averages) {
      add_cells(s.final_risk_averaged, s.runs > 0 && has_average(s));
      row.push_back(s.runs > 0 && std::isfinite(s.recommended_risk().median) ? name_of(s.recommended) : "-");
    }
    table.add(std::move(row));
  }
  return table;
}

// The goal that all searches share; "" if there are several.
std::string common_goal(const Record& record) {
  const TuningGoal first = record.tunings.front().goal;
  const bool is_common = std::ranges::all_of(record.tunings, [&](const Tuning& t) { return t.goal == first; });
  return is_common ? name_of(first) : "";
}

// What the searches for constants took.
TextTable tuning_table(const Record& record, const std::vector<Standing>& standings) {
  const bool goals = common_goal(record).empty();
  std::vector<TextTable::Column> columns = {{"method", Align::left},   {"constant", Align::right},
                                            {"runs", Align::right},    {"iterations", Align::right},
                                            {"vectors", Align::right}, {"evaluations", Align::right}};
  if (goals) columns.push_back({"goal", Align::left});
  TextTable table(columns);
  for (const Standing& s : standings) {
    const Tuning* t = tuning_of(record, s.method);
    if (t == nullptr) continue;
    std::vector<std::string> row = {s.method,
                                    significant(t->factor * t->value, 3),
                                    amount(static_cast<double>(t->trials)),
                                    amount(static_cast<double>(t->iterations)),
                                    amount(static_cast<double>(t->vectors)),
                                    amount(static_cast<double>(t->values + t->gradients))};
    if (goals) row.push_back(name_of(t->goal));
    table.add(std::move(row));
  }
  return table;
}

// What a 0 in the table of risks means; "" where there is none.
std::string zero_note(const Record& record, const std::vector<Standing>& standings, bool quantiles, double floor) {
  const auto below = [&](const Spread& risk) {
    return risk.median < floor || (quantiles && (risk.low < floor || risk.high < floor));
  };
  const bool any = std::ranges::any_of(standings, [&](const Standing& s) {
    return s.runs > 0 && (below(s.final_risk) || below(s.final_risk_averaged));
  });
  return any ? "0: " + floor_text(record) + "." : "";
}

// What excess risks cannot tell, where a reference optimum is known less well than the target asks for; "" elsewhere.
std::string reference_note(const Record& record) {
  double accuracy = 0;
  for (const Cell& cell : record.cells) {
    if (cell.reference_accuracy > accuracy) accuracy = cell.reference_accuracy;
  }
  if (!(accuracy > record.target) || record.target < rounding_floor(record)) return "";
  return fmt::format(
      "The reference optimum is known to {} only, above the target {}: excess risks do not tell which method reached "
      "it. Standardise the features (problem.standardise = true), add a penalty (problem.l2), or raise the target.",
      significant(accuracy, 2), significant(record.target, 3));
}

// What to do about raw columns of unlike size, unless every run reached the target all the same; "" elsewhere.
std::string columns_note(const Record& record, const std::vector<Standing>& standings) {
  double spread = 1;
  for (const Cell& cell : record.cells) spread = std::max(spread, cell.column_spread);
  const bool missed = std::ranges::any_of(standings, [](const Standing& s) { return s.reached < s.runs; });
  if (!(spread > unlike_columns) || !missed) return "";
  return "The columns of the data differ in size by a factor of " + significant(spread, 2) +
         ", which slows most methods down: consider problem.standardise = true.";
}

// The least of 1, 2, 5, 10, ... times a power of ten that is not below x.
double rounded_up(double x) {
  const double decade = std::pow(10, std::floor(std::log10(x)));
  for (const double n : {1.0, 2.0, 5.0}) {
    if (n * decade >= x) return n * decade;
  }
  return 10 * decade;
}

// What to try where no method reached the target in most runs; "" where one did, or where that cannot be told.
std::string way_to_target(const Record& record, const std::vector<Standing>& standings) {
  const bool ended = std::ranges::any_of(standings, [](const Standing& s) { return s.runs > s.diverged; });
  const bool reached =
      std::ranges::any_of(standings, [](const Standing& s) { return std::isfinite(s.iterations.median); });
  if (!ended || reached || standings.front().below_rounding || !reference_note(record).empty()) return "";
  std::vector<std::string> ways;
  const bool out_of_time = std::ranges::count(record.cells, Status::time_limit, &Cell::status) > 0;
  const Value* iterations = record.config.find("iterations");
  if (out_of_time) {
    ways.emplace_back("a longer time_limit");
  } else if (iterations != nullptr) {
    ways.push_back("more iterations (now " + iterations->text() + ")");
  }
  const Value* methods = record.config.find("method");
  const auto* list = methods != nullptr ? methods->as<Value::Array>() : nullptr;
  const auto is_automatic = [](const Value& method) {
    const Value* algorithm = method.find("algorithm");
    return algorithm != nullptr && algorithm->text() == "\"auto\"";
  };
  if (list != nullptr && std::ranges::none_of(*list, is_automatic)) {
    ways.emplace_back("a [[method]] with step = \"auto\"");
  }
  const double closest = standings.front().recommended_risk().median;
  if (std::isfinite(closest) && closest > record.target) {
    ways.push_back("a larger target, such as " + significant(rounded_up(closest), 3));
  }
  if (ways.empty()) return "";
  return "To reach the target, try " + series(ways, "or") + ".";
}

// What to do about the methods that diverged or stalled, each told once.
std::vector<std::string> advice_on_failures(const Record& record) {
  std::map<std::string, std::vector<std::string>> methods;
  for (const Cell& cell : record.cells) {
    if (cell.message.empty() || (cell.status != Status::diverged && cell.status != Status::stalled)) continue;
    auto& names = methods[name_of(cell.status) + ": " + cell.message];
    const std::string name = quoted(cell.method);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::vector<std::string> out;
  for (const auto& [message, names] : methods) out.push_back(series(names) + " " + message + ".");
  return out;
}

// The excess risk at the end of a run; infinite where it diverged, NaN where it was not recorded.
double final_risk_of(const Cell& cell, Taken taken) {
  if (cell.status == Status::diverged || cell.points.empty()) return never;
  const Point& last = cell.points.back();
  return taken == Taken::averaged ? last.excess_risk_averaged : last.excess_risk;
}

Standing standing_of(const std::string& method, const std::vector<const Cell*>& cells, const Record& record) {
  const double floor = risk_floor(record);
  Standing s;
  s.method = method;
  s.below_rounding = record.target < rounding_floor(record);
  std::vector<double> iterations, vectors, evaluations, seconds, final_risk, averaged_risk;
  bool averaged = false;
  for (const Cell* cell : cells) {
    ++s.runs;
    if (cell->status == Status::diverged) ++s.diverged;
    const Point* at = s.below_rounding ? nullptr : first_at_target(*cell, record.target);
    if (at != nullptr) ++s.reached;
    iterations.push_back(at != nullptr ? static_cast<double>(at->iteration) : never);
    vectors.push_back(at != nullptr ? static_cast<double>(at->vectors) : never);
    evaluations.push_back(at != nullptr ? static_cast<double>(at->values + at->gradients) : never);
    seconds.push_back(at != nullptr ? at->seconds : never);
    final_risk.push_back(final_risk_of(*cell, Taken::last));
    averaged_risk.push_back(final_risk_of(*cell, Taken::averaged));
    averaged = averaged || (!cell->points.empty() && !std::isnan(cell->points.back().excess_risk_averaged));
    if (std::max(averaged_risk.back(), floor) < std::max(final_risk.back(), floor)) ++s.averaged_better;
  }
  s.iterations = spread(iterations);
  s.vectors = spread(vectors);
  s.evaluations = spread(evaluations);
  s.seconds = spread(seconds);
  s.final_risk = spread(final_risk);
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  s.final_risk_averaged = averaged ? spread(averaged_risk) : Spread{unknown, unknown, unknown};
  if (std::max(s.final_risk_averaged.median, floor) < std::max(s.final_risk.median, floor)) {
    s.recommended = Taken::averaged;
  }
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
    Standing s = standing_of(method, cells, record);
    for (const Cell& cell : record.cells) {
      if (cell.method != method) continue;
      if (cell.status == Status::unfinished) ++s.unfinished;
      if (cell.status == Status::failed) ++s.failed;
    }
    standings.push_back(std::move(s));
  }
  const auto place = [](const Standing& s) {
    const auto all =
        static_cast<double>(std::max<Index>(1, s.runs + s.failed));  // nobody knows the unfinished ones' end
    const double reached = static_cast<double>(s.reached) / all;
    const double risk = s.recommended_risk().median;
    if (std::isfinite(s.iterations.median)) return std::tuple(false, -reached, s.iterations.median, risk);
    // A few lucky runs are worth less than none that diverges.
    const double lost = s.runs == 0 ? 1 : static_cast<double>(s.diverged + s.failed) / all;
    return std::tuple(true, lost, -reached, risk);
  };
  std::ranges::stable_sort(standings, {}, place);
  return standings;
}

double risk_floor(const Record& record) {
  constexpr double round_off = 1e-13;
  double floor = 0;
  for (const Cell& cell : record.cells) {
    if (cell.points.empty()) continue;
    const double reference = std::isfinite(cell.reference_value) ? std::abs(cell.reference_value) : 0;
    const double start = cell.points.front().excess_risk + reference;
    if (std::isfinite(start)) floor = std::max(floor, round_off * start);
    if (std::isfinite(cell.reference_accuracy)) floor = std::max(floor, cell.reference_accuracy);
  }
  return floor;
}

namespace {

double rounding_of(std::span<const Cell> cells) {
  constexpr double round_off = 1e-14;
  constexpr double exact = 1e-12;  // a reference this good is as good as rounding lets it be
  double floor = 0;
  for (const Cell& cell : cells) {
    if (cell.points.empty()) continue;
    const double reference = std::isfinite(cell.reference_value) ? std::abs(cell.reference_value) : 0;
    const double largest = exact * (reference + std::abs(cell.points.front().excess_risk));
    floor = std::max(floor, round_off * reference);
    if (cell.reference_accuracy <= largest) floor = std::max(floor, cell.reference_accuracy);
    // A risk below 0 shows how much rounding there is.
    const Point& last = cell.points.back();
    for (const double risk : {last.excess_risk, last.excess_risk_averaged}) {
      if (-risk <= largest) floor = std::max(floor, -risk);
    }
  }
  return floor;
}

}  // namespace

double rounding_floor(const Record& record) { return rounding_of(record.cells); }

double shown_floor(const Record& record) { return shown_floor(record.cells); }

double shown_floor(std::span<const Cell> cells) {
  double floor = rounding_of(cells);
  for (const Cell& cell : cells) {
    if (cell.points.empty()) continue;
    if (std::isfinite(cell.reference_accuracy)) floor = std::max(floor, cell.reference_accuracy);
    const Point& last = cell.points.back();
    for (const double risk : {last.excess_risk, last.excess_risk_averaged}) {
      if (std::isfinite(risk)) floor = std::max(floor, -risk);
    }
  }
  return floor;
}

std::string risk_text(double risk, double floor, int digits) {
  return risk <= 0 || risk < floor ? "0" : significant(risk, digits);
}

std::string floor_text(const Record& record) {
  const double floor = shown_floor(record);
  const bool unsure = std::ranges::any_of(record.cells, [&](const Cell& c) { return c.reference_accuracy == floor; });
  return "less than " + significant(floor, 2) +
         (unsure ? ", the accuracy of the reference optimum" : ", the size of rounding errors");
}

double sign_test(Index lower, Index higher) {
  const auto n = static_cast<double>(lower + higher);
  double p = 0;
  for (Index k = 0; k <= std::min(lower, higher); ++k) {
    const auto x = static_cast<double>(k);
    p += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) - n * std::log(2.0));
  }
  return std::min(1.0, 2 * p);
}

namespace {

// The methods that can be recommended, the lowest risk first. One that diverges now and then cannot, unless all do.
std::vector<const Standing*> candidates(const std::vector<Standing>& standings) {
  std::vector<const Standing*> out;
  for (const Standing& s : standings) {
    if (s.runs > 0 && std::isfinite(s.recommended_risk().median)) out.push_back(&s);
  }
  const auto is_safe = [](const Standing* s) { return s->diverged == 0; };
  if (std::ranges::any_of(out, is_safe)) std::erase_if(out, std::not_fn(is_safe));
  std::ranges::stable_sort(out, {}, [](const Standing* s) { return s->recommended_risk().median; });
  return out;
}

}  // namespace

std::optional<Comparison> compare_lowest(const Record& record, const std::vector<Standing>& standings) {
  const auto order = candidates(standings);
  if (order.size() < 2) return {};
  const Standing& first = *order[0];
  const Standing& second = *order[1];
  Comparison out{first.method, first.recommended, second.method, second.recommended};
  const double floor = risk_floor(record);
  std::map<std::uint64_t, double> of_first;
  const auto by_method = ended_by_method(record);
  const auto each = [&](const Standing& s, auto action) {
    for (const auto& [method, cells] : by_method) {
      if (method != s.method) continue;
      for (const Cell* cell : cells) {
        const double risk = final_risk_of(*cell, s.recommended);
        action(cell->seed, std::isnan(risk) ? never : std::max(risk, floor));
      }
    }
  };
  each(first, [&](std::uint64_t seed, double risk) { of_first[seed] = risk; });
  each(second, [&](std::uint64_t seed, double risk) {
    const auto found = of_first.find(seed);
    if (found == of_first.end()) return;
    ++out.seeds;
    out.lower += found->second < risk ? 1 : 0;
    out.higher += found->second > risk ? 1 : 0;
  });
  out.p = sign_test(out.lower, out.higher);
  return out;
}

namespace {

std::string final_recommendation(const Record& record, const std::vector<Standing>& standings) {
  const auto model = [](const std::string& method, Taken taken) {
    return "the " + name_of(taken) + " iterate of " + quoted(method);
  };
  const auto found = compare_lowest(record, standings);
  if (!found) {
    const auto only = candidates(standings);
    return only.empty() ? "" : "Take " + model(only.front()->method, only.front()->recommended) + ".";
  }
  std::string text = "Take " + model(found->first, found->first_taken) + ": its median excess risk is ";
  const std::string second = model(found->second, found->second_taken);
  if (found->lower + found->higher == 0) return text + "as low as any, up to round-off.";
  text += "the lowest, below that of " + second + " on " + of(found->lower, found->seeds) +
          (found->seeds == 1 ? " seed; one seed cannot tell how sure that is." : " seeds");
  if (found->seeds == 1) return text;
  const Index equal = found->seeds - found->lower - found->higher;
  if (equal > 0) text += " and as low, up to round-off, on " + std::to_string(equal);
  text += " (sign test: p = ";
  constexpr double convincing = 0.05;
  return text + significant(found->p, 2) + (found->p > convincing ? "; it may be chance)." : ").");
}

}  // namespace

std::string recommendation(const Record& record, const std::vector<Standing>& standings) {
  const std::string text = final_recommendation(record, standings);
  return is_partial(record) && !text.empty() ? so_far(text) : text;
}

std::vector<std::string> advice(const Record& record, const std::vector<Standing>& standings) {
  std::vector<std::string> out = {batch_note(record.config), columns_note(record, standings),
                                  way_to_target(record, standings), reference_note(record)};
  std::erase(out, "");
  return out;
}

std::string ranking_text(const Record& record, Index width, bool color) {
  const auto standings = rank(record);
  const auto said = [&](const std::string& text, std::optional<Ink> ink = {}) {
    std::string out;
    for (const std::string& line : wrapped(text, width)) out += (color && ink ? colored(line, *ink) : line) + "\n";
    return out;
  };
  const std::string best = said(headline(record, standings), Ink::bold);
  if (std::ranges::all_of(record.cells, [](const Cell& cell) { return cell.status == Status::unfinished; }))
    return best;
  std::string out = best + "\n";
  const std::string over = over_seeds(record);
  out += said("To reach an excess risk of " + significant(record.target, 3) + over + ":") + "\n" +
         target_table(standings).text(width, color);
  const bool many = distinct_seeds(record) > 1;
  const double floor = shown_floor(record);
  out += "\n" + said("Excess risk at the end" + over + (many ? ", with 10% and 90% quantiles:" : ":")) + "\n" +
         risk_table(standings, many, floor).text(width, color);
  if (const std::string text = zero_note(record, standings, many, floor); !text.empty()) out += said(text);
  if (const std::string text = recommendation(record, standings); !text.empty()) out += "\n" + said(text);
  if (!record.tunings.empty()) {
    const std::string goal = common_goal(record);
    out += "\n" + said("Tuning (" + (goal.empty() ? "" : "goal: " + goal + "; ") + "not counted above):") + "\n" +
           tuning_table(record, standings).text(width, color);
  }
  for (const std::string& text : advice(record, standings)) out += "\n" + said(text, Ink::warning);
  for (const std::string& text : advice_on_failures(record)) out += "\n" + said(text, Ink::warning);
  return out;
}

}  // namespace polyhop

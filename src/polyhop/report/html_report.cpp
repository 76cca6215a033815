// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/html_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "polyhop/core/words.hpp"
#include "polyhop/experiment/toml_writer.hpp"
#include "polyhop/report/html_page.hpp"
#include "polyhop/report/median_curve.hpp"
#include "polyhop/report/network_svg.hpp"
#include "polyhop/report/page_json.hpp"
#include "polyhop/report/ranking.hpp"
#include "polyhop/report/text_table.hpp"
#include "polyhop/report/thinning.hpp"

namespace polyhop {
namespace {

using namespace page_json;

// What a page may hold, so that it opens at once: the sizes of one method, and of all methods together.
constexpr Index curve_points_in_all = 20'000;
constexpr Index step_times = 100;
constexpr Index steps_in_all = 400'000;
constexpr std::size_t drawn_edges = 20'000;
constexpr std::size_t listed_runs = 100;

// How many points each method may have.
struct Budget {
  Index points = curve_points;
  Index steps = steps_in_all;  // times x agents
};

Budget budget_for(Index methods) {
  const Index share = std::max<Index>(methods, 1);
  return {std::clamp<Index>(curve_points_in_all / share, 20, curve_points), steps_in_all / share};
}

std::string spread_json(const Spread& s) { return list({json(s.low), json(s.median), json(s.high)}); }

std::string standing_json(const Standing& s) {
  return object({{"method", json(s.method)},
                 {"runs", json(s.runs)},
                 {"reached", json(s.reached)},
                 {"diverged", json(s.diverged)},
                 {"unfinished", json(s.unfinished)},
                 {"failed", json(s.failed)},
                 {"below_rounding", s.below_rounding ? "true" : "false"},
                 {"iterations", spread_json(s.iterations)},
                 {"vectors", spread_json(s.vectors)},
                 {"evaluations", spread_json(s.evaluations)},
                 {"seconds", spread_json(s.seconds)},
                 {"final_risk", spread_json(s.final_risk)},
                 {"final_risk_averaged", spread_json(s.final_risk_averaged)},
                 {"averaged_better", json(s.averaged_better)},
                 {"recommended", json(name_of(s.recommended))}});
}

std::string costs_json(const MedianCurve& curve, Index most) {
  return list_of(thinned(static_cast<Index>(curve.points.size()), most),
                 [&](Index n) { return json(curve.points[n].x); });
}

std::string measure_json(const MedianCurve& curve, Index most) {
  // No run has diverged before it starts: what is infinite there was not recorded.
  if (curve.points.empty() || std::isinf(curve.points.front().y.low)) return "null";
  const auto kept = thinned(static_cast<Index>(curve.points.size()), most);
  const auto part = [&](double Spread::*share) {
    return list_of(kept, [&](Index n) { return json(curve.points[n].y.*share, chart_digits); });
  };
  return object({{"low", part(&Spread::low)}, {"median", part(&Spread::median)}, {"high", part(&Spread::high)}});
}

// The thinned curves of each method: of each cost its medians, of each measure its spread. One whole curve of each
// method is in memory at a time.
std::vector<std::string> curves_json(const Record& record, Index most) {
  const std::size_t methods = ended_by_method(record).size();
  std::vector<std::vector<std::string>> costs(methods), measures(methods);
  for (const auto& [x, name] : EnumNames<CurveX>::names) {
    const auto curves = median_curves(record, x, curve_y(&Point::excess_risk));
    for (std::size_t m = 0; m < methods; ++m) costs[m].push_back(field(name, costs_json(curves[m], most)));
  }
  for (const auto& [y, name] : EnumNames<CurveY>::names) {
    const auto curves = median_curves(record, CurveX::iterations, y);
    for (std::size_t m = 0; m < methods; ++m) measures[m].push_back(field(name, measure_json(curves[m], most)));
  }
  std::vector<std::string> out;
  for (std::size_t m = 0; m < methods; ++m) {
    out.push_back(object({{"x", joined(costs[m], '{', '}')}, {"y", joined(measures[m], '{', '}')}}));
  }
  return out;
}

// Where runs diverged: their last points.
std::string diverged_json(const std::vector<const Cell*>& cells) {
  std::vector<std::string> out;
  for (const Cell* cell : cells) {
    if (cell->status != Status::diverged || cell->points.empty()) continue;
    std::vector<std::string> fields = {field("seed", json(std::to_string(cell->seed)))};
    for (const auto& [x, name] : EnumNames<CurveX>::names) {
      fields.push_back(field(name, json(cost_at(cell->points.back(), x))));
    }
    out.push_back(joined(fields, '{', '}'));
  }
  return list(out);
}

// Every agent's steps at some times, where they are recorded and not too many to draw.
std::string agent_steps_json(const Cell& cell, Index most) {
  if (cell.steps.empty() || cell.steps.size() != cell.points.size()) return "null";
  const auto agents = static_cast<Index>(cell.steps.front().size());
  if (agents == 0 || agents > drawn_agents) return "null";
  const auto kept = thinned(static_cast<Index>(cell.steps.size()), std::clamp<Index>(most / agents, 8, step_times));
  const bool has_distances = cell.distances.size() == cell.points.size();
  const auto distances = [&](Index n) { return numbers(cell.distances[n]); };
  return object({{"iterations", list_of(kept, [&](Index n) { return json(cell.points[n].iteration); })},
                 {"steps", list_of(kept, [&](Index n) { return numbers(cell.steps[n]); })},
                 {"distances", has_distances ? list_of(kept, distances) : "null"}});
}

// The run of a method on its first seed: its risk and its steps.
std::string steps_json(const std::vector<const Cell*>& cells, const Budget& budget) {
  const auto first = std::ranges::find_if(cells, [](const Cell* cell) { return !cell->points.empty(); });
  if (first == cells.end()) return "null";
  const Cell& cell = **first;
  const auto kept = thinned(static_cast<Index>(cell.points.size()), budget.points);
  const auto column = [&](double Point::*member) {
    return list_of(kept, [&](Index n) { return json(cell.points[n].*member, chart_digits); });
  };
  return object({{"seed", json(std::to_string(cell.seed))},
                 {"iterations", list_of(kept, [&](Index n) { return json(cell.points[n].iteration); })},
                 {"risk", column(&Point::excess_risk)},
                 {"min", column(&Point::step_min)},
                 {"median", column(&Point::step_median)},
                 {"max", column(&Point::step_max)},
                 {"agents", agent_steps_json(cell, budget.steps)}});
}

std::string methods_json(const Record& record, const Budget& budget) {
  const auto curves = curves_json(record, budget.points);
  const auto by_method = ended_by_method(record);
  std::vector<std::string> out;
  for (std::size_t m = 0; m < by_method.size(); ++m) {
    const auto& [name, cells] = by_method[m];
    out.push_back(object({{"name", json(name)},
                          {"curves", curves[m]},
                          {"diverged", diverged_json(cells)},
                          {"steps", steps_json(cells, budget)}}));
  }
  return list(out);
}

std::string network_json(const Record& record) {
  if (record.networks.empty()) return "null";
  const NetworkPicture& network = record.networks.front();
  const bool drawn = network.agents <= drawn_agents && network.edges.size() <= drawn_edges;
  const auto edge = [](const auto& e) { return fmt::format("[{},{}]", e.first, e.second); };
  const auto place = [](const Place& p) { return list({json(p.x, chart_digits), json(p.y, chart_digits)}); };
  return object({{"seed", json(std::to_string(network.seed))},
                 {"agents", json(network.agents)},
                 {"links", json(static_cast<Index>(network.edges.size()))},
                 {"edges", drawn ? list_of(network.edges, edge) : "null"},
                 {"places", drawn ? list_of(network_layout(network), place) : "null"}});
}

std::string tuning_json(const Tuning& t) {
  return object({{"method", json(t.method)},
                 {"value", json(t.value)},
                 {"factor", json(t.factor)},
                 {"goal", json(name_of(t.goal))},
                 {"trials", json(t.trials)},
                 {"iterations", json(t.iterations)},
                 {"vectors", json(t.vectors)},
                 {"scalars", json(t.scalars)},
                 {"evaluations", json(t.values + t.gradients)},
                 {"seconds", json(t.seconds)}});
}

// The runs that did not go their way, first ones first.
std::string troubled_json(const Record& record) {
  std::vector<std::string> out;
  for (const Cell& cell : record.cells) {
    if (cell.status == Status::done || cell.status == Status::target || out.size() == listed_runs) continue;
    const Index reached = cell.points.empty() ? 0 : cell.points.back().iteration;
    out.push_back(object({{"method", json(cell.method)},
                          {"seed", json(std::to_string(cell.seed))},
                          {"status", json(name_of(cell.status))},
                          {"iteration", json(reached)},
                          {"message", json(cell.message)}}));
  }
  return list(out);
}

// Where a record comes from, and how its excess risk was measured.
Pairs provenance_of(const Record& record) {
  Pairs out = record.provenance;
  if (record.cells.empty()) return out;
  const Cell& first = record.cells.front();
  if (!first.reference_how.empty()) {
    out.emplace_back("reference optimum",
                     fmt::format("{}, accurate to {}", first.reference_how, significant(first.reference_accuracy, 2)));
  }
  if (first.recorded_agents > 0)
    out.emplace_back("excess risk averaged over", count_of(first.recorded_agents, "agent"));
  return out;
}

// The lines of a file that makes the experiment again.
std::string toml_json(const Value& config) {
  if (config.as<Value::Table>() == nullptr) return "[]";
  std::istringstream text(to_toml(config));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(json(line));
  return list(lines);
}

std::string headline_of(const Record& record) {
  const std::string text = ranking_text(record);
  return text.substr(0, text.find('\n'));
}

std::string record_json(const Record& record, const Budget& budget) {
  std::vector<std::uint64_t> seeds;
  Index points = 0;
  for (const Cell& cell : record.cells) {
    seeds.push_back(cell.seed);
    points += static_cast<Index>(cell.points.size());
  }
  std::ranges::sort(seeds);
  const auto distinct = std::unique(seeds.begin(), seeds.end()) - seeds.begin();
  const auto standings = rank(record);
  return object({{"name", json(record.name)},
                 {"headline", json(headline_of(record))},
                 {"target", json(record.target)},
                 {"seeds", json(static_cast<Index>(distinct))},
                 {"points", json(points)},
                 {"ranking", list_of(standings, standing_json)},
                 {"risk_floor", json(shown_floor(record))},
                 {"floor_text", json(floor_text(record))},
                 {"recommendation", json(recommendation(record, standings))},
                 {"advice", list_of(advice(record, standings), [](const std::string& text) { return json(text); })},
                 {"methods", methods_json(record, budget)},
                 {"network", network_json(record)},
                 {"tunings", list_of(record.tunings, tuning_json)},
                 {"settings", settings_json(record.config, "Experiment")},
                 {"toml", toml_json(record.config)},
                 {"troubled", troubled_json(record)},
                 {"provenance", pairs_json(provenance_of(record))}});
}

// What the axes of the curves can be.
std::string offered_costs() {
  return list_of(EnumNames<CurveX>::names, [](const auto& x) {
    return object({{"key", json(x.second)}, {"label", json(label_of(x.first))}});
  });
}

std::string offered_measures() {
  return list_of(EnumNames<CurveY>::names, [](const auto& y) {
    const PointColumn& column = column_of(y.first);
    return object({{"key", json(y.second)},
                   {"label", json(column.label)},
                   {"help", json(column.help)},
                   {"to_target", column.compared == ComparedWith::target ? "true" : "false"}});
  });
}

}  // namespace

std::string html_report(const std::vector<Record>& records) {
  std::string names;
  Index methods = 0;
  for (const Record& record : records) {
    names += (names.empty() ? "" : ", ") + record.name;
    methods += static_cast<Index>(ended_by_method(record).size());
  }
  const Budget budget = budget_for(methods);
  const std::string data =
      object({{"curve_points", json(budget.points)},
              {"drawn_agents", json(drawn_agents)},
              {"costs", offered_costs()},
              {"measures", offered_measures()},
              {"experiments", list_of(records, [&](const Record& r) { return record_json(r, budget); })}});
  return filled_page(report_page(), names, data);
}

}  // namespace polyhop

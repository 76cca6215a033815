// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/summary_json.hpp"

#include <optional>
#include <set>

#include "polyhop/core/json.hpp"
#include "polyhop/report/ranking.hpp"

namespace polyhop {
namespace {

// Numbers that are not finite become null when they are written.
Value json(const Spread& spread) {
  return Value::Table{{"low", spread.low}, {"median", spread.median}, {"high", spread.high}};
}

Value json(const Standing& s) {
  return Value::Table{{"method", s.method},
                      {"runs", s.runs},
                      {"reached", s.reached},
                      {"diverged", s.diverged},
                      {"unfinished", s.unfinished},
                      {"failed", s.failed},
                      {"iterations", json(s.iterations)},
                      {"vectors", json(s.vectors)},
                      {"evaluations", json(s.evaluations)},
                      {"seconds", json(s.seconds)},
                      {"final_risk", json(s.final_risk)},
                      {"final_risk_averaged", json(s.final_risk_averaged)},
                      {"averaged_better", s.averaged_better},
                      {"recommended", name_of(s.recommended)}};
}

Value json(const std::optional<Comparison>& c) {
  if (!c) return {};
  return Value::Table{{"method", c->first},  {"recommended", name_of(c->first_taken)},
                      {"next", c->second},   {"next_recommended", name_of(c->second_taken)},
                      {"seeds", c->seeds},   {"lower", c->lower},
                      {"higher", c->higher}, {"p", c->p}};
}

Value json(const Tuning& t) {
  return Value::Table{{"method", t.method},   {"value", t.value},           {"factor", t.factor},
                      {"trials", t.trials},   {"iterations", t.iterations}, {"vectors", t.vectors},
                      {"scalars", t.scalars}, {"values", t.values},         {"gradients", t.gradients},
                      {"seconds", t.seconds}, {"goal", name_of(t.goal)}};
}

Value json(const Cell& cell) {
  Value out = Value::Table{
      {"method", cell.method}, {"seed", static_cast<std::int64_t>(cell.seed)}, {"status", name_of(cell.status)}};
  if (!cell.message.empty()) out["message"] = cell.message;
  const Point* last = cell.points.empty() ? nullptr : &cell.points.back();
  out["iterations"] = last != nullptr ? Value(last->iteration) : Value();
  out["excess_risk"] = last != nullptr ? Value(last->excess_risk) : Value();
  out["excess_risk_averaged"] = last != nullptr ? Value(last->excess_risk_averaged) : Value();
  out["reference"] =
      Value::Table{{"value", cell.reference_value}, {"accuracy", cell.reference_accuracy}, {"how", cell.reference_how}};
  out["recorded_agents"] = cell.recorded_agents;
  return out;
}

template <class List>
Value list(const List& entries) {
  Value::Array out;
  for (const auto& entry : entries) out.push_back(json(entry));
  return out;
}

}  // namespace

Value summary(const Record& record) {
  std::set<std::int64_t> seeds;
  for (const Cell& cell : record.cells) seeds.insert(static_cast<std::int64_t>(cell.seed));
  const auto standings = rank(record);
  return Value::Table{{"name", record.name},
                      {"target", record.target},
                      {"seeds", Value::Array(seeds.begin(), seeds.end())},
                      {"methods", list(standings)},
                      {"lowest", json(compare_lowest(record, standings))},
                      {"tunings", list(record.tunings)},
                      {"runs", list(record.cells)},
                      {"config", record.config},
                      {"provenance", Value::Table(record.provenance.begin(), record.provenance.end())}};
}

// Names may hold any bytes; JSON holds UTF-8 only.
std::string summary_json(const Record& record) { return json_text(summary(record), true); }

}  // namespace polyhop

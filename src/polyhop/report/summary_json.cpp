// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/summary_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <variant>

#include "polyhop/report/ranking.hpp"

namespace polyhop {
namespace {

using Json = nlohmann::ordered_json;

Json json(const Value& value) {
  return std::visit(
      [](const auto& x) -> Json {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, Value::Array>) {
          Json list = Json::array();
          for (const Value& entry : x) list.push_back(json(entry));
          return list;
        } else if constexpr (std::is_same_v<T, Value::Table>) {
          Json table = Json::object();
          for (const auto& [key, entry] : x) table[key] = json(entry);
          return table;
        } else {
          return x;
        }
      },
      value.data);
}

// Not finite numbers become null when they are written.
Json json(const Spread& spread) { return {{"low", spread.low}, {"median", spread.median}, {"high", spread.high}}; }

Json json(const Standing& s) {
  return {{"method", s.method},
          {"runs", s.runs},
          {"reached", s.reached},
          {"diverged", s.diverged},
          {"unfinished", s.unfinished},
          {"failed", s.failed},
          {"iterations", json(s.iterations)},
          {"vectors", json(s.vectors)},
          {"evaluations", json(s.evaluations)},
          {"seconds", json(s.seconds)},
          {"final_risk", json(s.final_risk)}};
}

Json json(const Tuning& t) {
  return {{"method", t.method},         {"value", t.value},     {"factor", t.factor},   {"trials", t.trials},
          {"iterations", t.iterations}, {"vectors", t.vectors}, {"scalars", t.scalars}, {"values", t.values},
          {"gradients", t.gradients},   {"seconds", t.seconds}};
}

Json json(const Cell& cell) {
  Json out = {{"method", cell.method}, {"seed", cell.seed}, {"status", name_of(cell.status)}};
  if (!cell.message.empty()) out["message"] = cell.message;
  const Point* last = cell.points.empty() ? nullptr : &cell.points.back();
  out["iterations"] = last != nullptr ? Json(last->iteration) : Json();
  out["excess_risk"] = last != nullptr ? Json(last->excess_risk) : Json();
  out["reference"] = {
      {"value", cell.reference_value}, {"accuracy", cell.reference_accuracy}, {"how", cell.reference_how}};
  out["recorded_agents"] = cell.recorded_agents;
  return out;
}

template <class List>
Json list(const List& entries) {
  Json out = Json::array();
  for (const auto& entry : entries) out.push_back(json(entry));
  return out;
}

}  // namespace

std::string summary_json(const Record& record) {
  std::set<std::uint64_t> seeds;
  for (const Cell& cell : record.cells) seeds.insert(cell.seed);
  Json provenance = Json::object();
  for (const auto& [name, text] : record.provenance) provenance[name] = text;
  const Json out = {{"name", record.name},           {"target", record.target},         {"seeds", seeds},
                    {"methods", list(rank(record))}, {"tunings", list(record.tunings)}, {"runs", list(record.cells)},
                    {"config", json(record.config)}, {"provenance", provenance}};
  // Names may hold any bytes; JSON holds UTF-8 only.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace polyhop

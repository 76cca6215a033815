// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/report/scoreboard.hpp"
#include "support/records.hpp"

namespace polyhop::test {

/// A run of 100 iterations and a second from a risk of 1 that is at the target, 1e-3, from iteration `reached` on (-1:
/// never) and at `final_risk` at the end. Every iteration sends 3 vectors; averaged iterates lag by a factor of 10.
inline Cell run(const std::string& method, std::uint64_t seed, Index reached, double final_risk = 1e-3) {
  Cell out;
  out.method = method;
  out.seed = seed;
  for (Index i = 0; i <= 100; ++i) {
    Point point;
    point.iteration = i;
    point.vectors = 3 * i;
    point.seconds = 0.01 * static_cast<double>(i);
    const bool there = reached >= 0 && i >= reached;
    point.excess_risk = !there ? (i == 0 ? 1.0 : 0.5) : i == 100 ? final_risk : 1e-3;
    point.excess_risk_averaged = 10 * point.excess_risk;
    out.points.push_back(point);
  }
  return out;
}

inline Tuning tuning(const std::string& method, double factor) {
  Tuning out;
  out.method = method;
  out.value = 0.125;
  out.factor = factor;
  out.trials = 7;
  out.iterations = 700;
  out.vectors = 2100;
  return out;
}

/// An experiment of these runs, in which "tuned" was tuned.
inline Record instance(const std::string& name, std::vector<Cell> cells) {
  Record out = record(std::move(cells), 1e-3, name);
  out.config = Value(Value::Table{{"graph", Value(Value::Table{{"topology", Value("ring")}, {"agents", Value(5)}})},
                                  {"problem", Value(Value::Table{{"loss", Value("logistic")}, {"batch", Value(2)}})}});
  out.tunings = {tuning("tuned", 1)};
  return out;
}

inline Scoreboard make_scoreboard(const std::vector<Record>& records) {
  ScoreboardMaker maker;
  for (const Record& record : records) maker.add(record);
  return maker.scoreboard();
}

}  // namespace polyhop::test

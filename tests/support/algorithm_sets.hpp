// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "polyhop/method/algorithm_table.hpp"
#include "polyhop/problem/sampler.hpp"
#include "support/option_sets.hpp"

namespace polyhop::test {

/// An algorithm and its rule; no rule where the algorithm has its own steps.
struct Pair {
  Value algorithm;
  Value step;
  [[nodiscard]] std::string text() const { return algorithm.text() + " " + step.text(); }
  [[nodiscard]] std::string name() const {
    const Value* name = algorithm.find("name");
    return *(name != nullptr ? *name : algorithm).as<std::string>();
  }
  /// These samples, unless the algorithm takes no batches: then all.
  [[nodiscard]] Batch of(Batch batch) const { return name() == "quasi-newton" ? Batch{0, true} : batch; }
};

/// algorithm = { name = ..., ... }
inline Value algorithm_of(const char* name, const Options& options = {}) {
  Value algorithm;
  algorithm["name"] = name;
  for (const auto& [key, value] : options) algorithm[key] = value;
  return algorithm;
}

/// Every algorithm of the table but ATC, which the rules' own tests use, with every kind of step that it takes.
/// algorithm_table_test.cpp sees to it that none is missing.
inline std::vector<Pair> algorithm_sets() {
  const Value constant = step_of("constant", {{"value", 0.05}});
  const Value falling = step_of("decay", {{"value", 0.1}, {"power", 0.5}});
  const Options repaired = {{"bound", "linear"}, {"damping", "rows"}, {"project", true}};
  const auto repaired_with = [&](const char* key, const Value& value) {
    Options options = repaired;
    options.emplace_back(key, value);
    return gap(options);
  };
  std::vector<Pair> sets = {{algorithm_of("extra"), constant},
                            {algorithm_of("next"), constant},
                            {algorithm_of("next", {{"gamma", 0.5}, {"theta", 0.1}}), constant},
                            {algorithm_of("kuruzov"), {}},
                            {algorithm_of("auto"), {}},
                            {algorithm_of("quasi-newton"), {}},
                            {algorithm_of("quasi-newton", {{"memory", 2}}), {}},
                            {algorithm_of("kuruzov", {{"growth", 1.1}, {"mixing", 0.3}, {"first", 8.0}}), {}}};
  for (const char* name : {"dadam", "damsgrad"}) {
    sets.push_back({algorithm_of(name), constant});
    sets.push_back({algorithm_of(name), falling});
  }
  const Value dual = algorithm_of("exact-diffusion");
  const Value primal = algorithm_of("exact-diffusion", {{"form", "primal"}});
  const Value rounds = algorithm_of("gradient-tracking", {{"rounds", 2}});
  const std::vector<Value> takers = {algorithm_of("cta"),
                                     algorithm_of("dgd"),
                                     dual,
                                     primal,
                                     algorithm_of("diging"),
                                     rounds,
                                     algorithm_of("gradient-tracking")};
  for (const Value& name : takers) {
    for (const Value& step : {constant, falling, step_of("backtracking"), step_of("adgd"), step_of("polyak"),
                              step_of("barzilai-borwein", {{"max", 0.1}})}) {
      sets.push_back({name, step});
    }
  }
  sets.push_back({algorithm_of("cta"), gap()});
  for (const char* name : {"cta", "dgd", "diging", "gradient-tracking"}) {
    sets.push_back({algorithm_of(name), gap(repaired)});
    sets.push_back({algorithm_of(name), repaired_with("cap", "curvature")});
  }
  for (const char* damping : {"paper", "rows", "norms", "graph", "sketch"}) {
    for (const char* exchange : {"lists", "relay"}) {
      const Value step = gap({{"bound", "linear"}, {"damping", damping}, {"sweeps", 3}, {"exchange", exchange}});
      sets.push_back({primal, step});
      sets.push_back({algorithm_of("gradient-tracking"), step});
    }
  }
  for (const char* cap : {"distance", "curvature"}) sets.push_back({primal, repaired_with("cap", cap)});
  sets.push_back({primal, gap({{"bound", "tight"}, {"damping", "rows"}})});
  sets.push_back({algorithm_of("exact-diffusion", {{"form", "primal"}, {"mixing", "auto"}}),
                  gap({{"bound", "tight"}, {"damping", "rows"}, {"relaxation", 1.5}})});
  sets.push_back({algorithm_of("exact-diffusion", {{"mixing", "auto"}}), step_of("adgd")});
  sets.push_back({algorithm_of("gradient-tracking"), repaired_with("optimum", "estimate")});
  sets.push_back({algorithm_of("gradient-tracking"), repaired_with("optimum", "per-sample")});
  return sets;
}

}  // namespace polyhop::test

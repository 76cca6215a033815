// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Writes runs of polyhop for gap_oracle.py to recompute: gap_dump FOLDER makes FOLDER/0, FOLDER/1, ... of one run each.
#include <utility>
#include <vector>

#include "support/dumped_run.hpp"
#include "support/option_sets.hpp"

namespace polyhop::test {
namespace {

std::vector<RunCase> cases() {
  std::vector<RunCase> all;
  const auto add = [&](Value step, RunCase base = {}) {
    base.step = std::move(step);
    all.push_back(std::move(base));
  };
  add(gap({{"products", "remembered"}}), {.topology = "path", .agents = 9, .noise = 0.5});
  add(gap({{"bound", "tight"}, {"damping", "rows"}, {"products", "remembered"}}), {.loss = "logistic", .noise = 1.0});
  const char* bounds[] = {"paper", "linear", "tight", "oracle"};
  const char* dampings[] = {"paper", "rows", "norms", "graph"};
  // Every bound with every damping: an interpolating problem, then one with noise, a penalty and batches.
  for (const char* bound : bounds) {
    for (const char* damping : dampings) {
      add(gap({{"bound", bound}, {"damping", damping}}));
      add(gap({{"bound", bound}, {"damping", damping}, {"sweeps", 3}, {"project", true}, {"optimum", "per-sample"}}),
          {.topology = "ring", .agents = 7, .l2 = 0.1, .noise = 0.5, .batch = 3, .start = "normal"});
      add(gap({{"bound", bound}, {"damping", damping}, {"sweeps", 5}, {"relaxation", 1.5}, {"exchange", "relay"}}),
          {.topology = "star", .agents = 5, .dimension = 33, .loss = "logistic", .l2 = 0.05, .noise = 1.0, .batch = 2});
    }
  }
  add(gap({{"bound", "linear"}, {"sweeps", "exact"}}), {.iterations = 30});
  add(gap({{"bound", "tight"}, {"damping", "rows"}, {"sweeps", "exact"}}), {.topology = "complete", .iterations = 30});
  add(gap({{"bound", "tight"}, {"damping", "norms"}, {"sweeps", "exact"}}), {.topology = "path", .iterations = 30});
  for (const char* agree : {"min", "mean"}) add(gap({{"agree", agree}}), {.topology = "ring"});
  add(gap({{"cap", 0.01}}));
  add(gap({{"cap", "0.1/sqrt(i+1)"}}));
  for (const char* sums : {"mixed", "own"}) {
    for (const char* damping : {"rows", "norms"}) {
      add(gap({{"bound", "tight"},
               {"damping", damping},
               {"project", true},
               {"relaxation", 1.5},
               {"cap", "distance"},
               {"sums", sums}}),
          {.topology = "ring", .agents = 9, .noise = 1.0, .start = "normal"});
    }
  }
  add(gap({{"optimum", 0.25}}), {.loss = "huber", .noise = 0.5, .batch = "all"});
  add(gap({{"optimum", Value(Value::Array{0.1, 0.2, 0.0, 0.3, 0.05, 0.15})}, {"bound", "linear"}}),
      {.loss = "huber", .l2 = 0.2});
  add(gap({}), {.agents = 1});
  add(gap({{"bound", "tight"}, {"sweeps", 1}}), {.topology = "complete", .loss = "logistic"});
  add(step_of("constant", {{"value", 0.05}}));
  add(step_of("decay", {{"value", 0.2}, {"power", 0.75}}));
  add(step_of("polyak", {}));
  add(step_of("polyak", {{"optimum", "per-sample"}, {"max", 0.3}}), {.noise = 0.5, .batch = 2});
  add(step_of("sps", {{"max", 0.5}}), {.loss = "logistic", .l2 = 0.1});
  add(step_of("backtracking", {}));
  add(step_of("backtracking", {{"growth", 1.0}}), {.topology = "star", .noise = 0.5, .start = "normal"});
  add(step_of("backtracking", {{"reach", "network"}, {"first", 100.0}}), {.topology = "ring", .agents = 7, .batch = 3});
  add(step_of("backtracking", {{"growth", 1.1}, {"delta", 0.5}, {"shrink", 0.8}}),
      {.topology = "path", .loss = "logistic", .l2 = 0.1, .noise = 1.0, .batch = 2});
  add(step_of("backtracking", {{"growth", 1.1}, {"delta", 1.5}, {"first", 1e-3}}),
      {.topology = "complete", .loss = "huber", .noise = 0.5, .batch = "all"});
  add(step_of("backtracking", {{"reach", "network"}}), {.agents = 1});
  return all;
}

}  // namespace
}  // namespace polyhop::test

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  polyhop::test::dump_runs(polyhop::test::cases(), argv[1]);
  return 0;
}

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/network/runtime.hpp"
#include "support/trial.hpp"

namespace polyhop::test {

/// What a rule chose in every iteration of a run on one worker, and what it took.
struct RuleRun {
  std::vector<std::vector<double>> mu;
  std::vector<std::vector<double>> levels;
  Rows w;
  Rows averaged;
  Snapshot state;
  Evaluations evaluations;
  Traffic step;

  /// A registered state, by its name.
  [[nodiscard]] std::vector<double> named(const std::string& name) const {
    for (const auto& entry : state.entries) {
      if (entry.name == name) return entry.data;
    }
    return {};
  }
};

inline RuleRun run_rule(const CombinationMatrix& matrix, const Problem& problem, const Value& step, const Rows& start,
                        Index iterations, const Value& recursion = "atc", const Reference* reference = nullptr,
                        Index known_end = 0) {
  RuleRun out;
  launch_serial(matrix, problem.dimension(), [&](Worker& worker) {
    Solver solver(problem, reference, step, worker.network, start, 0, recursion, GradientEstimate::plain, known_end);
    for (Index i = 0; i < iterations; ++i) {
      solver.iterate(i, worker.network);
      out.mu.emplace_back(solver.algorithm->steps().begin(), solver.algorithm->steps().end());
      out.levels.emplace_back(solver.rule->levels().begin(), solver.rule->levels().end());
    }
    out.w = solver.algorithm->models();
    out.averaged = solver.averaged();
    out.state = solver.state.shape(problem.agents());
    solver.state.save(worker.network.block(), out.state);
    out.evaluations = solver.oracle->evaluations();
    out.step = worker.network.step_traffic();
  });
  return out;
}

}  // namespace polyhop::test

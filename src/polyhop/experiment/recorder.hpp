// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/record.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/method/algorithm.hpp"
#include "polyhop/method/averaged_iterate.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop {

/// Watches a run from one worker: at each recorded iteration all workers form the global numbers together, in agent
/// order, and the first of them writes the point. The only user of the collective.
class Recorder {
 public:
  Recorder(const ExperimentOptions& options, const Problem& problem, const Reference& reference, Worker& worker,
           Cell& cell, bool every_step = false);

  /// Counts what was sent before the first iteration.
  void charge(const Traffic& before) {
    before_.rounds += before.rounds;
    before_.vectors += before.vectors;
    before_.scalars += before.scalars;
  }
  /// Goes on from a checkpoint: counts continue, divergence is judged as before.
  void resume(const Checkpoint& checkpoint);
  [[nodiscard]] bool due(Index iteration) const;
  /// Records a point and says whether the run must end, alike on every worker. `levels`: as StepSize tells them.
  std::optional<Status> observe(Index iteration, double seconds, const Algorithm& algorithm,
                                const AveragedIterate* average, const Oracle& oracle,
                                std::span<const Real> levels = {});
  /// Writes where the run stands before `iteration` into `checkpoint`, which all workers share.
  void save(Index iteration, double seconds, const StateRegistry& state, const Oracle& oracle, Checkpoint& checkpoint);
  /// Writes the last models into the cell.
  void finish(const Algorithm& algorithm, const AveragedIterate* average);

 private:
  void gather_points(const Algorithm& algorithm, const AveragedIterate* average);
  void gather_sums(const Algorithm& algorithm, const Oracle& oracle, double seconds, std::span<const Real> levels);
  [[nodiscard]] Point own_counts(const Oracle& oracle) const;
  [[nodiscard]] Point point(Index iteration, bool averaged) const;
  [[nodiscard]] double risk(Index p) const;
  void copy_models(const Rows& from, Rows& to);

  const ExperimentOptions& options_;
  const Problem& problem_;
  const Reference& reference_;
  Worker& worker_;
  Cell& cell_;
  Rows minimiser_;              // w^o as a row, or empty
  std::vector<Index> watched_;  // the agents whose models are evaluated
  Rows points_;                 // watched models, the mean model, watched averaged models
  Rows costs_;                  // J_k at those points, for the block's agents
  std::vector<double> flat_;    // points on their way through the collective
  std::vector<double> sums_;    // see gather_sums
  double first_risk_ = 0;
  bool every_step_;  // record every agent's step
  Point before_;     // counts from before a checkpoint
};

}  // namespace polyhop

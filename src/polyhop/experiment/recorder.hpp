// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/record.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/method/algorithm.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop {

/// Watches a run from one worker. At each recorded iteration, all workers compute the global numbers together, in order
/// of the agents, and the first one writes the point. Nothing else uses the collective.
class Recorder {
 public:
  Recorder(const ExperimentOptions& options, const Problem& problem, const Reference& reference, Worker& worker,
           Cell& cell, bool every_step = false);

  /// Adds what was sent before the first iteration.
  void charge(const Traffic& before) {
    before_.rounds += before.rounds;
    before_.vectors += before.vectors;
    before_.scalars += before.scalars;
  }
  /// Resumes from a checkpoint: counts continue, and divergence is judged as before.
  void resume(const Checkpoint& checkpoint);
  [[nodiscard]] bool due(Index iteration) const;
  /// Records a point and decides whether the run must end; the same on every worker. `levels`: as in StepSize.
  std::optional<Status> observe(Index iteration, double seconds, const Algorithm& algorithm, const Rows* averaged,
                                const Oracle& oracle, std::span<const double> levels = {});
  /// The state of the run before `iteration`, for the first worker to save.
  Checkpoint standing(Index iteration, double seconds, const Oracle& oracle);
  /// Sends the last models of all agents to the first worker's `sink`: "models" and, if recorded, "averaged".
  void send_models(const Algorithm& algorithm, const Rows* averaged, const StateSink& sink);
  /// Writes them into the cell instead; only if a single process does the run.
  void finish(const Algorithm& algorithm, const Rows* averaged);

 private:
  void gather_mean(const Rows& models);
  void gather_risks(const Rows& models, const Rows* averaged);
  void gather_points(Index first, Index count, const Rows& models, const Rows* averaged);
  void gather_sums(const Algorithm& algorithm, const Oracle& oracle, double seconds, std::span<const double> levels);
  void gather_steps(const Algorithm& algorithm);
  void gather_distances(const Rows& models);
  [[nodiscard]] Point own_counts(const Oracle& oracle) const;
  [[nodiscard]] Point point(Index iteration, bool averaged) const;
  void fill_steps(Point& point) const;
  void keep_agents(Index iteration);
  [[nodiscard]] double excess(std::size_t p) const { return risks_[p] - reference_.value; }

  const ExperimentOptions& options_;
  const Problem& problem_;
  const Reference& reference_;
  Worker& worker_;
  Cell& cell_;
  Rows minimiser_;                 // w^o as a row, or empty
  std::vector<Index> watched_;     // the agents whose models are evaluated
  Rows mean_;                      // the mean of all models
  Rows points_;                    // models to evaluate, some at a time
  Rows costs_;                     // J_k at those points, for the block's agents
  std::vector<double> flat_;       // points passing through the collective
  std::vector<double> risks_;      // J at the watched models, the mean model, the watched averaged models
  std::vector<double> sums_;       // see gather_sums
  std::vector<Index> agents_;      // the numbers of the block's agents
  std::vector<double> steps_;      // of all agents, at the first worker
  std::vector<double> away_;       // the distances of the block's agents from the mean, if a page can draw the network
  std::vector<double> distances_;  // those of all agents, at the first worker
  double first_risk_ = 0;
  double wrong_at_optimum_ = -1;  // samples here that w^o misclassifies; -1: no classes, or no w^o
  bool every_step_;               // record every agent's step
  Point before_;                  // counts from before a checkpoint
};

}  // namespace polyhop

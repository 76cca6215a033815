// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/record.hpp"
#include "polyhop/experiment/store.hpp"

namespace polyhop {

struct RunOptions {
  /// Threads to use; 0: as many as there are cores. No result depends on it.
  Index threads = 0;
  /// Told after each finished cell, from whichever thread finished it, one at a time.
  std::function<void(const Cell& cell, Index finished, Index total)> on_cell = {};
  /// Told after each recorded point, in the same way.
  std::function<void(const Cell& cell)> on_point = {};
  /// Told as the search for a tuned constant goes on: steps tried so far, and the most there can be.
  std::function<void(const std::string& method, Index tried, Index budget)> on_trial = {};
  /// Asked a few times a second by every running cell: true ends them at their next checkpoint, `unfinished`.
  std::function<bool()> stop = {};
  /// Where finished cells are kept and found again, and unfinished ones go on from. Models then stay there.
  Store* store = nullptr;
};

/// How one cell's run is watched, interrupted and taken up again.
struct CellControl {
  const Checkpoint* resume = nullptr;
  double checkpoint_every = std::numeric_limits<double>::infinity();  // seconds of work
  bool every_step = false;                                            // record every agent's step size
  std::function<bool()> stop = {};
  std::function<void(const Cell& cell)> on_point = {};
  std::function<void(const Cell& cell, const Checkpoint& checkpoint)> save = {};
};

/// Everything of one seed that its methods share.
struct Instance {
  NetworkGraph network;
  std::unique_ptr<DataProblem> problem;
  Reference reference;
  Traffic preparation = {};  // what agreeing on the features' scales took
};

Instance make_instance(const ExperimentOptions& options, std::uint64_t seed);

/// The first models of a block's agents.
Rows first_models(const ExperimentOptions& options, Block block, Index dimension, Index agents, std::uint64_t seed);

/// Runs one method on one instance with `workers` workers. `begun` holds the points up to the checkpoint that
/// `control` resumes from.
Cell run_cell(const ExperimentOptions& options, const Method& method, const Instance& instance, std::uint64_t seed,
              Index workers, const CellControl& control = {}, Cell begun = {});

/// The settings that determine a cell's numbers, and nothing else.
CellKey cell_key(const ExperimentOptions& options, const Method& method, std::uint64_t seed);

/// Runs every method on every seed: small cells side by side, a large one on all threads. With a store, what is
/// finished is not run again, what was begun goes on, and a cell that fails is kept as failed while the others run.
Record run(const Config& config, const RunOptions& options = {});

}  // namespace polyhop

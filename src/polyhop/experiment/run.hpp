// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/instance.hpp"
#include "polyhop/experiment/record.hpp"
#include "polyhop/experiment/run_cell.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/experiment/tuning.hpp"
#include "polyhop/network/placement.hpp"
#include "polyhop/network/team.hpp"

namespace polyhop {

struct RunOptions {
  /// Threads to use in every process; 0: as many as there are cores, or one if several processes run together. No
  /// result depends on it.
  Index threads = 0;
  /// Called after each finished cell, from the thread that finished it, one at a time.
  std::function<void(const Cell& cell, Index finished, Index total)> on_cell = {};
  /// Called after each recorded point, in the same way.
  std::function<void(const Cell& cell)> on_point = {};
  /// Called during the search for a tuned constant: steps tried so far, and the largest possible number.
  std::function<void(const std::string& method, Index tried, Index budget)> on_trial = {};
  /// Called after each recorded point of its trial runs: which step and seed, and how much of the step is done.
  std::function<void(const std::string& method, const TrialPoint& at, Index budget)> on_trial_point = {};
  /// Called with each seed's instance when it is made: what there is to say about its data.
  std::function<void(const Instance& instance)> on_instance = {};
  /// Called once for each method that keeps a row of every sample, before all runs and its trials: the bytes that a run
  /// takes for that.
  std::function<void(const std::string& method, double bytes)> on_kept = {};
  /// Polled a few times per second by every running cell: true ends them at their next checkpoint, `unfinished`.
  std::function<bool()> stop = {};
  /// The store that keeps finished cells, and the checkpoints from which unfinished ones resume. Models then stay
  /// there.
  Store* store = nullptr;
  /// The processes that share the work. Every process calls `run` with the same configuration; only the first one's
  /// callbacks, `stop` and store are used.
  Team* team = &alone();
  /// Which agents each process owns. No result depends on it.
  Placement placement = Placement::automatic;
  /// Called once before the first cell is run: how many the store already has, and how many there are.
  std::function<void(Index finished, Index total)> on_begin = {};
};

/// The settings that determine a cell's numbers, and nothing else.
CellKey cell_key(const ExperimentOptions& options, const Method& method, std::uint64_t seed);

/// Runs every method on every seed: small cells concurrently, a large one on all threads. With a store, finished cells
/// are not run again, interrupted ones resume, and a cell that fails is stored as failed while the others run. Several
/// processes run the cells one after the other, each on all of them; the record is complete in the first one, but its
/// cells have no models, which only a store keeps.
Record run(const Config& config, const RunOptions& options = {});

}  // namespace polyhop

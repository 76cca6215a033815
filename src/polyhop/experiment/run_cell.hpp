// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/instance.hpp"
#include "polyhop/experiment/record.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/network/team.hpp"

namespace polyhop {

/// The inputs of a cell's run.
struct Stage {
  const CombinationMatrix& matrix;
  const Problem& problem;
  const Reference& reference;
  Traffic preparation = {};              // what was sent before the first iteration
  const Ownership* ownership = nullptr;  // of the processes; null if one does all

  Stage(const CombinationMatrix& m, const Problem& p, const Reference& r) : matrix(m), problem(p), reference(r) {}
  Stage(const Instance& instance)  // NOLINT: an instance is a stage
      : matrix(instance.network.matrix),
        problem(*instance.problem),
        reference(instance.reference),
        preparation(instance.preparation),
        ownership(&instance.ownership) {}
};

/// How one cell's run is watched, interrupted and resumed. If several processes run it together, only the first one's
/// control is used.
struct CellControl {
  const Checkpoint* resume = nullptr;
  StateStream state = {};                                             // what was saved with it
  const Rows* start = nullptr;                                        // first models of all agents; null: the options'
  double checkpoint_every = std::numeric_limits<double>::infinity();  // seconds of work
  bool every_step = false;                                            // record every agent's step size
  bool models = true;                                                 // put the last models of all agents into the cell
  std::function<bool()> stop = {};
  std::function<void(const Cell& cell)> on_point = {};
  /// Called before the first iteration if the method keeps a row of every sample, with the bytes that all agents' take.
  std::function<void(double bytes)> on_kept = {};
  /// Saves a checkpoint; it must ask `state` for all parts.
  std::function<void(const Cell& cell, const Checkpoint& checkpoint, const StateStream& state)> save = {};
  /// Saves a finished run, with the last models in parts; the cell then has no models.
  std::function<void(const Cell& cell, const StateStream& models)> finish = {};
};

/// Runs one method on one problem and network, with `workers` workers in every process of the team. `begun` holds the
/// points up to the checkpoint that `control` resumes from. The first process gets the cell, the others its status and
/// last point.
Cell run_cell(const ExperimentOptions& options, const Method& method, const Stage& stage, std::uint64_t seed,
              Index workers, const CellControl& control = {}, Cell begun = {}, Team& team = alone());

/// Builds every method once, so that a method that does not fit the instance is found before any work is done. Throws
/// InputError. Returns the bytes that each one's rows of samples take in a run, in every process.
std::vector<double> check_methods(const Config& config, const Instance& instance, std::uint64_t seed,
                                  Team& team = alone());

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/record.hpp"

namespace polyhop {

struct RunOptions {
  /// Threads to use; 0: as many as there are cores. No result depends on it.
  Index threads = 0;
  /// Told after each finished cell, from whichever thread finished it, one at a time.
  std::function<void(const Cell& cell, Index finished, Index total)> on_cell;
};

/// Everything of one seed that its methods share.
struct Instance {
  NetworkGraph network;
  std::unique_ptr<LinearProblem> problem;
  Reference reference;
};

Instance make_instance(const ExperimentOptions& options, std::uint64_t seed);

/// The first models of a block's agents.
Rows first_models(const ExperimentOptions& options, Block block, Index dimension, Index agents, std::uint64_t seed);

/// Runs one method on one instance with `workers` workers.
Cell run_cell(const ExperimentOptions& options, const Method& method, const Instance& instance, std::uint64_t seed,
              Index workers);

/// Runs every method on every seed: small cells side by side, a large one on all threads.
Record run(const Config& config, const RunOptions& options = {});

}  // namespace polyhop

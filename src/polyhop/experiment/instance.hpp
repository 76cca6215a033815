// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "polyhop/core/rows.hpp"
#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/standardise.hpp"
#include "polyhop/experiment/team_data.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/network/placement.hpp"
#include "polyhop/network/team.hpp"
#include "polyhop/network/traffic.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop {

/// Samples after reading, dealing and scaling as a model's options say, with a column of ones for its intercept. Every
/// process of a team has those of its own agents.
struct PreparedData : TeamData {
  Standardised standardised;  // empty unless asked for
};

/// All processes of the team call it together, for `run` and `fit` alike.
PreparedData prepare_data(const DataSource& source, const ModelOptions& model, const CombinationMatrix& matrix,
                          std::uint64_t seed, Team& team, Placement placement);

/// Everything that the methods of one seed share. Every process of a team has its own: the graph and the reference are
/// the same in all, the problem holds the costs of the process's own agents.
struct Instance {
  NetworkGraph network;
  std::shared_ptr<const Problem> problem;
  Reference reference;
  Traffic preparation = {};  // sent to agree on the features' scales, over all processes
  Ownership ownership = {};
  double column_spread = 1;  // of the features of real data, if not standardised
  Index skipped = 0;         // rows of the data left out because they lack a value
  Index samples = 0;         // per agent, rounded up; 0 if the problem is made, not read
};

/// All processes of the team call it together, each for its own agents. Only who owns which agents depends on the
/// placement.
Instance make_instance(const ExperimentOptions& options, std::uint64_t seed, Team& team = alone(),
                       Placement placement = Placement::automatic);

/// The first models of a block's agents.
Rows first_models(const ExperimentOptions& options, Block block, Index dimension, Index agents, std::uint64_t seed);

}  // namespace polyhop

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

/// Samples that were read and dealt, scaled as a model's options ask for, with a column of ones for its intercept.
/// Every process of a team has those of its own agents.
struct PreparedData : TeamData {
  Standardised standardised;  // empty unless asked for
};

/// Made by all processes of the team together, for `run` and `fit` alike.
PreparedData prepare_data(const DataSource& source, const ModelOptions& model, const CombinationMatrix& matrix,
                          std::uint64_t seed, Team& team, Placement placement);

/// Everything of one seed that its methods share. Every process of a team has its own: the graph and the reference are
/// the same in all of them, the problem holds the costs of the process's own agents.
struct Instance {
  NetworkGraph network;
  std::shared_ptr<const Problem> problem;
  Reference reference;
  Traffic preparation = {};  // what agreeing on the features' scales took, of all processes together
  Ownership ownership = {};
  double column_spread = 1;  // of the features of real data that were not standardised
  Index skipped = 0;         // rows of the data that were left out because they lack a value
};

/// Made by all processes of the team together, each for its own agents. Nothing but the ownership depends on the
/// placement.
Instance make_instance(const ExperimentOptions& options, std::uint64_t seed, Team& team = alone(),
                       Placement placement = Placement::contiguous);

/// The first models of a block's agents.
Rows first_models(const ExperimentOptions& options, Block block, Index dimension, Index agents, std::uint64_t seed);

}  // namespace polyhop

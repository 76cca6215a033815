// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/network/placement.hpp"
#include "polyhop/network/team.hpp"
#include "polyhop/problem/data_problem.hpp"
#include "polyhop/problem/dealt_data.hpp"
#include "polyhop/problem/model_options.hpp"

namespace polyhop {

/// The cost of one iteration for each agent, in multiplications per coordinate: 1 for each row that it combines, its
/// own and its neighbours', and 2 for each sample of its batch, whose features are read for the prediction and for the
/// gradient. `samples`: of each agent; if empty (not known), only neighbours count.
std::vector<double> agent_costs(const CombinationMatrix& matrix, const Batch& batch, std::span<const Index> samples);

/// About how many multiply-adds an iteration of all agents takes: for their gradients, and for combining neighbours'
/// rows.
double iteration_work(const CombinationMatrix& matrix, const Problem& problem);

/// Samples that the processes of a team read and dealt together, each for its own agents.
struct TeamData {
  DealtData dealt;
  Ownership ownership;
  DataShare share;
};

/// One file for all is read twice, first for the targets: by these, the samples are dealt, and the agents assigned to
/// processes of about equal work; a process keeps only the features of its own agents. (A single process reads once.)
/// If agents have files of their own, a process opens only those of its agents. A failure in one process is thrown in
/// all.
TeamData read_data_of(const DataSource& source, const ModelOptions& model, const CombinationMatrix& matrix,
                      std::uint64_t seed, Team& team, Placement placement);

}  // namespace polyhop

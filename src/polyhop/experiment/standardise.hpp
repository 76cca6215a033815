// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/network/team.hpp"
#include "polyhop/network/traffic.hpp"
#include "polyhop/problem/dataset.hpp"

namespace polyhop {

/// What standardising did to each column, x -> (x - mean) / scale, and how much agents sent to agree on it.
struct Standardised {
  std::vector<double> mean;   // 0 for sparse features, which are not shifted
  std::vector<double> scale;  // 1 for a column that does not vary
  Traffic traffic;
  std::vector<Index> constant = {};  // columns that do not vary
};

/// The mean and the spread of every column over the samples of all agents.
struct ColumnMoments {
  std::vector<double> mean;    // 0 if columns are not centred
  std::vector<double> spread;  // the standard deviation, or the root mean square if not centred; 0 if a column varies
                               // only by rounding
  Traffic traffic;             // of all processes
};

/// Agents send only sums over their own samples, along the links of the network; no agent sees another's data. `data`:
/// the samples of the agents that this process of the team owns. Sparse columns are never centred.
ColumnMoments column_moments(const Dataset& data, bool centred, const CombinationMatrix& matrix,
                             const Ownership& ownership, Team& team);

/// Gives every feature mean 0 and standard deviation 1 over the samples of all agents, using `column_moments`.
Standardised standardise(Dataset& data, const CombinationMatrix& matrix, const Ownership& ownership = {},
                         Team& team = alone());

/// How many times larger the largest column of the features is than the smallest, as root mean squares over the samples
/// of all agents; columns of zeros are ignored, and so is a last column of ones for the `intercept`. For advice only:
/// no agent sends anything.
double column_spread(const Dataset& data, bool intercept, Team& team);

/// The traffic of the agents of all processes, from that of a worker's block.
Traffic of_all(const Traffic& own, Collective& collective);

}  // namespace polyhop

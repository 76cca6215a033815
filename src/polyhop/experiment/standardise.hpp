// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/network/team.hpp"
#include "polyhop/network/traffic.hpp"
#include "polyhop/problem/dataset.hpp"

namespace polyhop {

/// What standardising did to each column, x -> (x - mean) / scale, and what agreeing on it took.
struct Standardised {
  std::vector<Real> mean;   // 0 for sparse features, which are not shifted
  std::vector<Real> scale;  // 1 for a column that does not vary
  Traffic traffic;
};

/// Gives every feature mean 0 and standard deviation 1 over the samples of all agents. Agents send sums over their own
/// samples along the links of the network and nothing else; nobody sees another's data. `data`: the samples of the
/// agents that this process of the team owns; the traffic is that of all processes.
Standardised standardise(Dataset& data, const CombinationMatrix& matrix, const Ownership& ownership = {},
                         Team& team = alone());

/// What the agents of all processes sent, from what those of a worker's block did.
Traffic of_all(const Traffic& own, Collective& collective);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "polyhop/core/index.hpp"
#include "polyhop/graph/sparse_rows.hpp"

namespace polyhop {

/// The average number of places between two neighbours. A cut between two places, anywhere, crosses as many links as
/// this times the links per agent, on average. `a`: any matrix with the network's pattern; null: places are numbers.
double mean_distance(const SparseRows& a, const Numbering* numbering = nullptr);

/// Agents in an order in which neighbours are near each other, by reverse Cuthill-McKee: in layers, from an agent that
/// is far from most others. A consecutive share of them has few links to the rest. O(links).
Numbering near_order(const SparseRows& a);

/// The same if it brings neighbours at least twice as near as their numbers do; nothing if the network is small or
/// neighbours are near already.
std::optional<Numbering> paying_order(const SparseRows& a);

}  // namespace polyhop

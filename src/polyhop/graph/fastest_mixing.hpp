// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/index.hpp"
#include "polyhop/graph/graph.hpp"
#include "polyhop/graph/sparse_rows.hpp"

namespace polyhop {

/// Every step solves a dense eigenvalue problem.
inline constexpr Index fastest_mixing_limit = 200;

/// The fastest mixing non-negative weights on a graph (Boyd, Diaconis, Xiao 2004): minimises max(lambda_2(A),
/// -lambda_K(A)) over link weights p >= 0 that sum to at most 1 at every agent, by the projected subgradient method. It
/// keeps the best point, so the result is never worse than `start`; it is within a few thousandths of the optimum, not
/// at it. Links whose weight ends at 0 are dropped.
SparseRows fastest_mixing(const Graph& graph, const SparseRows& start);

}  // namespace polyhop

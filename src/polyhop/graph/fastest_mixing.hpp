// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/index.hpp"
#include "polyhop/graph/graph.hpp"
#include "polyhop/graph/sparse_rows.hpp"

namespace polyhop {

/// A dense eigenvalue problem is solved in every step.
inline constexpr Index fastest_mixing_limit = 200;

/// The fastest mixing non-negative weights on a graph (Boyd, Diaconis, Xiao 2004): minimises
/// max(lambda_2(A), -lambda_K(A)) over link weights p >= 0 whose sum at no agent exceeds 1, by the projected
/// subgradient method. The best point met is kept, so the result is never worse than `start`; it is within a
/// few thousandths of the optimum, not at it. Links whose weight ends at 0 are left out.
SparseRows fastest_mixing(const Graph& graph, const SparseRows& start);

}  // namespace polyhop

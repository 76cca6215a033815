// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/problem/optimum/pooled_cost.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop::optimum {

/// Least squares by factorisations; the accuracy of each is what one more step of refinement promises.

/// Of dense features without penalty: a complete orthogonal decomposition.
Reference by_rank_revealing(const Pooled& cost);

/// The wide form, through the samples' side; every coefficient is penalised alike.
Reference by_dual_equations(const Pooled& cost, double l2);

/// The normal equations; a Gram matrix without full rank spoils them, and the accuracy tells.
Reference by_normal_equations(Cost& cost);

/// Without penalty, the solution of minimum norm, also of a Gram matrix that lacks rank. What is small is judged in
/// even units, where columns are of the same length.
Reference by_least_norm(Cost& cost);

}  // namespace polyhop::optimum

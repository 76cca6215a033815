// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/problem/optimum/pooled_cost.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop::optimum {

/// Least squares by factorisations; the accuracy of each is the gain predicted for one more refinement step.

/// For dense features without a penalty: a complete orthogonal decomposition.
Reference by_rank_revealing(const Pooled& cost);

/// The dual form, for wide data; all coefficients must have the same penalty.
Reference by_dual_equations(const Pooled& cost, double l2);

/// The normal equations; a rank-deficient Gram matrix spoils them, which shows in the accuracy.
Reference by_normal_equations(Cost& cost);

/// Without a penalty: the solution of minimum norm, even if the Gram matrix is rank-deficient. What counts as small is
/// judged in units that make the columns equally long.
Reference by_least_norm(Cost& cost);

}  // namespace polyhop::optimum

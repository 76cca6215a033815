// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/problem/linear_problem.hpp"

namespace polyhop {

/// Minimises J = (1/K) sum_k J_k on the pooled data: the yardstick of excess risk, computed once.
/// Least squares: the minimum-norm solution, by a rank-revealing factorisation, by normal equations with refinement,
/// or by conjugate gradients, as the size allows. Other losses: L-BFGS, then Newton's method where it fits.
/// `accuracy` estimates J(minimiser) - min J. Classes that a hyperplane separates, without penalty, have no
/// minimiser: the infimum 0 is the value.
Reference solve_reference(const LinearProblem& problem);

}  // namespace polyhop

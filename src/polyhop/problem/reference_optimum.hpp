// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/problem/data_problem.hpp"

namespace polyhop {

/// Minimises J = (1/K) sum_k J_k on the pooled data: the yardstick of excess risk, computed once.
/// Least squares: by a rank-revealing factorisation, by normal equations with refinement, or by conjugate gradients, as
/// size and kind of the data allow; without penalty the solution of minimum norm. Other losses: L-BFGS, then Newton's
/// method, with a factorised Hessian where it fits, else by conjugate gradients.
/// `accuracy` estimates J(minimiser) - min J. Classes that hyperplanes separate have no minimiser without penalty
/// (logistic, softmax): the infimum 0 is the value.
/// `problem` is a LinearProblem or a SoftmaxProblem.
Reference solve_reference(const DataProblem& problem);

}  // namespace polyhop

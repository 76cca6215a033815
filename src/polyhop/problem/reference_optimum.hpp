// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/collective.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/problem/costs.hpp"
#include "polyhop/problem/data_problem.hpp"

namespace polyhop {

/// Minimises J = (1/K) sum_k J_k on the pooled data: the yardstick of excess risk, computed once.
/// Least squares: by a rank-revealing factorisation, by normal equations with refinement, or by conjugate gradients, as
/// size and kind of the data allow; without penalty the solution of minimum norm. Other losses: L-BFGS, then Newton's
/// method, with a factorised Hessian where it fits, else by conjugate gradients; damped where that does not come close.
/// `accuracy` estimates J(minimiser) - min J, and `how` says so where the search did not converge.
/// Classes that hyperplanes separate have no minimiser without penalty (logistic, softmax): the infimum 0 is the value.
/// `problem` is a LinearProblem or a SoftmaxProblem with the data of all agents.
Reference solve_reference(const DataProblem& problem);

/// Up to how many features of all samples (64 MB) data are solved for in one place.
inline constexpr double pooled_features = 8e6;

/// The same for processes that have the data of some agents each, those of `here`, with the same bits for any number of
/// them. Every process makes the same calls. Up to
/// `max_pooled` numbers, the first process gets the data of all and solves for them. Beyond, and always where data are
/// private, no sample leaves its process: whatever touches data is formed agent by agent and summed in order of the
/// agents, also by a single process. What passes from process to process is sums over all samples of one or more
/// agents: costs, gradients, Hessians or their products with vectors.
Reference solve_reference(const DataProblem& problem, Collective& collective, const Block& here,
                          double max_pooled = pooled_features);

/// Minimises (1/K) sum_k J_k, where J_k is the cost of agent k on all its samples and only values and gradients are
/// available: L-BFGS, then Newton's method with curvatures from differences of gradients. `accuracy` is twice what
/// another Newton step promises. Each process evaluates its own agents, and sums are formed in order of the agents, so
/// the bits are the same for any number of processes.
/// Unknown, with the reason, where samples never end, where costs are not finite at 0, where the search does not
/// converge (J may be unbounded below), and where two starting points lead to different costs (J is not convex).
Reference solve_reference(const Costs& costs, Collective& collective, const Block& here);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/collective.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/problem/costs.hpp"
#include "polyhop/problem/data_problem.hpp"

namespace polyhop {

/// Minimises J = (1/K) sum_k J_k on the pooled data, once, as the yardstick for excess risk. Least squares: by a
/// rank-revealing factorisation, by normal equations with refinement, or by conjugate gradients, depending on the size
/// and kind of the data; without a penalty, the solution of minimum norm. Other losses: L-BFGS, then Newton's method,
/// with a factorised Hessian if it fits into memory, otherwise by conjugate gradients; damped if that does not come
/// close. `accuracy` estimates J(minimiser) - min J, and `how` says if the search did not converge. Without a penalty,
/// classes that hyperplanes separate have no minimiser (logistic, softmax): the value is the infimum, 0. `problem` is a
/// LinearProblem or a SoftmaxProblem with the data of all agents.
Reference solve_reference(const DataProblem& problem);

/// Data of up to this many features over all samples (64 MB) are solved in one place.
inline constexpr double pooled_features = 8e6;

/// The same for processes that each have the data of some agents, those of `here`; bit-identical for any number of
/// processes. Every process makes the same calls. Up to `max_pooled` numbers, the first process gets all data and
/// solves. Beyond that, and always if data are private, no sample leaves its process: everything that touches data is
/// computed agent by agent and summed in order of the agents, even by a single process. Processes exchange only sums
/// over all samples of one or more agents: costs, gradients, Hessians or their products with vectors.
Reference solve_reference(const DataProblem& problem, Collective& collective, const Block& here,
                          double max_pooled = pooled_features);

/// Minimises (1/K) sum_k J_k, where J_k is the cost of agent k on all its samples and only values and gradients are
/// available: L-BFGS, then Newton's method with curvatures from differences of gradients. `accuracy` is twice the gain
/// that another Newton step predicts. Each process evaluates its own agents, and sums are formed in order of the
/// agents, so the bits are the same for any number of processes. Unknown, with the reason, if samples are endless, if
/// costs are not finite at 0, if the search does not converge (J may be unbounded below), or if two starting points
/// lead to different costs (J is not convex).
Reference solve_reference(const Costs& costs, Collective& collective, const Block& here);

}  // namespace polyhop

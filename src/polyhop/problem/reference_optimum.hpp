// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "polyhop/problem/data_problem.hpp"

namespace polyhop {

/// Minimises J = (1/K) sum_k J_k on the pooled data: the yardstick of excess risk, computed once.
/// Least squares: by a rank-revealing factorisation, by normal equations with refinement, or by conjugate gradients, as
/// size and kind of the data allow; without penalty the solution of minimum norm. Other losses: L-BFGS, then Newton's
/// method, with a factorised Hessian where it fits, else by conjugate gradients.
/// `accuracy` estimates J(minimiser) - min J. Classes that hyperplanes separate have no minimiser without penalty
/// (logistic, softmax): the infimum 0 is the value.
/// `problem` is a LinearProblem or a SoftmaxProblem with the data of all agents.
Reference solve_reference(const DataProblem& problem);

/// How processes that have some of the agents each form what belongs to all. Every process makes the same calls.
struct AllAgents {
  /// From zeros, every process in its turn does something to the same numbers; afterwards all hold the result.
  std::function<void(std::span<double> numbers, const std::function<void(std::span<double>)>& turn)> in_order;
  /// The same agent by agent, in order of the agents' numbers; k: the agent's place among those here.
  std::function<void(std::span<double> numbers, const std::function<void(std::span<double>, Index k)>& turn)> by_agent;
  Block here;            // the agents whose data are here
  bool is_first = true;  // of the processes
};

/// Up to how many features of all samples (64 MB) data are solved for in one place.
inline constexpr double pooled_features = 8e6;

/// The same for processes that have the data of some agents each, with the same bits for any number of them. Up to
/// `most_pooled` numbers, the first process gets the data of all and solves for them. Beyond, whatever touches data is
/// formed agent by agent and summed in order of the agents, also by a single process; least squares then by normal
/// equations or conjugate gradients.
Reference solve_reference(const DataProblem& problem, const AllAgents& all, double most_pooled = pooled_features);

}  // namespace polyhop

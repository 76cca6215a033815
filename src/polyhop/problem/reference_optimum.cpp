// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/reference_optimum.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "polyhop/core/serial_collective.hpp"
#include "polyhop/problem/optimum/conjugate_gradients.hpp"
#include "polyhop/problem/optimum/descent.hpp"
#include "polyhop/problem/optimum/differences_of_gradients.hpp"
#include "polyhop/problem/optimum/direct_least_squares.hpp"
#include "polyhop/problem/optimum/gathered_problem.hpp"
#include "polyhop/problem/optimum/pooled_cost.hpp"
#include "polyhop/problem/optimum/spread_cost.hpp"

namespace polyhop {
namespace {

// The largest sizes (in multiplications, in rows) for which each direct method takes seconds at most.
constexpr double rank_revealing_work = 4e9;
constexpr Index normal_equations_rows = 4000;

Reference by_least_squares(optimum::Pooled& cost) {
  const Index rows = cost.h.rows();
  const Index cols = cost.h.cols();
  const bool alike = cost.penalty.minCoeff() == cost.penalty.maxCoeff();
  const bool wide = rows < cols && alike && !cost.h.is_sparse();
  const Index small = wide ? rows : cols;
  const double work = cost.h.size() * static_cast<double>(std::min(rows, cols));
  if (cost.is_flat && !cost.h.is_sparse() && work <= rank_revealing_work) return optimum::by_rank_revealing(cost);
  // Sparse features without a penalty may well be rank-deficient, which conjugate gradients tolerate.
  if (small <= normal_equations_rows && !(cost.is_flat && cost.h.is_sparse())) {
    Reference reference = wide ? optimum::by_dual_equations(cost, cost.penalty(0)) : optimum::by_normal_equations(cost);
    // A rank-deficient Gram matrix spoils the factorisation.
    if (reference.accuracy <= 1e-10 * std::max(1.0, reference.value)) return reference;
  }
  return optimum::by_conjugate_gradients(cost);
}

// The data of all agents are here.
Reference solve_pooled(const DataProblem& problem) {
  const auto cost = optimum::pooled(problem, 0, problem.agents(), optimum::penalty_of(problem));
  return problem.is_quadratic() ? by_least_squares(*cost) : optimum::by_descent(*cost);
}

Reference solve_spread(const DataProblem& problem, Collective& collective, const Block& here, double features) {
  const std::unique_ptr<optimum::Cost> cost = optimum::spread_cost(problem, collective, here, features);
  if (!problem.is_quadratic()) return optimum::by_descent(*cost);
  if (cost->has_small_hessian()) {
    Reference reference = cost->is_flat ? optimum::by_least_norm(*cost) : optimum::by_normal_equations(*cost);
    if (reference.accuracy <= 1e-10 * std::max(1.0, reference.value)) return reference;
  }
  return optimum::by_conjugate_gradients(*cost);
}

// How many numbers the features of all samples are.
double features_of_all(const DataProblem& problem, Collective& collective) {
  const Features& h = problem.data().features;
  std::array<double, 1> total{};
  collective.in_order(total, [&](std::span<double> numbers) { numbers[0] += optimum::Design(h, 0, h.rows()).size(); });
  return total[0];
}

}  // namespace

Reference solve_reference(const DataProblem& problem) {
  SerialCollective alone;
  return solve_reference(problem, alone, {0, problem.agents()});
}

Reference solve_reference(const DataProblem& problem, Collective& collective, const Block& here, double max_pooled) {
  const double features = features_of_all(problem, collective);
  // A single process does the same, so that bits do not depend on the number of processes.
  if (problem.is_private() || features > max_pooled) return solve_spread(problem, collective, here, features);
  if (here.size() == problem.agents() && here.numbering == nullptr) return solve_pooled(problem);
  const auto whole = optimum::gathered_problem(problem, collective, here);
  return optimum::shared(whole ? solve_pooled(*whole) : Reference{}, collective);
}

Reference solve_reference(const Costs& costs, Collective& collective, const Block& here) {
  return optimum::by_differences(costs, collective, here);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <memory>

#include "polyhop/problem/data_problem.hpp"
#include "polyhop/problem/optimum/cost.hpp"

namespace polyhop::optimum {

/// J on the pooled data of consecutive agents, of all or of one:
/// J(w) = sum_n c_n loss_n(H w) + (1/2) sum_j penalty_j w_j^2, c_n = weight_k / (K n_k).
class Pooled : public Cost {
 public:
  Pooled(const DataProblem& problem, Index first, Index last, Vector penalty_);
  [[nodiscard]] double work() const override { return 2 * h.size() * static_cast<double>(blocks_); }
  [[nodiscard]] Vector squares() const override { return h.squares(c).replicate(blocks_, 1); }

  Design h;
  Eigen::Map<const Vector> y;
  Vector c;

 private:
  Index blocks_;
};

/// The vector of penalties in (1/2) sum_j penalty_j w_j^2.
Vector penalty_of(const DataProblem& problem);

/// Of a LinearProblem or a SoftmaxProblem, for the agents from `first` up to but not including `last`; throws Error for
/// other problems.
std::unique_ptr<Pooled> pooled(const DataProblem& problem, Index first, Index last, Vector penalty);

}  // namespace polyhop::optimum

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/algorithm.hpp"
#include "polyhop/method/quasi_newton.hpp"

namespace polyhop {

struct QuasiNewtonOptions {
  Index memory = 20;
  static const FieldTable<QuasiNewtonOptions>& fields();
};

/// One descent for all agents: values and gradients at the same trial point are summed over the spanning tree, and all
/// agents take the same step on the sums. All hold the same model, the last point that was accepted.
class TreeDescent {
 public:
  /// `models`: rows like those that will be moved; `memory` as in QuasiNewton; `by_batches`: the oracle draws samples
  /// of a linear model.
  TreeDescent(const Rows& models, Index memory, bool by_batches = false);
  /// One evaluation of the agents' full costs, whatever the oracle draws; counted as evaluating all batches. The first
  /// one is at the average of the rows of w, after a sum over the tree. Once the cost cannot get any lower, nothing is
  /// evaluated or sent. mu is the share of the last quasi-Newton step that was taken; 0 before the first and after the
  /// last step.
  void step(Index i, Rows& w, Oracle& oracle, std::span<double> mu, Network& network);
  [[nodiscard]] bool has_begun() const { return begun_ != 0; }
  void register_state(StateRegistry& state);

 private:
  void begin(const Rows& w, Network& network);
  void evaluate(Index i, Oracle& oracle);
  std::span<const double> mean(const Network& network);
  static void place(std::span<const double> point, Rows& w);

  QuasiNewton descent_;
  Rows at_;    // the trial, a row for each agent
  Rows sums_;  // what is summed over the tree
  Rows mean_;
  Rows penalty_;  // its gradients; only where batches are drawn
  std::vector<double> values_;
  Index begun_ = 0;
  Index rests_ = 0;
};

/// L-BFGS (Liu and Nocedal 1989) on J = (1/K) sum_k J_k, one evaluation per iteration:
///   J_k and grad J_k at the trial, summed over the spanning tree;   d = -H grad J(w), H from the last `memory` steps;
///   trial = w + a d, a from 1 until J falls and its slope along d has risen by a tenth; then w is the trial.
/// Full costs, no batches. 2 (K - 1) vectors and as many scalars, in twice as many rounds as the tree is high.
class TreeQuasiNewton final : public Algorithm {
 public:
  TreeQuasiNewton(Rows start, const QuasiNewtonOptions& options, const Setting& setting);
  static Recursion recursion(const QuasiNewtonOptions&) { return {.name = "quasi-newton"}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;
  [[nodiscard]] bool is_noisy() const override { return !descent_.has_begun(); }

 private:
  void register_more(StateRegistry& state) override { descent_.register_state(state); }

  TreeDescent descent_;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/method/step_size.hpp"
#include "polyhop/network/network.hpp"
#include "polyhop/problem/oracle.hpp"

namespace polyhop {

/// A recursion on a block of agents.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  /// Runs iteration i = 0, 1, ...
  virtual void step(Index i, Oracle& oracle, StepSize& rule, Network& network) = 0;
  /// The current models, one agent per row.
  [[nodiscard]] const Rows& models() const { return w_; }
  /// The step sizes of the last iteration.
  [[nodiscard]] std::span<const double> steps() const { return mu_; }
  /// False while every move lowers the cost: there is then no noise to average out, and the averages are the models.
  [[nodiscard]] virtual bool is_noisy() const { return true; }
  /// The bytes of what it keeps of every sample, as the oracle's `kept_bytes`.
  [[nodiscard]] virtual Index kept_bytes() const { return 0; }
  /// Whether an iteration can add its final models to a mean while it overwrites the previous ones.
  [[nodiscard]] virtual bool blends() const { return false; }
  /// Asks the next iteration to do so.
  void blend_next(const BlendedRows& mean) { mean_ = mean; }
  /// Registers what must survive from one iteration to the next.
  void register_state(StateRegistry& state) {
    state.rows("w", w_);
    state.scalars("mu", mu_);
    register_more(state);
  }

 protected:
  explicit Algorithm(Rows start) : w_(std::move(start)), mu_(w_.rows()) {}
  virtual void register_more(StateRegistry& /*state*/) {}
  /// Starts an iteration: draws the samples x_{k,i} and evaluates at the rows of w what the rule needs.
  static Iterate sample(Index i, const Rows& w, Oracle& oracle, const StepSize& rule, RowProducts* products = nullptr) {
    return sample(i, w, oracle, rule.needs_values(), products);
  }
  /// The same for an algorithm that chooses its own steps.
  static Iterate sample(Index i, const Rows& w, Oracle& oracle, bool with_values, RowProducts* products = nullptr) {
    oracle.draw(i);
    return {i, w, oracle.evaluate(w, with_values, products), oracle};
  }
  /// The mean that takes in the iteration's final models, for algorithms that can blend.
  BlendedRows take_mean() { return std::exchange(mean_, {}); }
  /// Rows of zeros in the shape of the models.
  [[nodiscard]] Rows zeros() const { return w_.zeros(w_.rows()); }

  Rows w_;
  std::vector<double> mu_;

 private:
  BlendedRows mean_;
};

}  // namespace polyhop

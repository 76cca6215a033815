// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "polyhop/core/gradients.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/core/reach.hpp"
#include "polyhop/core/row_products.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"

namespace polyhop {

class SampleGradients;

/// An oracle's answer at the current point: Jhat_k(w_k), if requested, and the gradients.
struct Evaluation {
  std::vector<double> values;
  Gradients gradients;
  Rows written;  // gradients that are not a sample's row
};

/// How often agents' costs were evaluated; one count is one agent's batch at one point.
struct Evaluations {
  Index values = 0;
  Index gradients = 0;
};

/// A block's view of the problem. `draw` fixes the sample of each agent; everything asked until the next draw is
/// answered on that sample, so a step size and its gradient share it.
class Oracle {
 public:
  virtual ~Oracle() = default;

  /// Draws the samples x_{k,i} of iteration i = 0, 1, ...
  virtual void draw(Index i) = 0;

  /// Gradients at the rows of w and, if `with_values`, the values; valid until the next call. Where a cost is a
  /// function of products of rows, these come from `products`, if given; all workers then call this.
  const Evaluation& evaluate(const Rows& w, bool with_values, RowProducts* products = nullptr) {
    evaluations_.gradients += w.rows();
    if (with_values) evaluations_.values += w.rows();
    products_ = products;
    do_evaluate(w, with_values, here_);
    products_ = nullptr;
    return here_;
  }

  /// The gradients of some agents. Callers ask for one strip after the other, so that an agent's rows are used again
  /// while they are in a near cache.
  const Evaluation& evaluate(const Rows& w, Strip strip, RowProducts* products = nullptr) {
    evaluations_.gradients += strip.last - strip.first;
    products_ = products;
    do_evaluate_strip(w, strip, here_);
    products_ = nullptr;
    return here_;
  }

  /// Gradients at other points on the same sample, in addition to those of `evaluate`; valid until the next call.
  const Evaluation& evaluate_elsewhere(const Rows& w) {
    evaluations_.gradients += w.rows();
    do_evaluate_elsewhere(w, elsewhere_);
    return elsewhere_;
  }

  /// out[e] = Jhat_k(w_l) for every entry e = (k, l) of the reach: agent k's own sample at the points within two hops.
  void values_at(const Reach& reach, std::span<double> out) {
    evaluations_.values += reach.entries;
    do_values_at(reach, out);
  }

  /// out[k] = Jhat_k(w_k - steps[k] g_k) for every k in `agents` (of the block, from 0), g the gradients that
  /// `evaluate` gave at w. Other agents are neither evaluated nor counted, and their out[k] does not change.
  void values_along(const Rows& w, const Gradients& g, std::span<const Index> agents, std::span<const double> steps,
                    std::span<double> out) {
    evaluations_.values += static_cast<Index>(agents.size());
    do_values_along(w, g, agents, steps, out);
  }

  /// out[k] = Jhat_k(w) at one point for all, the only row of w. Not counted, because it is for studies with a known
  /// optimum.
  virtual void values_at_point(const Rows& w, std::span<double> out) = 0;

  /// out[k] = a constant L_k such that Jhat_k of the current sample is L_k-smooth; false if none is known.
  virtual bool smoothness(std::span<double> /*out*/) { return false; }

  /// True if every draw takes all samples, so that Jhat_k is J_k.
  [[nodiscard]] virtual bool is_exact() const { return false; }

  /// How many iterations it takes until the slowest agent of the block may have seen all its samples.
  [[nodiscard]] virtual Index epoch() const { return 1; }

  /// False if no model can make every sample's cost 0, whatever the data: with a penalty, or a loss that never reaches
  /// 0.
  [[nodiscard]] virtual bool may_fit() const { return true; }

  /// True if Jhat_k(w) is a constant times mean (h.w - y)^2, with nothing added.
  [[nodiscard]] virtual bool is_quadratic() const { return false; }

  /// The same samples one by one; null if a cost does not distinguish them.
  [[nodiscard]] virtual SampleGradients* samples() { return nullptr; }
  /// Counts the gradients evaluated through them, and values.
  void charge(Index gradients, Index values = 0) {
    evaluations_.gradients += gradients;
    evaluations_.values += values;
  }

  /// The bytes of what it keeps of every sample, if that is a row each; a few numbers each do not count.
  [[nodiscard]] virtual Index kept_bytes() const { return 0; }

  /// Registers what must survive from one iteration to the next: nothing if samples are a function of the iteration.
  virtual void register_state(StateRegistry& /*state*/) {}

  [[nodiscard]] const Evaluations& evaluations() const { return evaluations_; }

 protected:
  /// out[k] = x[k] . row k of w for a strip of agents.
  void multiply_rows(const void* const* x, const Rows& w, Strip strip, double* out) {
    RowProducts alone;
    (products_ != nullptr ? *products_ : alone).multiply(x, w, strip, out);
  }
  /// Fills `out`, which is empty the first time.
  virtual void do_evaluate(const Rows& w, bool with_values, Evaluation& out) = 0;
  /// All of them with the first strip, unless the oracle can do otherwise.
  virtual void do_evaluate_strip(const Rows& w, Strip strip, Evaluation& out) {
    if (strip.first == 0) do_evaluate(w, false, out);
  }
  virtual void do_evaluate_elsewhere(const Rows& w, Evaluation& out) { do_evaluate(w, false, out); }
  virtual void do_values_at(const Reach& reach, std::span<double> out) = 0;
  virtual void do_values_along(const Rows& w, const Gradients& g, std::span<const Index> agents,
                               std::span<const double> steps, std::span<double> out) = 0;

 private:
  RowProducts* products_ = nullptr;  // of the evaluation at hand
  Evaluation here_;
  Evaluation elsewhere_;
  Evaluations evaluations_;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/network/network.hpp"
#include "polyhop/problem/oracle.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop {

/// Kinds of step sizes, each a special case of the next: one number for the whole run; one number per iteration, known
/// to all without messages; one number per agent and iteration. `own`: the algorithm chooses its own.
enum class Steps { constant, common, agent_wise, own };
template <>
struct EnumNames<Steps> {
  static constexpr std::array<std::pair<Steps, std::string_view>, 4> names = {{{Steps::constant, "constant"},
                                                                               {Steps::common, "common"},
                                                                               {Steps::agent_wise, "agent-wise"},
                                                                               {Steps::own, "own"}}};
};

/// How steps enter an algorithm: W+ = P (X - diag(mu) Y), P = (1 - mixing) I + mixing A. The squared distance to w^o of
/// any such recursion is ||P (X~ + diag(mu) Y)||^2, so GAP applies with B = P^T P and Y in place of G.
struct Recursion {
  std::string name = "atc";
  double mixing = 1;
  Index rounds = 1;      // P is its `rounds`-th power
  bool shifted = false;  // X is not W
  bool tracked = false;  // Y and the values follow the network's averages, not the agent's own
  bool dual = false;     // mu also scales what an agent hears from others: a step of 0 cuts it off
};

/// The state of a recursion when it asks for its step sizes. By default, steps start where the sample was evaluated and
/// go along the gradients there. A recursion that does otherwise says so:
///   at.from(mixed_).along(tracker_.direction()).with_values(tracked)
/// It holds only references: copies are cheap, and its sources must outlive it.
class Iterate {
 public:
  Iterate(Index i, const Rows& w, const Evaluation& at_w, Oracle& oracle)
      : i_(i), w_(&w), at_w_(&at_w), oracle_(&oracle), x_(&w), y_(&at_w.gradients), values_(at_w.values) {}

  /// The same, with steps taken from X.
  [[nodiscard]] Iterate from(const Rows& x) const {
    Iterate out = *this;
    out.x_ = &x;
    return out;
  }
  /// The same, with steps along Y.
  [[nodiscard]] Iterate along(const Gradients& y) const {
    Iterate out = *this;
    out.y_ = &y;
    return out;
  }
  /// The same, with these values, whose gradient is Y.
  [[nodiscard]] Iterate with_values(std::span<const double> values) const {
    Iterate out = *this;
    out.values_ = values;
    return out;
  }

  /// The same, counted as another iteration: for a method that starts later than the run.
  [[nodiscard]] Iterate as_iteration(Index i) const {
    Iterate out = *this;
    out.i_ = i;
    return out;
  }

  /// The iteration: 0, 1, ...
  [[nodiscard]] Index i() const { return i_; }
  /// The agents of the block.
  [[nodiscard]] Index agents() const { return w_->rows(); }
  /// The point where the gradients are taken.
  [[nodiscard]] const Rows& w() const { return *w_; }
  /// Every agent's own gradient at w.
  [[nodiscard]] const Gradients& gradients() const { return at_w_->gradients; }
  /// Every agent's own Jhat_k(w_k), if the rule `needs_values()`.
  [[nodiscard]] std::span<const double> own_values() const { return at_w_->values; }
  /// For further evaluations of the same sample.
  [[nodiscard]] Oracle& oracle() const { return *oracle_; }
  /// X, where the step starts.
  [[nodiscard]] const Rows& x() const { return *x_; }
  /// Y, the direction of the step.
  [[nodiscard]] const Gradients& y() const { return *y_; }
  /// The values whose gradient is Y: Jhat_k(w_k), or a tracked average.
  [[nodiscard]] std::span<const double> values() const { return values_; }

 private:
  Index i_;
  const Rows* w_;
  const Evaluation* at_w_;
  Oracle* oracle_;
  const Rows* x_;
  const Gradients* y_;
  std::span<const double> values_;
};

/// A rule that chooses every agent's step size, seen from one block.
class StepSize {
 public:
  virtual ~StepSize() = default;
  /// Fills in the block's step sizes. Its messages count for the step size, not for the algorithm.
  void choose(const Iterate& at, Network& network, std::span<double> mu) {
    const Network::StepAccount account(network);
    do_choose(at, network, mu);
  }
  /// True if the rule reads `at.own_values()`.
  [[nodiscard]] virtual bool needs_values() const { return false; }
  /// True if it reads `at.values()`; the two differ where gradients are tracked.
  [[nodiscard]] virtual bool needs_tracked_values() const { return needs_values(); }
  /// True if it asks for values in any way. Steps then cannot go along estimated gradients, because no value belongs to
  /// an estimate.
  [[nodiscard]] virtual bool uses_values() const { return needs_values() || needs_tracked_values(); }
  /// True if all agents have the same step without telling each other.
  [[nodiscard]] virtual bool is_common() const { return false; }
  /// The step of iteration i, if it depends on nothing else and is the same for all agents: such a step is known before
  /// anything is evaluated.
  [[nodiscard]] virtual std::optional<double> given(Index /*i*/) const { return {}; }
  /// The rule's own estimate of each agent's Jhat_k(w^o); empty if it estimates nothing.
  [[nodiscard]] virtual std::span<const double> levels() const { return {}; }
  /// Registers what must survive from one iteration to the next.
  virtual void register_state(StateRegistry& /*state*/) {}

 protected:
  virtual void do_choose(const Iterate& at, Network& network, std::span<double> mu) = 0;
};

/// Everything a rule may know when it is built for a block.
struct Setting {
  Network& network;
  const Reference* reference = nullptr;  // only for options that study a known optimum
  Recursion recursion = {};
  std::uint64_t seed = 0;    // for what a rule draws at random
  Oracle* oracle = nullptr;  // for methods that remember samples; none: nothing is remembered
  Index iterations = 0;      // of the whole run; 0: unknown
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/real.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/network/network.hpp"
#include "polyhop/problem/oracle.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop {

/// Kinds of step sizes, each a special case of the next: one number for ever; one number an iteration, known to all
/// without a word; one an agent and iteration. `own`: an algorithm that chooses for itself.
enum class Steps { constant, common, agent_wise, own };
template <>
struct EnumNames<Steps> {
  static constexpr std::array<std::pair<Steps, std::string_view>, 4> names = {{{Steps::constant, "constant"},
                                                                               {Steps::common, "common"},
                                                                               {Steps::agent_wise, "agent-wise"},
                                                                               {Steps::own, "own"}}};
};

/// How steps enter an algorithm: W+ = P (X - diag(mu) Y), P = (1 - mixing) I + mixing A. Any such recursion has
/// ||P (X~ + diag(mu) Y)||^2 as its squared distance to w^o, so GAP applies with B = P^T P and Y in place of G.
struct Recursion {
  std::string name = "atc";
  Real mixing = 1;
  Index rounds = 1;      // P is its `rounds`-th power
  bool shifted = false;  // X is not W
  bool tracked = false;  // Y and the values follow the network's averages, not the agent's own
  bool dual = false;     // mu also scales what an agent hears of others: a step of 0 cuts it off
};

/// Where a recursion stands when it asks for its step sizes.
struct Iterate {
  Index i;                       // 0, 1, ...
  const Rows& w;                 // where the gradients are taken
  const Evaluation& at_w;        // gradients there, and values where the rule needs them
  Oracle& oracle;                // for more on the same sample
  const Rows& x;                 // X, what the step is taken from
  const Gradients& y;            // Y, along which it is taken
  std::span<const Real> values;  // of what Y is the gradient of: Jhat_k(w_k), or a tracked average
};

/// A rule that chooses every agent's step size, seen from one block.
class StepSize {
 public:
  virtual ~StepSize() = default;
  /// Fills the block's step sizes; what it sends is charged to the step size, apart from the algorithm.
  void choose(const Iterate& at, Network& network, std::span<Real> mu) {
    const Network::StepAccount account(network);
    do_choose(at, network, mu);
  }
  /// True when `at.at_w.values` must be there.
  [[nodiscard]] virtual bool needs_values() const { return false; }
  /// True when `at.values` must be there: other than the former where gradients are tracked.
  [[nodiscard]] virtual bool needs_tracked_values() const { return needs_values(); }
  /// True when all agents have the same step without telling each other.
  [[nodiscard]] virtual bool is_common() const { return false; }
  /// What the rule takes for each agent's Jhat_k(w^o) by an estimate of its own; empty where it estimates nothing.
  [[nodiscard]] virtual std::span<const Real> levels() const { return {}; }
  /// Registers what survives an iteration.
  virtual void register_state(StateRegistry& /*state*/) {}

 protected:
  virtual void do_choose(const Iterate& at, Network& network, std::span<Real> mu) = 0;
};

/// What a rule may know when it is built for a block.
struct Setting {
  Network& network;
  const Reference* reference = nullptr;  // only for options that study a known optimum
  Recursion recursion = {};
  std::uint64_t seed = 0;  // of what a rule draws at random
};

}  // namespace polyhop

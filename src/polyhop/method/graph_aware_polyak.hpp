// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/agreement.hpp"
#include "polyhop/method/optimum.hpp"
#include "polyhop/method/step_cap.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

enum class Bound { paper, linear, tight, oracle };
enum class Damping { paper, rows, norms, graph, sketch };
enum class StepsOverTwoHops { lists, relay };

template <>
struct EnumNames<Bound> {
  static constexpr std::array<std::pair<Bound, std::string_view>, 4> names = {
      {{Bound::paper, "paper"}, {Bound::linear, "linear"}, {Bound::tight, "tight"}, {Bound::oracle, "oracle"}}};
};
template <>
struct EnumNames<Damping> {
  static constexpr std::array<std::pair<Damping, std::string_view>, 5> names = {{{Damping::paper, "paper"},
                                                                                 {Damping::rows, "rows"},
                                                                                 {Damping::norms, "norms"},
                                                                                 {Damping::graph, "graph"},
                                                                                 {Damping::sketch, "sketch"}}};
};
template <>
struct EnumNames<StepsOverTwoHops> {
  static constexpr std::array<std::pair<StepsOverTwoHops, std::string_view>, 2> names = {
      {{StepsOverTwoHops::lists, "lists"}, {StepsOverTwoHops::relay, "relay"}}};
};

/// T sweeps, or as many as it takes.
struct Sweeps {
  static constexpr Index most = 1'000'000;  // a run cannot be stopped within an iteration
  Index count = 2;
  bool exact = false;
};
template <>
struct Codec<Sweeps> {
  static std::string type() { return "1 <= integer <= 1000000 | \"exact\""; }
  static Sweeps read(const Value& v);
  static Value write(const Sweeps& s) { return s.exact ? Value("exact") : Value(s.count); }
};

/// The options of GAP; the defaults are the paper's algorithm, T = 2.
struct GapOptions {
  Bound bound = Bound::paper;
  Damping damping = Damping::paper;
  Index sketch_size = 32;
  Sweeps sweeps;
  bool project = false;
  double relaxation = 1;
  Optimum optimum;
  Agree agree = Agree::none;
  Cap cap;
  Sums sums = Sums::mixed;
  StepsOverTwoHops exchange = StepsOverTwoHops::lists;
  ProductUse products = ProductUse::automatic;
  static const FieldTable<GapOptions>& fields();
};

/// The graph-aware Polyak rule [alg:gap]. The squared distance to w^o after an iteration,
///   phi(u) = ||A(W~ + diag(u) G)||^2,   has gradient 2(c + Z u),
///   z_kl = b_kl g_k.g_l,   c_k = sum_l b_kl g_k.(w^o - w_l),   B = A^T A.
/// c is replaced by a bound cbar that needs only Jhat_k(w^o), and T sweeps solve Z u = -cbar approximately:
///   mu_k <- mu_k - alpha_k (cbar_k + sum_l z_kl mu_l),   from 0   [eq:step-size-rule].
/// For another recursion than ATC's, W+ = P (X - diag(mu) Y): B = P^T P, y replaces g, and
///   cbar_k = Jhat_k(w^o) - value_k + y_k.(w_k - (B X)_k),
/// where value_k is the agent's own cost, or the tracked one if Y is tracked. If P = I, this is a Polyak step.
///
/// docs/methods.md lists the cost per iteration and edge. With the paper's bound and damping: the two-hop lists of (w,
/// g), 2 vectors from each agent within two hops; 1 scalar from each of them per sweep after the first; one loss value
/// per agent within two hops. Lists, sketches, norms and B X share 2 rounds; each sweep after the first takes 2 more.
class GraphAwarePolyak final : public StepSize {
 public:
  /// Throws InputError for options that contradict each other, a matrix with negative weights, or two-hop lists that do
  /// not fit into memory.
  GraphAwarePolyak(const GapOptions& options, const Setting& setting);

  [[nodiscard]] bool uses_values() const override { return true; }
  [[nodiscard]] bool needs_values() const override {
    return options_.bound == Bound::linear || options_.bound == Bound::tight || optimal_.needs_values();
  }
  [[nodiscard]] std::span<const double> levels() const override { return optimal_.levels(); }
  void register_state(StateRegistry& state) override;
  /// Multiplies the cap of the distance rule from now on.
  void loosen_cap(double factor) { cap_->loosen(factor); }
  /// Makes bound = "tight" fall back to "linear" where no smoothness is known, instead of failing.
  void allow_unknown_smoothness() { allows_unknown_smoothness_ = true; }
  /// out[k] = -mu_k (2 cbar_k + sum_l z_kl mu_l): the agent's part in how much the steps mu, from the last iterate,
  /// reduce the squared distance to any model that fits, if there is one. 1 scalar from each agent within two hops.
  void claim(const Iterate& at, Network& network, std::span<const double> mu, std::span<double> out);
  /// lambda_B of `damping = "graph"`; 0 for the others.
  [[nodiscard]] double two_hop_scale() const { return lambda_b_; }

 private:
  void do_choose(const Iterate& at, Network& network, std::span<double> mu) override;
  void refuse(const Setting& setting) const;
  void prepare_metric(Network& network);
  void prepare_memory(const Setting& setting);
  void gather(const Iterate& at, Network& network);
  void sketch(const Iterate& at, Network& network);
  void damp(Network& network);
  [[nodiscard]] double damping_of(std::size_t k) const;
  void bound(const Iterate& at, std::span<const double> optimal, Network& network);
  void bound_from_lists(std::span<const double> optimal);
  void mix_twice(const Rows& x, Network& network);
  void mix_again(Network& network);
  void sweep(const Iterate& at, Network& network, std::span<double> mu);
  void sweep_once(const Iterate& at, Network& network, std::span<double> mu, bool first);
  void sweep_until_exact(const Iterate& at, Network& network, std::span<double> mu);
  void couple(const Iterate& at, Network& network, std::span<const double> mu);
  std::span<const double> energy(const Iterate& at, Network& network);
  /// P = I: no agent needs any other.
  [[nodiscard]] bool is_diagonal() const { return recursion_.mixing == 0; }
  [[nodiscard]] bool holds_gradients() const {
    return !is_diagonal() && (options_.damping == Damping::paper || options_.damping == Damping::rows);
  }
  [[nodiscard]] bool holds_points() const { return options_.bound == Bound::paper; }
  [[nodiscard]] bool holds_sketches() const { return !is_diagonal() && options_.damping == Damping::sketch; }

  GapOptions options_;
  bool allows_unknown_smoothness_ = false;
  Recursion recursion_;
  OptimalValues optimal_;
  Rows minimiser_;       // one row; only for bound = "oracle"
  double lambda_b_ = 0;  // only for damping = "graph"
  // Per two-hop entry: b_kl, z_kl, and Jhat_k(w_l).
  const SparseRows* near_ = nullptr;
  MeteredVector<double> b_;
  MeteredVector<double> z_;
  MeteredVector<double> values_;
  SampleProducts remembered_;
  // Per agent: where z_kk stands, and numbers.
  std::vector<Index> diagonal_;
  std::vector<double> b_kk_, squared_norms_, alpha_, cbar_, coupling_, scratch_;
  Rows mixed_;    // (B X)_k, then P(P diag(mu) Y): relayed sums
  Rows relayed_;  // in transit, unless P is A itself
  // damping = "sketch": the signs, and the projections of the block's agents.
  Rows signs_;
  std::vector<double> projections_;
  std::optional<StepCap> cap_;
};

}  // namespace polyhop

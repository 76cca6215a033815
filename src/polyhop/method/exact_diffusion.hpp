// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/algorithm.hpp"

namespace polyhop {

enum class DiffusionForm { dual, primal };
template <>
struct EnumNames<DiffusionForm> {
  static constexpr std::array<std::pair<DiffusionForm, std::string_view>, 2> names = {
      {{DiffusionForm::dual, "dual"}, {DiffusionForm::primal, "primal"}}};
};

/// c of the combining matrix P = (1 - c) I + c A: a number, or the largest that is safe on the network (`largest`).
struct Mixing {
  double value = 0.5;
  bool largest = false;
};
template <>
struct Codec<Mixing> {
  static std::string type() { return "number in (0, 1] | \"auto\""; }
  static Mixing read(const Value& v);
  static Value write(const Mixing& mixing) { return mixing.largest ? Value("auto") : Value(mixing.value); }
};

struct ExactDiffusionOptions {
  DiffusionForm form = DiffusionForm::dual;
  Mixing mixing;
  static const FieldTable<ExactDiffusionOptions>& fields();
};

/// The largest c for which P has no negative eigenvalue: 1/(1 - lambda_min(A)), between 1/2 and 1. It is 1 on complete
/// graphs and stars, 3/4 on rings. GAP's steps, and steps common to all agents, are safe up to it.
double largest_mixing(const CombinationMatrix& matrix);
/// The largest c for which the dual form with agent-wise steps is proven: 1/(2 (1 - min_k a_kk)), at most 1.
double largest_dual_mixing(const CombinationMatrix& matrix);

/// The state of exact diffusion besides the models, and its iteration once the steps are chosen.
class DualCorrection {
 public:
  /// `zeros`: rows like the models'.
  DualCorrection(const Rows& zeros, double mixing);
  /// G + D, for which a step is chosen.
  const Gradients& direction(const Gradients& g);
  [[nodiscard]] const Gradients& last_direction() const { return along_direction_; }
  /// W <- X+, D <- D+, along the last direction. 1 vector, and 1 scalar unless the steps are common.
  void apply(Rows& w, std::span<const double> mu, bool common, Network& network);
  void register_state(StateRegistry& state) { state.rows("exact_diffusion.dual", dual_); }

 private:
  double mixing_;
  Rows dual_;       // D
  Rows direction_;  // G + D
  Rows push_;       // sum_l a_kl (psi_k - psi_l) / max(mu_k, mu_l)
  Gradients along_direction_;
};

/// The same for the primal form: psi, and the point where a step starts.
class PrimalCorrection {
 public:
  PrimalCorrection(const Rows& start, double mixing);
  /// X = 2 W_{i-1} - psi_{i-1}
  const Rows& ahead(const Rows& w);
  /// W <- P (X - diag(mu) G), with X from `ahead`.
  void apply(Rows& w, std::span<const double> mu, const Gradients& g, Network& network);
  void register_state(StateRegistry& state) { state.rows("exact_diffusion.psi", psi_); }

 private:
  double mixing_;
  Rows psi_;
  Rows ahead_;
};

/// Exact diffusion (= NIDS): diffusion whose fixed point is w^o even if the agents' minimisers differ. With Wg = (1 -
/// c) I + c A, c 1/2 or up to largest_dual_mixing (A itself makes a ring diverge), and D_0 = 0:
///   Psi = X - diag(mu) (G + D),   D_k += sum_l wg_kl (psi_k - psi_l) / max(mu_k, mu_l),   X+ = X - diag(mu) (G + D+).
/// With one step for all agents this is the dual form D+ = D + (I - Wg) Psi / mu, X+ = Wg Psi; agent-wise steps are
/// this project's own. D is formed from differences along edges, so that its rows add up to 0. Takes any steps above 0.
/// 1 round, 1 vector per edge, and 1 scalar if steps are agent-wise.
class ExactDiffusion final : public Algorithm {
 public:
  explicit ExactDiffusion(Rows start, double mixing = 0.5);
  ExactDiffusion(Rows start, const ExactDiffusionOptions&, const Setting& setting)
      : ExactDiffusion(std::move(start), setting.recursion.mixing) {}
  static Recursion recursion(const ExactDiffusionOptions& options, const CombinationMatrix& matrix);
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  void register_more(StateRegistry& state) override { correction_.register_state(state); }
  DualCorrection correction_;
};

/// The same algorithm as published: with psi_0 = W_0,
///   psi_i = W_{i-1} - diag(mu) G_{i-1},   W_i = Wg (psi_i + W_{i-1} - psi_{i-1}).
/// With one step for all agents its fixed point is w^o. It takes other steps too: agents then have weights in
/// proportion to their steps, as in diffusion, which does no harm if they share a minimiser. GAP applies with X = 2 W -
/// psi. GAP's steps do not change at a fixed point: at w^o, X = w^o + diag(mu) G, so c = -Z mu. `mixing` goes up to
/// largest_mixing. 1 round, 1 vector per edge.
class PrimalExactDiffusion final : public Algorithm {
 public:
  explicit PrimalExactDiffusion(Rows start, double mixing = 0.5);
  PrimalExactDiffusion(Rows start, const ExactDiffusionOptions&, const Setting& setting)
      : PrimalExactDiffusion(std::move(start), setting.recursion.mixing) {}
  static Recursion recursion(const ExactDiffusionOptions& options, const CombinationMatrix& matrix);
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  void register_more(StateRegistry& state) override { correction_.register_state(state); }
  PrimalCorrection correction_;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// Who agrees on the smallest step: an agent and its neighbours, or the whole network.
enum class AgreementReach { neighbours, network };
template <>
struct EnumNames<AgreementReach> {
  static constexpr std::array<std::pair<AgreementReach, std::string_view>, 2> names = {
      {{AgreementReach::neighbours, "neighbours"}, {AgreementReach::network, "network"}}};
};

/// Backtracking, ported to ATC from the deterministic method of Kuruzov, Scutari and Gasnikov (2024). Each agent starts
/// from a = growth * (its own last accepted a; `first` at the start) and shrinks a while
///   Jhat_k(w_k - a g_k) > Jhat_k(w_k) - (1 - delta/2) a ||g_k||^2 + 1e-12 max(1, |Jhat_k(w_k)|),
/// on the sample that gave g_k, at most 50 times. Then mu_k is the smallest accepted a within reach. If a ||g_k||^2 is
/// lost in rounding, a does not grow. The search always goes along g_k, even if the algorithm steps along something
/// else: it measures how far the agent's own curvature lets it go. With growth = 1, a never grows. For least squares on
/// one sample, a is accepted iff a <= delta/||h||^2. Costs 1 scalar (or as many as the diameter), and a value at w_k
/// and for each a that is tried.
struct BacktrackingOptions {
  double growth = 2;
  double delta = 1;
  double shrink = 0.5;
  double first = 1;
  AgreementReach reach = AgreementReach::neighbours;
  static const FieldTable<BacktrackingOptions>& fields();
};

class BacktrackingStep final : public StepSize {
 public:
  BacktrackingStep(const BacktrackingOptions& options, const Setting& setting);
  [[nodiscard]] bool needs_values() const override { return true; }
  [[nodiscard]] bool needs_tracked_values() const override { return false; }
  void register_state(StateRegistry& state) override { state.scalars("backtracking.accepted", accepted_); }

 private:
  void do_choose(const Iterate& at, Network& network, std::span<double> mu) override;
  void grow(const Iterate& at);
  void shrink_until_accepted(const Iterate& at);
  void agree(Network& network, std::span<double> mu) const;

  BacktrackingOptions options_;
  std::vector<double> accepted_;  // each agent's own last a, before any agreement
  std::vector<double> energy_;    // ||g_k||^2
  std::vector<double> values_;    // Jhat_k at the trial points
  std::vector<Index> searching_;  // agents that have not accepted yet
};

}  // namespace polyhop

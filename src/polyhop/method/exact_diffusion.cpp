// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/exact_diffusion.hpp"

#include <utility>

#include "polyhop/core/block.hpp"

namespace polyhop {

const FieldTable<ExactDiffusionOptions>& ExactDiffusionOptions::fields() {
  using O = ExactDiffusionOptions;
  static const Constraint<double> lazy = {"in (0, 0.5]", [](const double& c) { return c > 0 && c <= 0.5; }};
  static const auto table =
      FieldTable<O>()
          .add("form", &O::form,
               "dual: w^o under all positive steps, also agent-wise; primal: as published, for a common step, or GAP's")
          .add("mixing", &O::mixing, "c of the matrix (1 - c) I + c A that combines", {lazy});
  return table;
}

DualCorrection::DualCorrection(const Rows& zeros, double mixing)
    : mixing_(mixing), dual_(zeros), direction_(zeros), push_(zeros), along_direction_(along(direction_)) {}

const Gradients& DualCorrection::direction(const Gradients& g) {
  copy(dual_, direction_);
  add(1, g, direction_);
  return along_direction_;
}

void DualCorrection::apply(Rows& w, std::span<const double> mu, bool common, Network& network) {
  descend(w, mu, along_direction_, w);   // Psi
  network.differ(w, mu, common, push_);  // (I - A) Psi / mu
  add(mixing_, push_, dual_);            // D+
  for (Index k = 0; k < w.rows(); ++k) {
    const double share = mixing_ * mu[k];  // X+ = Psi - mu (D+ - D)
    add_row(-share, push_, k, w, k);
  }
}

ExactDiffusion::ExactDiffusion(Rows start, const ExactDiffusionOptions& options)
    : Algorithm(std::move(start)), correction_(zeros(), options.mixing) {}

void ExactDiffusion::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  const Iterate at = sample(i, w_, oracle, rule);
  rule.choose(at.along(correction_.direction(at.gradients())), network, mu_);
  correction_.apply(w_, mu_, rule.is_common(), network);
}

PrimalExactDiffusion::PrimalExactDiffusion(Rows start, const ExactDiffusionOptions& options)
    : Algorithm(std::move(start)), mixing_(options.mixing), psi_(w_), ahead_(zeros()) {}

void PrimalExactDiffusion::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  const Iterate at = sample(i, w_, oracle, rule);
  copy(w_, ahead_);
  add(1, w_, ahead_);
  add(-1, psi_, ahead_);  // 2 W_{i-1} - psi_{i-1}
  rule.choose(at.from(ahead_), network, mu_);
  descend(w_, mu_, at.gradients(), psi_);    // psi_i
  descend(ahead_, mu_, at.gradients(), w_);  // phi_i = psi_i + W_{i-1} - psi_{i-1}
  network.combine(w_, ahead_);
  mix(mixing_, ahead_, w_);
}

}  // namespace polyhop

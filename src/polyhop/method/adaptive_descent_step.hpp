// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/agreement.hpp"
#include "polyhop/method/differences.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// Adaptive gradient descent without descent (Malitsky and Mishchenko 2020). Each agent uses its own last move: with dw
/// = w_i - w_{i-1} and dg the difference of its gradients at the two points on the current sample,
///   mu_i = min{sqrt(1 + theta_{i-1}) mu_{i-1}, ||dw|| / (2 ||dg||)},   theta_i = mu_i / mu_{i-1},
/// from mu_0 = `first` and theta_0 = 1e9; if dg = 0, only the first term, at most 1e100. mu_{i-1} is the agent's own
/// step, before any agreement. Costs 1 more gradient unless batch = "all", and 1 scalar if agents agree on a step.
struct AdgdOptions {
  double first = 1e-6;
  Agree agree = Agree::none;
  static const FieldTable<AdgdOptions>& fields();
};

class AdgdStep final : public StepSize {
 public:
  AdgdStep(const AdgdOptions& options, const Setting& setting);
  void register_state(StateRegistry& state) override;

 private:
  void do_choose(const Iterate& at, Network& network, std::span<double> mu) override;
  /// The step that the curvature allows: ||dw|| / (2 ||dg||), or almost any if dg = 0.
  [[nodiscard]] double allowed(std::size_t k) const;

  AdgdOptions options_;
  Differences differences_;
  std::vector<double> own_;    // each agent's mu_{i-1}
  std::vector<double> theta_;  // theta_{i-1}
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/method/algorithm.hpp"

namespace polyhop {

/// ATC-diffusion, adapt then combine [eq:atc]: psi_k = w_k - mu_k g_k, w_k <- sum_l a_kl psi_l.
/// Takes any steps, agent-wise and time-varying. 1 round, 1 vector an edge.
class Diffusion final : public Algorithm {
 public:
  explicit Diffusion(Rows start);
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;
  [[nodiscard]] const Rows& models() const override { return w_; }
  [[nodiscard]] std::span<const Real> steps() const override { return mu_; }
  void register_state(StateRegistry& state) override;

 private:
  Rows w_;
  std::vector<Real> mu_;
};

}  // namespace polyhop

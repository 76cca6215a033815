// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/method/algorithm.hpp"

namespace polyhop {

/// ATC-diffusion, adapt then combine [eq:atc]: psi_k = w_k - mu_k g_k, w_k <- sum_l a_kl psi_l.
/// Takes any steps, agent-wise and time-varying. 1 round, 1 vector per edge.
class Diffusion final : public Algorithm {
 public:
  explicit Diffusion(Rows start, const NoOptions& = {}) : Algorithm(std::move(start)) {}
  static Recursion recursion(const NoOptions&) { return {}; }
  [[nodiscard]] bool blends() const override { return true; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  void step(Index i, double mu, Oracle& oracle, Network& network);
};

/// CTA-diffusion, combine then adapt: Psi = A W, W+ = Psi - diag(mu) grad(Psi). P = I on Psi, so the graph-aware step
/// is each agent's own Polyak step. Takes any steps. 1 round, 1 vector per edge.
class CombineFirst final : public Algorithm {
 public:
  explicit CombineFirst(Rows start, const NoOptions& = {}) : Algorithm(std::move(start)) {}
  static Recursion recursion(const NoOptions&) { return {.name = "cta", .mixing = 0}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;
};

/// Decentralized gradient descent: W+ = A W - diag(mu) grad(W). P = I on X = A W. Takes any steps. 1 round, 1 vector.
class GradientDescent final : public Algorithm {
 public:
  explicit GradientDescent(Rows start, const NoOptions& = {}) : Algorithm(std::move(start)), mixed_(zeros()) {}
  static Recursion recursion(const NoOptions&) { return {.name = "dgd", .mixing = 0, .shifted = true}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  Rows mixed_;
};

}  // namespace polyhop

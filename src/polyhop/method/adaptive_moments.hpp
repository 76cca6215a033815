// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/fields.hpp"
#include "polyhop/method/algorithm.hpp"

namespace polyhop {

struct DadamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double beta3 = 0.9;
  double epsilon = 1e-4;
  static const FieldTable<DadamOptions>& fields();
};

/// DADAM (Nazari et al. 2022; constants not verified against the original): one step per coordinate,
///   m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2,  u <- b3 u + (1 - b3) max(u, v),
///   w_k <- sum_l a_kl w_l - mu m_k / (sqrt(u_k) + epsilon).
/// It still needs one mu for all agents. 1 round, 1 vector per edge.
class Dadam final : public Algorithm {
 public:
  Dadam(Rows start, const DadamOptions& options);
  static Recursion recursion(const DadamOptions&) { return {.name = "dadam", .mixing = 0, .shifted = true}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  void register_more(StateRegistry& state) override;
  DadamOptions options_;
  Rows m_, v_, u_;
};

struct DamsgradOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-4;
  static const FieldTable<DamsgradOptions>& fields();
};

/// Decentralized AMSGrad (Chen et al. 2022; constants not verified against the original): agents agree on the
/// preconditioner by dynamic consensus. With m, v as above, vhat <- max(vhat, v), and t, vhat starting at epsilon:
///   X = A W,  T = A t,  w_k <- x_k - mu m_k / sqrt(max(T_k, epsilon)),  t_k <- T_k - vhat_before + vhat.
/// It still needs one mu for all agents. 2 rounds, 2 vectors per edge.
class Damsgrad final : public Algorithm {
 public:
  Damsgrad(Rows start, const DamsgradOptions& options);
  static Recursion recursion(const DamsgradOptions&) { return {.name = "damsgrad", .mixing = 0, .shifted = true}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  void register_more(StateRegistry& state) override;
  DamsgradOptions options_;
  Rows m_, v_, vhat_, t_;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/diffusion.hpp"

#include "polyhop/method/row_arithmetic.hpp"

namespace polyhop {

void Diffusion::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  oracle.draw(i);                                                     // x_{k,i}
  const Evaluation& at_w = oracle.evaluate(w_, rule.needs_values());  // at w_{k,i-1}
  rule.choose({i, w_, at_w, oracle, w_, at_w.gradients, at_w.values}, network, mu_);
  network.adapt_combine(w_, mu_, at_w.gradients);  // [eq:atc-network]
}

void CombineFirst::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  network.combine(w_, w_);  // Psi = A W
  oracle.draw(i);
  const Evaluation& at_psi = oracle.evaluate(w_, rule.needs_values());
  rule.choose({i, w_, at_psi, oracle, w_, at_psi.gradients, at_psi.values}, network, mu_);
  descend(w_, mu_, at_psi.gradients, w_);
}

void GradientDescent::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  oracle.draw(i);
  const Evaluation& at_w = oracle.evaluate(w_, rule.needs_values());
  network.combine(w_, mixed_);
  rule.choose({i, w_, at_w, oracle, mixed_, at_w.gradients, at_w.values}, network, mu_);
  descend(mixed_, mu_, at_w.gradients, w_);
}

}  // namespace polyhop

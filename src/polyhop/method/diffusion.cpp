// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/diffusion.hpp"

#include <algorithm>

#include "polyhop/core/block.hpp"

namespace polyhop {

void Diffusion::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  if (const auto mu = rule.given(i)) return step(i, *mu, oracle, network);
  const Iterate at = sample(i, w_, oracle, rule, &network);     // x_{k,i}, and gradients at w_{k,i-1}
  rule.choose(at, network, mu_);                                // [alg:gap]
  network.adapt_combine(w_, mu_, at.gradients(), take_mean());  // [eq:atc-network]
}

// The same with a step that is known beforehand: each agent's rows are evaluated and moved while they are near.
void Diffusion::step(Index i, double mu, Oracle& oracle, Network& network) {
  std::ranges::fill(mu_, mu);
  oracle.draw(i);
  const auto gradients = [&](Strip strip) -> const Gradients& {
    return oracle.evaluate(w_, strip, &network).gradients;
  };
  network.adapt_combine(w_, mu_, gradients, take_mean());
}

void CombineFirst::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  network.combine(w_, w_);  // Psi = A W
  const Iterate at = sample(i, w_, oracle, rule);
  rule.choose(at, network, mu_);
  descend(w_, mu_, at.gradients(), w_);
}

void GradientDescent::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  const Iterate at = sample(i, w_, oracle, rule);
  network.combine(w_, mixed_);
  rule.choose(at.from(mixed_), network, mu_);
  descend(mixed_, mu_, at.gradients(), w_);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/diffusion.hpp"

#include <cstddef>
#include <utility>

namespace polyhop {

Diffusion::Diffusion(Rows start) : w_(std::move(start)), mu_(static_cast<std::size_t>(w_.rows())) {}

void Diffusion::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  oracle.draw(i);                                                     // x_{k,i}
  const Evaluation& at_w = oracle.evaluate(w_, rule.needs_values());  // at w_{k,i-1}
  rule.choose({i, w_, at_w, oracle}, network, mu_);                   // [alg:gap], or another rule
  network.adapt_combine(w_, mu_, at_w.gradients);                     // [eq:atc-network]
}

void Diffusion::register_state(StateRegistry& state) {
  state.rows("atc.w", w_);
  state.scalars("atc.mu", mu_);
}

}  // namespace polyhop

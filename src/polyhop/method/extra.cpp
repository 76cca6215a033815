// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/extra.hpp"

#include "polyhop/method/row_arithmetic.hpp"

namespace polyhop {

void Extra::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  oracle.draw(i);
  const Evaluation& at_w = oracle.evaluate(w_, rule.needs_values());
  network.combine(w_, mixed_);
  rule.choose({i, w_, at_w, oracle, mixed_, at_w.gradients, at_w.values}, network, mu_);
  descend(mixed_, mu_, at_w.gradients, next_);  // A W - mu G
  if (i > 0) {
    add(1, w_, next_);
    add(-1, carried_, next_);
  }
  mix(0.5, w_, mixed_);
  descend(mixed_, mu_, at_w.gradients, carried_);  // (I + A)/2 W - mu G
  swap(w_, next_);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/extra.hpp"

#include "polyhop/core/block.hpp"

namespace polyhop {

void Extra::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  const Iterate at = sample(i, w_, oracle, rule);
  network.combine(w_, mixed_);
  rule.choose(at.from(mixed_), network, mu_);
  descend(mixed_, mu_, at.gradients(), next_);  // A W - mu G
  if (i > 0) {
    add(1, w_, next_);
    add(-1, carried_, next_);
  }
  mix(0.5, w_, mixed_);
  descend(mixed_, mu_, at.gradients(), carried_);  // (I + A)/2 W - mu G
  swap(w_, next_);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/constant_step.hpp"

#include <algorithm>

#include "polyhop/core/elementary.hpp"

namespace polyhop {

const FieldTable<ConstantOptions>& ConstantOptions::fields() {
  static const auto table =
      FieldTable<ConstantOptions>().require("value", &ConstantOptions::value, "the step size", {above(0)});
  return table;
}

void ConstantStep::do_choose(const Iterate&, Network&, std::span<Real> mu) { std::ranges::fill(mu, options_.value); }

const FieldTable<DecayOptions>& DecayOptions::fields() {
  static const auto table =
      FieldTable<DecayOptions>()
          .require("value", &DecayOptions::value, "the first step size", {above(0)})
          .add("power", &DecayOptions::power, "how fast it falls: value / (i+1)^power", {at_least(0)});
  return table;
}

void DecayingStep::do_choose(const Iterate& at, Network&, std::span<Real> mu) {
  const Real n = static_cast<Real>(at.i + 1);
  std::ranges::fill(mu, options_.value * elementary::exp(-options_.power * elementary::log(n)));
}

}  // namespace polyhop

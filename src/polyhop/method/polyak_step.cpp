// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/polyak_step.hpp"

#include <algorithm>
#include <cstddef>

#include "polyhop/core/kernels.hpp"

namespace polyhop {
namespace {

template <class Options>
FieldTable<Options> polyak_fields() {
  FieldTable<Options> table;
  table.add("c", static_cast<Real Options::*>(&Options::c), "divides the step: (Jhat - Jhat(w^o)) / (c ||g||^2)",
            {above(0)});
  table.add("max", static_cast<std::optional<Real> Options::*>(&Options::max), "upper limit on the step", above(0));
  table.add("optimum", static_cast<Optimum Options::*>(&Options::optimum), "what is taken for Jhat_k(w^o)");
  return table;
}

}  // namespace

const FieldTable<PolyakOptions>& PolyakOptions::fields() {
  static const auto table = polyak_fields<PolyakOptions>();
  return table;
}

const FieldTable<SpsOptions>& SpsOptions::fields() {
  static const auto table = polyak_fields<SpsOptions>();
  return table;
}

void PolyakStep::do_choose(const Iterate& at, Network&, std::span<Real> mu) {
  const auto optimal = optimal_.on_sample(at.oracle);
  for (std::size_t k = 0; k < mu.size(); ++k) {
    const Real g2 = squared_norm(at.at_w.gradients, static_cast<Index>(k));
    mu[k] = g2 >= vanishing_gradient ? std::max((at.at_w.values[k] - optimal[k]) / (options_.c * g2), 0.0) : 0.0;
    if (options_.max) mu[k] = std::min(mu[k], *options_.max);
  }
}

Real squared_norm(const Gradients& g, Index k) {
  const auto slot = static_cast<std::size_t>(k);
  return g.scale[slot] * g.scale[slot] * kernels::dot(g.row[slot], g.row[slot], g.columns);
}

}  // namespace polyhop

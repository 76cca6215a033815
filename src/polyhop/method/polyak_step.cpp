// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/polyak_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace polyhop {
namespace {

template <class Options>
FieldTable<Options> polyak_fields() {
  FieldTable<Options> table;
  table.add("c", static_cast<double Options::*>(&Options::c), "divides the step: (Jhat - Jhat(w^o)) / (c ||g||^2)",
            {above(0)});
  table.add("max", static_cast<std::optional<double> Options::*>(&Options::max), "upper limit on the step", above(0));
  table.add("optimum", static_cast<Optimum Options::*>(&Options::optimum), "what to use for Jhat_k(w^o)");
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

void PolyakStep::do_choose(const Iterate& at, Network& network, std::span<double> mu) {
  const auto optimal = optimal_.on_sample(at, network);
  for (std::size_t k = 0; k < mu.size(); ++k) {
    mu[k] = polyak_ratio(at, optimal, static_cast<Index>(k)) / options_.c;
    if (options_.max) mu[k] = std::min(mu[k], *options_.max);
  }
}

const FieldTable<DecSpsOptions>& DecSpsOptions::fields() {
  static const auto table =
      FieldTable<DecSpsOptions>()
          .add("c0", &DecSpsOptions::c0, "divides the step, with sqrt(i+1)", {above(0)})
          .add("optimum", &DecSpsOptions::optimum, "what to use for Jhat_k(w^o), or a lower bound on it");
  return table;
}

DecSpsStep::DecSpsStep(const DecSpsOptions& options, const Setting& setting)
    : options_(options), optimal_(options.optimum, setting) {
  ratchet_.assign(setting.network.block().size(), std::numeric_limits<double>::max());
}

void DecSpsStep::register_state(StateRegistry& state) {
  optimal_.register_state(state);
  state.scalars("decsps.ratchet", ratchet_);
}

void DecSpsStep::do_choose(const Iterate& at, Network& network, std::span<double> mu) {
  const auto optimal = optimal_.on_sample(at, network);
  const double c = options_.c0 * std::sqrt(static_cast<double>(at.i() + 1));
  for (std::size_t k = 0; k < mu.size(); ++k) {
    const double lower = std::min(polyak_ratio(at, optimal, static_cast<Index>(k)), ratchet_[k]);
    if (lower > 0) ratchet_[k] = lower;
    mu[k] = lower / c;
  }
}

double polyak_ratio(const Iterate& at, std::span<const double> optimal, Index k) {
  const double y2 = at.y().squared_norm(k);
  return y2 >= vanishing_gradient ? std::max((at.values()[k] - optimal[k]) / y2, 0.0) : 0.0;
}

}  // namespace polyhop

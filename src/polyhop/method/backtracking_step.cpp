// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/backtracking_step.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "polyhop/method/line_search.hpp"

namespace polyhop {

const FieldTable<BacktrackingOptions>& BacktrackingOptions::fields() {
  using O = BacktrackingOptions;
  static const auto table =
      FieldTable<O>()
          .add("growth", &O::growth, "the first trial is this times the last accepted step; 1: never grows",
               {at_least(1)})
          .add("delta", &O::delta, "a trial must lower the cost by (1 - delta/2) a ||g||^2", {strictly_within(0, 2)})
          .add("shrink", &O::shrink, "multiplies a rejected step", {strictly_within(0, 1)})
          .add("first", &O::first, "used as the last accepted step at the start", {above(0)})
          .add("reach", &O::reach, "take the smallest step of the neighbourhood, or of the network");
  return table;
}

BacktrackingStep::BacktrackingStep(const BacktrackingOptions& options, const Setting& setting) : options_(options) {
  const auto agents = static_cast<std::size_t>(setting.network.block().size());
  accepted_.assign(agents, options.first);
  energy_.resize(agents);
  values_.resize(agents);
  searching_.reserve(agents);
}

void BacktrackingStep::do_choose(const Iterate& at, Network& network, std::span<double> mu) {
  grow(at);
  shrink_until_accepted(at);
  agree(network, mu);
}

void BacktrackingStep::grow(const Iterate& at) {
  for (std::size_t k = 0; k < accepted_.size(); ++k) {
    energy_[k] = at.gradients().squared_norm(static_cast<Index>(k));
    const double a = options_.growth * accepted_[k];
    if (may_grow(a, energy_[k], at.own_values()[k])) accepted_[k] = a;
  }
}

void BacktrackingStep::shrink_until_accepted(const Iterate& at) {
  searching_.resize(accepted_.size());
  std::iota(searching_.begin(), searching_.end(), Index{0});
  for (int n = 0; n < max_shrinks && !searching_.empty(); ++n) {
    at.oracle().values_along(at.w(), at.gradients(), searching_, accepted_, values_);
    std::erase_if(searching_, [&](Index agent) {
      const double before = at.own_values()[agent];
      const double enough = before - (1 - options_.delta / 2) * accepted_[agent] * energy_[agent] + rounding_of(before);
      if (values_[agent] <= enough) return true;  // never true of a NaN
      accepted_[agent] *= options_.shrink;
      return false;
    });
  }
}

void BacktrackingStep::agree(Network& network, std::span<double> mu) const {
  if (options_.reach == AgreementReach::neighbours) {
    network.hear({accepted_}).min(0, mu);
    return;
  }
  std::ranges::copy(accepted_, mu.begin());
  spread_min(mu, network);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/adaptive_descent_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace polyhop {
namespace {

constexpr double theta_at_start = 1e9;
// A cost without curvature lets its step grow forever, and infinity times a gradient of 0 would be NaN.
constexpr double largest = 1e100;

}  // namespace

const FieldTable<AdgdOptions>& AdgdOptions::fields() {
  using O = AdgdOptions;
  static const auto table =
      FieldTable<O>().add("first", &O::first, "mu_0", {above(0)}).add("agree", &O::agree, agree_help);
  return table;
}

AdgdStep::AdgdStep(const AdgdOptions& options, const Setting& setting)
    : options_(options), differences_(setting.network.zeros(setting.network.block().size())) {
  const auto agents = static_cast<std::size_t>(setting.network.block().size());
  own_.assign(agents, options.first);
  theta_.assign(agents, theta_at_start);
}

void AdgdStep::register_state(StateRegistry& state) {
  state.scalars("adgd.own", own_);
  state.scalars("adgd.theta", theta_);
  differences_.register_state(state, "adgd");
}

void AdgdStep::do_choose(const Iterate& at, Network& network, std::span<double> mu) {
  if (differences_.update(at)) {
    for (std::size_t k = 0; k < own_.size(); ++k) {
      const double next = std::min(std::sqrt(1 + theta_[k]) * own_[k], allowed(k));
      theta_[k] = next / own_[k];
      own_[k] = next;
    }
  }
  std::ranges::copy(own_, mu.begin());
  reconcile(options_.agree, network, mu);
}

double AdgdStep::allowed(std::size_t k) const {
  const double moved = differences_.ss()[k];
  const double turned = differences_.zz()[k];
  if (moved == 0 || turned == 0) return largest;
  return std::min(std::sqrt(moved) / (2 * std::sqrt(turned)), largest);
}

}  // namespace polyhop

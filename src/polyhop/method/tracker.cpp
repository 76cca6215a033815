// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/tracker.hpp"

#include <algorithm>
#include <cstddef>

#include "polyhop/core/block.hpp"

namespace polyhop {

Tracker::Tracker(const Rows& zeros)
    : y_(zeros), before_(zeros), f_(zeros.rows()), values_before_(zeros.rows()), direction_(along(y_)) {}

void Tracker::register_state(StateRegistry& state) {
  state.rows("tracker.y", y_);
  state.rows("tracker.before", before_);
  state.scalars("tracker.f", f_);
  state.scalars("tracker.values_before", values_before_);
}

void Tracker::add_change(const Gradients& g) {
  add(1, g, y_);
  add(-1, before_, y_);
  write_out(g, before_);
}

void Tracker::add_then_combine(Index i, const Gradients& g, Network& network, Index rounds) {
  add_change(g);
  if (i == 0) return;
  for (Index r = 0; r < rounds; ++r) network.combine(y_, y_);
}

void Tracker::combine_then_add(Index i, const Gradients& g, Network& network) {
  if (i > 0) network.combine(y_, y_);
  add_change(g);
}

std::span<const double> Tracker::follow(Index i, std::span<const double> values, Network& network) {
  const Network::StepAccount account(network);
  for (std::size_t k = 0; k < f_.size(); ++k) f_[k] += values[k] - values_before_[k];
  std::ranges::copy(values, values_before_.begin());
  if (i > 0) network.hear({f_}).combine(0, f_);
  return f_;
}

}  // namespace polyhop

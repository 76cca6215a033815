// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/kuruzov.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/method/line_search.hpp"

namespace polyhop {

const FieldTable<KuruzovOptions>& KuruzovOptions::fields() {
  using O = KuruzovOptions;
  static const auto table =
      FieldTable<O>()
          .add("delta", &O::delta, "a trial may exceed the tangent by delta/(2a) ||step||^2", {strictly_within(0, 2)})
          .add("growth", &O::growth, "the first trial is this times the last step; 1: never grows", {at_least(1)})
          .add("shrink", &O::shrink, "multiplies a rejected step", {strictly_within(0, 1)})
          .add("first", &O::first, "the very first trial", {above(0)})
          .add("mixing", &O::mixing, "c in the combination matrix (1 - c) I + c A", {strictly_within(0, 0.5)});
  return table;
}

Kuruzov::Kuruzov(Rows start, const KuruzovOptions& options)
    : Algorithm(std::move(start)),
      options_(options),
      dual_(zeros()),
      mixed_(zeros()),
      direction_(zeros()),
      move_(w_.zeros(1)),
      along_direction_(along(direction_)),
      values_(mu_.size()) {
  searching_.reserve(mu_.size());
}

void Kuruzov::step(Index i, Oracle& oracle, StepSize&, Network& network) {
  const Iterate at = sample(i, w_, oracle, true);
  add(1, at.gradients(), dual_);  // G + D
  network.combine(dual_, direction_);
  mix(options_.mixing, direction_, dual_);
  copy(dual_, direction_);  // Dh
  network.combine(w_, mixed_);
  mix(1 - options_.mixing, w_, mixed_);  // Xh = X + c (A X - X)
  search(at);
  spread_min(mu_, network);
  for (Index k = 0; k < w_.rows(); ++k) {
    // D+ = Dh + (X - Xh)/alpha - G
    add_difference(1 / mu_[k], w_, k, mixed_, k, dual_, k);
  }
  add(-1, at.gradients(), dual_);
  descend(mixed_, mu_, along_direction_, w_);  // X+ = Xh - alpha Dh
}

// Leaves each agent's accepted a in mu_.
void Kuruzov::search(const Iterate& at) {
  for (std::size_t k = 0; k < mu_.size(); ++k) {
    if (at.i() == 0) {
      mu_[k] = options_.first;
    } else if (may_grow(options_.growth * mu_[k], at.gradients().squared_norm(static_cast<Index>(k)),
                        at.own_values()[k])) {
      mu_[k] *= options_.growth;
    }
  }
  searching_.resize(mu_.size());
  std::iota(searching_.begin(), searching_.end(), Index{0});
  for (int n = 0; n < max_shrinks && !searching_.empty(); ++n) {
    at.oracle().values_along(mixed_, along_direction_, searching_, mu_, values_);
    std::erase_if(searching_, [&](Index k) {
      if (accepts(k, at)) return true;
      mu_[k] *= options_.shrink;
      return false;
    });
  }
}

bool Kuruzov::accepts(Index k, const Iterate& at) {
  const double a = mu_[k];
  add_rows(-a, direction_, k, mixed_, k, move_, 0);
  add_row(-1, w_, k, move_, 0);  // x+ - x
  const double value = at.own_values()[k];
  const double bound = value + at.gradients().dot(k, move_, 0) + options_.delta / (2 * a) * dot(move_, 0, move_, 0);
  return values_[k] <= bound + rounding_of(value);  // never true of a NaN
}

}  // namespace polyhop

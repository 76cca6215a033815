// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/differences.hpp"

#include "polyhop/core/block.hpp"

namespace polyhop {

Differences::Differences(const Rows& zeros)
    : points_(zeros), gradients_(zeros), s_(zeros.zeros(1)), z_(zeros.zeros(1)) {
  for (auto* products : {&ss_, &sz_, &zz_}) products->resize(zeros.rows());
}

void Differences::register_state(StateRegistry& state, const std::string& prefix) {
  state.rows(prefix + ".points", points_);
  state.rows(prefix + ".gradients", gradients_);
}

bool Differences::update(const Iterate& at) {
  const bool exact = at.oracle().is_exact();
  if (at.i() > 0) {
    if (!exact) write_out(at.oracle().evaluate_elsewhere(points_).gradients, gradients_);
    compare(at);
  }
  copy(at.w(), points_);
  if (exact) write_out(at.gradients(), gradients_);
  return at.i() > 0;
}

// Both gradients are rounded in the same way, so z is 0 where s is.
void Differences::compare(const Iterate& at) {
  for (Index k = 0; k < at.agents(); ++k) {
    add_rows(-1, points_, k, at.w(), k, s_, 0);
    at.gradients().write(k, z_, 0);
    add_row(-1, gradients_, k, z_, 0);
    ss_[k] = dot(s_, 0, s_, 0);
    sz_[k] = dot(s_, 0, z_, 0);
    zz_[k] = dot(z_, 0, z_, 0);
  }
}

}  // namespace polyhop

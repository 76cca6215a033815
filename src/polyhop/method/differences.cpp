// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/differences.hpp"

#include "polyhop/core/kernels.hpp"
#include "polyhop/method/row_arithmetic.hpp"

namespace polyhop {

Differences::Differences(Index agents, Index columns)
    : points_(agents, columns), gradients_(agents, columns), s_(1, columns), z_(1, columns) {
  for (auto* products : {&ss_, &sz_, &zz_}) products->resize(agents);
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

// Both gradients are rounded in the same way, so that z is 0 where s is.
void Differences::compare(const Iterate& at) {
  const Index n = at.w().columns();
  Real* s = s_.data();
  Real* z = z_.data();
  for (Index k = 0; k < at.agents(); ++k) {
    kernels::add_scaled(-1, points_.row(k).data(), at.w().row(k).data(), s, n);
    at.gradients().write(k, z);
    kernels::add_scaled(-1, gradients_.row(k).data(), z, z, n);
    ss_[k] = kernels::dot(s, s, n);
    sz_[k] = kernels::dot(s, z, n);
    zz_[k] = kernels::dot(z, z, n);
  }
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "polyhop/core/gradients.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/rows.hpp"

/// Kernels over all rows of a block, so that recursions read like their network equations.
namespace polyhop {

/// out = x - diag(mu) y; out may be x.
inline void descend(const Rows& x, std::span<const Real> mu, const Gradients& y, Rows& out) {
  for (Index k = 0; k < x.rows(); ++k) {
    y.add_scaled(k, -mu[k], x.row(k).data(), out.row(k).data());
  }
}

/// out += a x
inline void add(Real a, const Rows& x, Rows& out) {
  for (Index k = 0; k < x.rows(); ++k) {
    kernels::add_scaled(a, x.row(k).data(), out.row(k).data(), out.row(k).data(), x.columns());
  }
}

/// out += a y
inline void add(Real a, const Gradients& y, Rows& out) {
  for (Index k = 0; k < out.rows(); ++k) y.add_scaled(k, a, out.row(k).data(), out.row(k).data());
}

/// out = y, written out
inline void write_out(const Gradients& y, Rows& out) {
  for (Index k = 0; k < out.rows(); ++k) y.write(k, out.row(k).data());
}

/// out = x
inline void copy(const Rows& x, Rows& out) { std::copy_n(x.data(), x.rows() * x.stride(), out.data()); }

/// x <- (1 - share) x + share (A x): a lazy combination from an ordinary one.
inline void mix(Real share, const Rows& combined, Rows& x) {
  for (Index k = 0; k < x.rows(); ++k) {
    kernels::add_difference(share, combined.row(k).data(), x.row(k).data(), x.row(k).data(), x.columns());
  }
}

/// The rows as directions to step along; valid while the rows stay where they are.
inline Gradients along(const Rows& x) {
  Gradients y;
  y.columns = x.columns();
  y.scale.assign(x.rows(), 1.0);
  for (Index k = 0; k < x.rows(); ++k) y.row.push_back(x.row(k).data());
  return y;
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "polyhop/core/gradients.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/reach.hpp"
#include "polyhop/core/rows.hpp"

/// The verbs of blocks: all work on rows of agents outside of core and problem, so that recursions read like their
/// network equations, and what rows are made of is known here alone. Rows stand for X, k for one of them; a list of
/// numbers has one for each row.
namespace polyhop {

/// Which of the compiled versions of the loops under these verbs this machine runs.
inline const char* instruction_set() { return kernels::instruction_set(); }

/// out = x
inline void copy(const Rows& x, Rows& out) { std::copy_n(x.data(), x.rows() * x.stride(), out.data()); }
/// Row j of out = row i of x; and the rows from these on, `count` of them.
inline void copy_rows(const Rows& x, Index i, Rows& out, Index j, Index count = 1) {
  std::copy_n(x.row(i).data(), count * x.stride(), out.row(j).data());
}
/// Row j of out = 0
inline void clear_row(Rows& out, Index j) { std::ranges::fill(out.row(j), Real{0}); }

/// Row j of out = a times row i of x; out may be x.
inline void scale_row(Real a, const Rows& x, Index i, Rows& out, Index j) {
  kernels::scale(a, x.row(i).data(), out.row(j).data(), x.columns());
}
/// x <- a x
inline void scale(Real a, Rows& x) {
  for (Index k = 0; k < x.rows(); ++k) scale_row(a, x, k, x, k);
}

/// Row j of out += a times row i of x
inline void add_row(Real a, const Rows& x, Index i, Rows& out, Index j) {
  kernels::add_scaled(a, x.row(i).data(), out.row(j).data(), out.row(j).data(), x.columns());
}
/// sum += row i of x
inline void add_row(const Rows& x, Index i, std::span<double> sum) {
  kernels::add_scaled(1, x.row(i).data(), sum.data(), sum.data(), x.columns());
}
/// out += a x
inline void add(Real a, const Rows& x, Rows& out) {
  for (Index k = 0; k < x.rows(); ++k) add_row(a, x, k, out, k);
}

/// Row r of out = row j of y + a times row i of x
inline void add_rows(Real a, const Rows& x, Index i, const Rows& y, Index j, Rows& out, Index r) {
  kernels::add_scaled(a, x.row(i).data(), y.row(j).data(), out.row(r).data(), x.columns());
}
/// Row r of out += a times (row i of x - row j of y)
inline void add_difference(Real a, const Rows& x, Index i, const Rows& y, Index j, Rows& out, Index r) {
  kernels::add_difference(a, x.row(i).data(), y.row(j).data(), out.row(r).data(), x.columns());
}
/// x <- x + share (y - x): a lazy combination from an ordinary one, y = A x.
inline void mix(Real share, const Rows& y, Rows& x) {
  for (Index k = 0; k < x.rows(); ++k) add_difference(share, y, k, x, k, x, k);
}
/// out <- (1 - share) out + share x
inline void blend(Real share, const Rows& x, Rows& out) {
  for (Index k = 0; k < x.rows(); ++k) {
    scale_row(1 - share, out, k, out, k);
    add_row(share, x, k, out, k);
  }
}

/// x_i . y_j of two rows
inline double dot(const Rows& x, Index i, const Rows& y, Index j) {
  return kernels::dot(x.row(i).data(), y.row(j).data(), x.columns());
}
/// ||x_i - y_j||^2 of two rows
inline double squared_distance(const Rows& x, Index i, const Rows& y, Index j) {
  return kernels::squared_distance(x.row(i).data(), y.row(j).data(), x.columns());
}

/// out = x - diag(mu) y; out may be x.
inline void descend(const Rows& x, std::span<const Real> mu, const Gradients& y, Rows& out) {
  for (Index k = 0; k < x.rows(); ++k) y.add_to(k, -mu[k], x, k, out, k);
}
/// out += a y
inline void add(Real a, const Gradients& y, Rows& out) {
  for (Index k = 0; k < out.rows(); ++k) y.add_to(k, a, out, k, out, k);
}
/// out = y, written out
inline void write_out(const Gradients& y, Rows& out) {
  for (Index k = 0; k < out.rows(); ++k) y.write(k, out, k);
}
/// The rows as directions to step along; valid while the rows stay where they are.
inline Gradients along(const Rows& x) {
  Gradients y;
  y.columns = x.columns();
  y.scale.assign(x.rows(), 1.0);
  for (Index k = 0; k < x.rows(); ++k) y.row.push_back(x.row(k).data());
  return y;
}

/// Moments of gradients: m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) g^2, element by element.
inline void update_moments(Real b1, Real b2, const Gradients& g, Rows& m, Rows& v) {
  for (Index k = 0; k < m.rows(); ++k) {
    kernels::moments(b1, b2, g.scale[k], g.row[k], m.row(k).data(), v.row(k).data(), m.columns());
  }
}
/// u <- b u + (1 - b) max(u, v), element by element
inline void raise_rows(Real b, const Rows& v, Rows& u) {
  for (Index k = 0; k < u.rows(); ++k) kernels::raise(b, v.row(k).data(), u.row(k).data(), u.columns());
}
/// w <- w - diag(mu) m / (sqrt(max(u, floor)) + shift), element by element
inline void scaled_step(std::span<const Real> mu, const Rows& m, const Rows& u, Real floor, Real shift, Rows& w) {
  for (Index k = 0; k < w.rows(); ++k) {
    kernels::scaled_step(mu[k], m.row(k).data(), u.row(k).data(), floor, shift, w.row(k).data(), w.row(k).data(),
                         w.columns());
  }
}

/// Row k of out = the sum over its links of weight * x row slot, for each k among `which`.
inline void combine(const SparseView& links, std::span<const std::int32_t> which, const Rows& x, Rows& out) {
  kernels::combine(links, which.data(), static_cast<Index>(which.size()), x.data(), x.stride(), x.columns(), out.data(),
                   out.stride());
}
/// out[e] = x_k . x_l over the entries of a reach, x_k the rows from `own` on. `mirror`, where it is not null, names
/// entries with the same value; `places` is room for the rows' places, kept from one call to the next.
inline void pairwise(const Reach& x, Index own, const Index* mirror, std::vector<const Real*>& places,
                     std::span<Real> out) {
  places.resize(x.agents);
  for (Index k = 0; k < x.agents; ++k) places[k] = x.rows + (own + k) * x.stride;
  kernels::pairwise(x.pattern, x.agents, places.data(), x.rows, x.stride, x.columns, mirror, out.data());
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/core/kernels.hpp"
#include "polyhop/core/real.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// The gradients of a block: agent k's is scale[k] times row[k]. A dense gradient has scale 1; the gradient of a
/// linear model on one sample is a number times that sample's features, and is never written out. The rows are rows
/// of Rows, with zeros behind them. Agents are those of the block, from 0.
struct Gradients {
  std::vector<const Real*> row;
  std::vector<Real> scale;
  Index columns = 0;

  [[nodiscard]] Index size() const { return static_cast<Index>(row.size()); }
  /// ||g_k||^2
  [[nodiscard]] Real squared_norm(Index k) const { return scale[k] * scale[k] * kernels::dot(row[k], row[k], columns); }
  /// g_k . x_i, the i-th row of x
  [[nodiscard]] Real dot(Index k, const Rows& x, Index i) const {
    return scale[k] * kernels::dot(row[k], x.row(i).data(), columns);
  }
  /// Row j of out = a g_k, written out
  void write(Index k, Rows& out, Index j, Real a = 1) const {
    kernels::scale(a * scale[k], row[k], out.row(j).data(), columns);
  }
  /// Row j of out = row i of x + a g_k; out may be x.
  void add_to(Index k, Real a, const Rows& x, Index i, Rows& out, Index j) const {
    kernels::add_scaled(a * scale[k], row[k], x.row(i).data(), out.row(j).data(), columns);
  }
};

}  // namespace polyhop

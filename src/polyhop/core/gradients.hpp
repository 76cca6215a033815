// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/core/real.hpp"

namespace polyhop {

/// The gradients of a block: agent k's is scale[k] times row[k]. A dense gradient has scale 1; the gradient of a
/// linear model on one sample is a number times that sample's features, and is never written out. The rows are rows
/// of Rows, with zeros behind them.
struct Gradients {
  std::vector<const Real*> row;
  std::vector<Real> scale;
  Index columns = 0;

  [[nodiscard]] Index size() const { return static_cast<Index>(row.size()); }
};

}  // namespace polyhop

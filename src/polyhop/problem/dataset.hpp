// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/problem/features.hpp"

namespace polyhop {

/// The samples of all agents, one agent after the other: rows offset[k] .. offset[k+1] are agent k's.
struct Dataset {
  Features features;
  std::vector<double> targets;
  std::vector<Index> offset;

  [[nodiscard]] Index agents() const { return static_cast<Index>(offset.size()) - 1; }
  [[nodiscard]] Index first(Index k) const { return offset[k]; }
  [[nodiscard]] Index samples(Index k) const { return first(k + 1) - first(k); }
};

}  // namespace polyhop

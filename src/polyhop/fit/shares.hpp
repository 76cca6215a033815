// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/experiment/instance.hpp"

namespace polyhop {

/// x rounded to this many bits, which drops those in which sums along different trees differ, so that fits on different
/// networks start alike. Only for values that need not be exact.
double coarse(double x, int bits);

/// The network of a fit, and which of its agents are in this process.
struct Shares {
  const CombinationMatrix& matrix;
  const Ownership& ownership;
  Team& team;

  [[nodiscard]] Block own() const { return ownership.block(team.rank()); }
  [[nodiscard]] Index agents() const { return matrix.agents(); }
  /// Which part of all agents' data this process has.
  [[nodiscard]] DataShare of(const Dataset& data) const;
  /// The sum over all agents of one row each, along the tree; `rows` are those of the agents here. Counted as scalars.
  [[nodiscard]] std::vector<double> sum(Rows rows, Traffic& traffic) const;
};

/// The starting point of a fit: the model without features, that is, the mean of the targets or the frequencies of the
/// classes if there is an intercept to hold them; and a sample's typical slope there, the unit of gradients.
struct Start {
  Rows model;
  double slope = 1;
};

/// `classes`: the number of classes, if the targets are classes.
Start start_of(const Dataset& data, const ModelOptions& model, Index classes, const Shares& shares, Traffic& traffic);

}  // namespace polyhop

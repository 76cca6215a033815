// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/experiment/instance.hpp"

namespace polyhop {

/// Columns as a descent sees them, x -> (x - mean) / scale with approximately their mean and spread, whatever units the
/// table has: the curvature of the cost along each is about 1. Factors on the penalty keep the cost equal to that of
/// the table's own coefficients.
struct InnerScale {
  std::vector<double> mean;       // 0 for sparse columns, and if there is no intercept to absorb it
  std::vector<double> scale;      // the intercept's column of ones has 0 and 1
  std::vector<double> penalties;  // 1 / scale^2; empty without a penalty
  /// The mean of the table's own columns, for comparing coefficients; includes the intercept's column.
  std::vector<double> column_mean = {};
  std::vector<double> deviation = {};  // about that mean; 0 for a column that does not vary
  Traffic traffic = {};                // sent to agree on them, over all processes
};

/// Scales the features, whose last column is the intercept's if the model has one.
InnerScale scale_inside(Dataset& data, const ModelOptions& model, const CombinationMatrix& matrix,
                        const Ownership& ownership, Team& team);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/inner_scale.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "polyhop/fit/shares.hpp"

namespace polyhop {
namespace {

// The rough curvature of a sample's loss: its bound if there is one.
double curvature_of(const LossSpec& loss) {
  if (!loss.loss) return 0.5;  // softmax
  const double bound = loss.loss->max_curvature();
  return std::isfinite(bound) && bound > 0 ? bound : 1;
}

}  // namespace

InnerScale scale_inside(Dataset& data, const ModelOptions& model, const CombinationMatrix& matrix,
                        const Ownership& ownership, Team& team) {
  ColumnMoments moments = column_moments(data, model.intercept, matrix, ownership, team);
  InnerScale out{moments.mean, moments.spread, {}, std::move(moments.mean), std::move(moments.spread), moments.traffic};
  // Along a coefficient the cost curves by about c spread^2 + l2; without the second term, a column that hardly varies
  // would be blown up until only its penalty is left.
  const double least = std::sqrt(model.l2 / curvature_of(model.loss));
  std::vector<double> factor;
  for (std::size_t j = 0; j < out.scale.size(); ++j) {
    const bool is_intercept = model.intercept && j + 1 == out.scale.size();
    double& scale = out.scale[j];
    // With an intercept, a column that does not vary becomes one of zeros, not of rounding errors.
    const bool is_constant = scale == 0 && !is_intercept;
    scale = is_intercept ? 1 : coarse(std::hypot(scale, least), 10);
    if (scale == 0) scale = 1;
    const double step = scale / 256;
    out.mean[j] = is_intercept ? 0 : step * std::round(out.mean[j] / step);
    factor.push_back(is_constant ? 0 : 1 / scale);
    if (model.l2 > 0) out.penalties.push_back(1 / (scale * scale));
  }
  data.features.transform_columns(out.mean, factor);
  return out;
}

}  // namespace polyhop

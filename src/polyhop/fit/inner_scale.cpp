// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/inner_scale.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace polyhop {
namespace {

// About how much a sample's loss curves: its bound where there is one.
Real curvature_of(const LossSpec& loss) {
  if (!loss.loss) return 0.5;  // softmax
  const Real bound = loss.loss->max_curvature();
  return std::isfinite(bound) && bound > 0 ? bound : 1;
}

}  // namespace

InnerScale scale_inside(Dataset& data, const ModelOptions& model, const CombinationMatrix& matrix,
                        const Ownership& ownership, Team& team) {
  ColumnMoments moments = column_moments(data, model.intercept, matrix, ownership, team);
  InnerScale out{std::move(moments.mean), std::move(moments.spread), {}, moments.traffic};
  // Along a coefficient the cost curves by about c spread^2 + l2; without the second, a column that hardly varies would
  // be blown up until its penalty is all there is.
  const Real least = std::sqrt(model.l2 / curvature_of(model.loss));
  for (Real& scale : out.scale) {
    scale = std::hypot(scale, least);
    if (scale == 0) scale = 1;
  }
  if (model.intercept) {
    out.mean.back() = 0;
    out.scale.back() = 1;
  }
  std::vector<Real> factor;
  for (const Real scale : out.scale) {
    factor.push_back(1 / scale);
    if (model.l2 > 0) out.penalties.push_back(1 / (scale * scale));
  }
  data.features.transform_columns(out.mean, factor);
  return out;
}

}  // namespace polyhop

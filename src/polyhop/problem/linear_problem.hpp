// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "polyhop/problem/data_problem.hpp"
#include "polyhop/problem/loss.hpp"

namespace polyhop {

/// J_k(w) = weight_k * mean over agent k's samples of loss(h.w, y) + (l2/2) ||w||^2.
class LinearProblem final : public DataProblem {
 public:
  LinearProblem(Dataset data, std::shared_ptr<const Loss> loss, LinearOptions options);
  LinearProblem(Dataset data, std::shared_ptr<const Loss> loss, double l2 = 0, Batch batch = {},
                Sampling sampling = Sampling::uniform);

  [[nodiscard]] std::unique_ptr<Oracle> oracle(Block block, std::uint64_t seed) const override;
  [[nodiscard]] Index misclassified(Block block, const double* w) const override;
  [[nodiscard]] const Loss& loss() const { return *loss_; }
  [[nodiscard]] double max_curvature() const override { return loss_->max_curvature(); }
  [[nodiscard]] bool is_quadratic() const override { return loss_->is_quadratic(); }

 private:
  void losses_at_points(const double* z, Index stride, std::span<const double> targets,
                        std::span<double> losses) const override;

  std::shared_ptr<const Loss> loss_;
};

}  // namespace polyhop

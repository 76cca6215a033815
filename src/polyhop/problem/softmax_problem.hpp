// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "polyhop/problem/data_problem.hpp"

namespace polyhop {

/// Classification into C classes, with targets 0 .. C-1 (softmax or multinomial regression). w holds C blocks of M
/// coefficients, class by class; with z_c = h.w_c,
///   J_k(w) = weight_k * mean over agent k's samples of (ln sum_c e^{z_c} - z_y) + (l2/2) ||w||^2.
/// A sample's loss is ||h||^2 / 2 - smooth. With two classes it is the logistic loss of w_1 - w_0.
class SoftmaxProblem final : public DataProblem {
 public:
  SoftmaxProblem(Dataset data, Index classes, LinearOptions options = {});

  [[nodiscard]] std::unique_ptr<Oracle> oracle(Block block, std::uint64_t seed) const override;
  [[nodiscard]] Index misclassified(Block block, const double* w) const override;
  [[nodiscard]] Index classes() const { return predictions(); }
  [[nodiscard]] double max_curvature() const override { return 0.5; }

 private:
  void losses_at_points(const double* z, Index stride, std::span<const double> targets,
                        std::span<double> losses) const override;
};

/// ln sum_c e^{z_c} - z_y, without overflow; if `probabilities` is given, e^{z_c} / sum e^z goes there, which may be z
/// itself.
double softmax_loss(std::span<const double> z, Index y, double* probabilities = nullptr);

}  // namespace polyhop

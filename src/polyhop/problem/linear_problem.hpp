// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "polyhop/problem/dataset.hpp"
#include "polyhop/problem/loss.hpp"
#include "polyhop/problem/problem.hpp"
#include "polyhop/problem/sampler.hpp"

namespace polyhop {

/// J_k(w) = mean over agent k's samples of loss(h.w, y) + (l2/2) ||w||^2.
class LinearProblem final : public Problem {
 public:
  LinearProblem(Dataset data, std::shared_ptr<const Loss> loss, Real l2 = 0, Batch batch = {},
                Sampling sampling = Sampling::uniform);

  [[nodiscard]] Index agents() const override { return data_.agents(); }
  [[nodiscard]] Index dimension() const override { return data_.features.columns(); }
  [[nodiscard]] std::unique_ptr<Oracle> oracle(Block block, std::uint64_t seed) const override;
  void costs(Block block, const Rows& points, Rows& out) const override;

  [[nodiscard]] const Dataset& data() const { return data_; }
  [[nodiscard]] const Loss& loss() const { return *loss_; }
  [[nodiscard]] Real l2() const { return l2_; }

 private:
  Dataset data_;
  std::shared_ptr<const Loss> loss_;
  Real l2_;
  Batch batch_;
  Sampling sampling_;
  std::vector<Real> squared_norms_;  // ||h||^2 of every sample, for smoothness
};

}  // namespace polyhop

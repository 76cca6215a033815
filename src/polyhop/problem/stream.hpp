// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "polyhop/core/rows.hpp"
#include "polyhop/problem/loss.hpp"
#include "polyhop/problem/objective.hpp"

namespace polyhop {

/// One agent's cost where samples come and go: in iteration i it is the loss of a linear model on the i-th sample that
/// `next` gives, and nothing is kept. Endless, so there is no mean over all samples: such a problem is for loops of
/// one's own, and is drawn with Sampling::cyclic, which takes sample i (b samples: i b, i b + 1, ...) in iteration i.
class StreamObjective final : public Objective {
 public:
  /// Writes the features of sample n = 0, 1, ... and returns its target. Asked for samples in order; a sample that is
  /// evaluated again at once is not asked for again.
  using Next = std::function<Real(Index n, std::span<Real> features)>;
  StreamObjective(Index dimension, std::shared_ptr<const Loss> loss, Next next);

  [[nodiscard]] Index dimension() const override { return features_.columns(); }
  [[nodiscard]] Index samples() const override { return endless_samples; }
  [[nodiscard]] Real value(std::span<const Real> w, std::span<const Index> batch) const override;
  Real value_and_gradient(std::span<const Real> w, std::span<const Index> batch,
                          std::span<Real> gradient) const override;

 private:
  void fetch(std::span<const Index> batch) const;
  [[nodiscard]] Real predict(std::span<const Real> w, Index sample) const;

  std::shared_ptr<const Loss> loss_;
  Next next_;
  // The samples of the last batch.
  mutable std::vector<Index> held_;
  mutable Rows features_;
  mutable std::vector<Real> targets_;
};

}  // namespace polyhop

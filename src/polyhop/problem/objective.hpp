// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "polyhop/core/real.hpp"
#include "polyhop/problem/problem.hpp"
#include "polyhop/problem/sampler.hpp"

namespace polyhop {

/// One agent's cost, as a user writes it: the mean over the samples named by `batch` of a loss, or any convex
/// function that ignores `batch`.
class Objective {
 public:
  virtual ~Objective() = default;
  [[nodiscard]] virtual Index dimension() const = 0;
  /// How many samples there are to choose from; 1 for a deterministic cost.
  [[nodiscard]] virtual Index samples() const { return 1; }
  [[nodiscard]] virtual Real value(std::span<const Real> w, std::span<const Index> batch) const = 0;
  /// Fills the gradient and returns the value.
  virtual Real value_and_gradient(std::span<const Real> w, std::span<const Index> batch,
                                  std::span<Real> gradient) const = 0;
};

/// What a gradient check found.
struct GradientCheck {
  Real worst_error = 0;  // max over coordinates of |given - finite difference| / max(1, |given|)
  Index coordinate = 0;  // where it is
  Real given = 0;
  Real expected = 0;
  [[nodiscard]] bool passed(Real tolerance = 1e-6) const { return worst_error <= tolerance; }
};

/// Compares the gradient of an objective at w with central differences of its value on all samples.
GradientCheck check_gradient(const Objective& objective, std::span<const Real> w);

/// A problem made of the user's objectives, one an agent. Where several processes share the agents, those of the others
/// are null.
class ObjectiveProblem final : public Problem {
 public:
  ObjectiveProblem(std::vector<std::shared_ptr<const Objective>> objectives, Batch batch = {},
                   Sampling sampling = Sampling::uniform);
  [[nodiscard]] Index agents() const override { return static_cast<Index>(objectives_.size()); }
  [[nodiscard]] Index dimension() const override { return dimension_; }
  [[nodiscard]] std::unique_ptr<Oracle> oracle(Block block, std::uint64_t seed) const override;
  void costs(Block block, const Rows& points, Rows& out) const override;

 private:
  std::vector<std::shared_ptr<const Objective>> objectives_;
  Batch batch_;
  Sampling sampling_;
  Index dimension_ = 0;
};

}  // namespace polyhop

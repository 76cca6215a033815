// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/problem/costs.hpp"
#include "polyhop/problem/problem.hpp"
#include "polyhop/problem/sampler.hpp"

namespace polyhop {

/// One agent's cost, as a user writes it: the mean of a loss over the samples named by `batch`, or any convex function
/// that ignores `batch`.
class Objective {
 public:
  virtual ~Objective() = default;
  [[nodiscard]] virtual Index dimension() const = 0;
  /// How many samples there are to choose from; 1 for a deterministic cost.
  [[nodiscard]] virtual Index samples() const { return 1; }
  [[nodiscard]] virtual double value(std::span<const double> w, std::span<const Index> batch) const = 0;
  /// Fills the gradient and returns the value.
  virtual double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                                    std::span<double> gradient) const = 0;
};

/// The result of a gradient check.
struct GradientCheck {
  double worst_error = 0;  // max over coordinates of |given - finite difference| / max(1, |given|)
  Index coordinate = 0;    // where it is
  double given = 0;
  double expected = 0;
  [[nodiscard]] bool passed(double tolerance = 1e-6) const { return worst_error <= tolerance; }
};

/// Compares the gradient of an objective at w with central differences of its value on all samples.
GradientCheck check_gradient(const Objective& objective, std::span<const double> w);
/// The same for one agent of many.
GradientCheck check_gradient(const Costs& costs, Index agent, std::span<const double> w);

/// A problem made of the user's costs. A block's points are evaluated in one call, its own models without a copy. Other
/// points, such as those within two hops, are gathered first, at most 32 MB per call. Costs are evaluated in double; if
/// models are in single precision, points and gradients are converted.
class ObjectiveProblem final : public Problem {
 public:
  explicit ObjectiveProblem(std::shared_ptr<const Costs> costs, Batch batch = {}, Sampling sampling = Sampling::uniform,
                            Element element = Element::float64);
  /// One objective per agent, evaluated one after the other. If several processes share the agents, those of the others
  /// are null.
  ObjectiveProblem(std::vector<std::shared_ptr<const Objective>> objectives, Batch batch = {},
                   Sampling sampling = Sampling::uniform, Element element = Element::float64);
  [[nodiscard]] Index agents() const override { return costs_->agents(); }
  [[nodiscard]] Index dimension() const override { return costs_->dimension(); }
  [[nodiscard]] Element element() const override { return element_; }
  [[nodiscard]] std::unique_ptr<Oracle> oracle(Block block, std::uint64_t seed) const override;
  void costs(Block block, const Rows& points, Rows& out) const override;
  [[nodiscard]] Reference minimise(Collective& collective, const Block& here) const override;

 private:
  std::shared_ptr<const Costs> costs_;
  Batch batch_;
  Sampling sampling_;
  Element element_;
};

}  // namespace polyhop

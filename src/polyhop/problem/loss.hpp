// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/real.hpp"

namespace polyhop {

/// The loss of a linear model, as a function of the prediction z = h.w and the target y. A loss of one's own is
/// one class. Whole arrays at a time, so that choosing at run time costs nothing.
class Loss {
 public:
  virtual ~Loss() = default;
  /// value[n] = loss(z[n], y[n])
  virtual void values(std::span<const Real> z, std::span<const Real> y, std::span<Real> value) const = 0;
  /// slope[n] = d loss / dz
  virtual void slopes(std::span<const Real> z, std::span<const Real> y, std::span<Real> slope) const = 0;
  /// curvature[n] = d^2 loss / dz^2; only the reference optimum asks for it.
  virtual void curvatures(std::span<const Real> z, std::span<const Real> y, std::span<Real> curvature) const = 0;
  /// sup over z of d^2 loss / dz^2: the smoothness of a sample's cost is this times ||h||^2. Infinity where there is
  /// no bound.
  [[nodiscard]] virtual Real max_curvature() const = 0;
  /// True when the loss is (z - y)^2 / 2, for which GAP's `tight` bound is exact.
  [[nodiscard]] virtual bool is_quadratic() const { return false; }
  /// True when targets are classes -1 and +1.
  [[nodiscard]] virtual bool is_classification() const { return false; }
  /// True when targets are counts, >= 0.
  [[nodiscard]] virtual bool is_count() const { return false; }
  /// True when a sample's loss falls towards 0 for ever as its margin grows, so that separated classes have no
  /// minimiser.
  [[nodiscard]] virtual bool has_tail() const { return false; }
};

enum class LossName { least_squares, logistic, softmax, huber, smoothed_hinge, poisson };

template <>
struct EnumNames<LossName> {
  static constexpr std::array<std::pair<LossName, std::string_view>, 6> names = {{
      {LossName::least_squares, "least-squares"},
      {LossName::logistic, "logistic"},
      {LossName::softmax, "softmax"},
      {LossName::huber, "huber"},
      {LossName::smoothed_hinge, "smoothed-hinge"},
      {LossName::poisson, "poisson"},
  }};
};

/// least-squares: (z - y)^2 / 2. logistic: ln(1 + e^{-y z}), y = -1 or 1.
/// huber: r^2/2 for |r| = |z - y| <= delta, delta (|r| - delta/2) beyond.
/// smoothed-hinge: of the margin m = y z, y = -1 or 1: 0 for m >= 1, (1 - m)^2/2 for 0 < m < 1, 1/2 - m for m <= 0.
/// poisson: e^z - y z for counts y >= 0, the negative logarithm of their likelihood without the constant ln y!: a
/// sample that is fitted as well as can be costs y - y ln y, not 0, and may cost less than 0. It has no bounded
/// curvature. softmax is a function of one prediction for each class, and no Loss: see SoftmaxProblem.
std::unique_ptr<Loss> make_loss(LossName name, Real huber_delta = 1);

}  // namespace polyhop

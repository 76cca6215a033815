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
  /// sup over z of d^2 loss / dz^2: the smoothness of a sample's cost is this times ||h||^2.
  [[nodiscard]] virtual Real max_curvature() const = 0;
  /// True when the loss is (z - y)^2 / 2, for which GAP's `tight` bound is exact.
  [[nodiscard]] virtual bool is_quadratic() const { return false; }
  /// True when targets are classes -1 and +1.
  [[nodiscard]] virtual bool is_classification() const { return false; }
};

enum class LossName { least_squares, logistic, huber };

template <>
struct EnumNames<LossName> {
  static constexpr std::array<std::pair<LossName, std::string_view>, 3> names = {{
      {LossName::least_squares, "least-squares"},
      {LossName::logistic, "logistic"},
      {LossName::huber, "huber"},
  }};
};

/// least-squares: (z - y)^2 / 2. logistic: ln(1 + e^{-y z}), y = -1 or 1.
/// huber: r^2/2 for |r| = |z - y| <= delta, delta (|r| - delta/2) beyond.
std::unique_ptr<Loss> make_loss(LossName name, Real huber_delta = 1);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/index.hpp"

namespace polyhop {

/// Kinds of targets: numbers; counts (numbers from 0, predicted by the exponential of the score); one of two classes,
/// given by the score's sign; one of many, given by the largest score.
enum class Task { regression, counts, two_classes, classes };
template <>
struct EnumNames<Task> {
  static constexpr std::array<std::pair<Task, std::string_view>, 4> names = {{{Task::regression, "regression"},
                                                                              {Task::counts, "counts"},
                                                                              {Task::two_classes, "two classes"},
                                                                              {Task::classes, "classes"}}};
};

/// The loss of a linear model, as a function of the prediction z = h.w and the target y. Your own loss is one class.
/// Functions take whole arrays, so choosing a loss at run time costs nothing.
class Loss {
 public:
  virtual ~Loss() = default;
  /// value[n] = loss(z[n], y[n])
  virtual void values(std::span<const double> z, std::span<const double> y, std::span<double> value) const = 0;
  /// slope[n] = d loss / dz
  virtual void slopes(std::span<const double> z, std::span<const double> y, std::span<double> slope) const = 0;
  /// curvature[n] = d^2 loss / dz^2; only the reference optimum needs it.
  virtual void curvatures(std::span<const double> z, std::span<const double> y, std::span<double> curvature) const = 0;
  /// sup over z of d^2 loss / dz^2: a sample's cost has a smoothness of this times ||h||^2. Infinity if there is no
  /// bound.
  [[nodiscard]] virtual double max_curvature() const = 0;
  /// True if the loss is (z - y)^2 / 2, for which GAP's `tight` bound is exact.
  [[nodiscard]] virtual bool is_quadratic() const { return false; }
  /// The kind of its targets; two classes are -1 and +1.
  [[nodiscard]] virtual Task task() const { return Task::regression; }
  /// True if it is -ln p(y) for p = 1 / (1 + e^{-y z}), so that scores give probabilities.
  [[nodiscard]] virtual bool has_probabilities() const { return false; }
  /// True if a sample's loss falls towards 0 forever as its margin grows, so that separable classes have no minimiser.
  [[nodiscard]] virtual bool has_tail() const { return false; }
};

}  // namespace polyhop

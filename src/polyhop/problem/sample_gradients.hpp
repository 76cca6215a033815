// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// The gradients of a block's samples one by one, each described by as few numbers as possible: its slopes. For a
/// linear model, these are the derivatives of the loss by its predictions, 1 or one per class, and the gradient is
/// slopes times features. For your own cost functions, they are the gradient itself. Methods that remember samples
/// store slopes. Agents are those of the block, from 0; samples are numbered within each agent.
class SampleGradients {
 public:
  virtual ~SampleGradients() = default;
  /// How many slopes a sample has.
  [[nodiscard]] virtual Index width() const = 0;
  /// How many samples agent k has.
  [[nodiscard]] virtual Index count(Index k) const = 0;
  /// The samples drawn last, always at the same address.
  [[nodiscard]] virtual std::span<const Index> drawn(Index k) const = 0;
  /// How many batches hold all samples of agent k.
  [[nodiscard]] Index batches(Index k) const {
    const auto batch = std::max<Index>(1, static_cast<Index>(drawn(k).size()));
    return (count(k) + batch - 1) / batch;
  }
  /// J_k is this times the mean of its samples' losses, plus a penalty.
  [[nodiscard]] virtual double factor(Index k) const = 0;
  /// The slopes of all drawn samples, each agent's at its row of w: agent by agent, sample by sample.
  virtual void slopes(const Rows& w, std::span<double> out) = 0;
  /// The predictions at which they were taken, in the same number and order; empty if slopes are gradients.
  [[nodiscard]] virtual std::span<const double> predictions() const { return {}; }
  /// Each agent's mean loss over the drawn samples, where they were taken; only if slopes are gradients and it
  /// `has_values`.
  [[nodiscard]] virtual std::span<const double> values() const { return {}; }
  [[nodiscard]] virtual bool has_values() const { return false; }
  /// True if slopes are derivatives by predictions.
  [[nodiscard]] virtual bool is_linear() const { return false; }
  /// The largest possible derivative of a slope, infinity if there is no bound.
  [[nodiscard]] virtual double max_curvature() const { return std::numeric_limits<double>::infinity(); }
  /// By how much the squared norm of a sample's gradient exceeds that of its slopes: for a linear model, the squared
  /// norm of its features.
  [[nodiscard]] virtual double squared_norm(Index /*k*/, Index /*sample*/) const { return 1; }
  /// True if second derivatives are the same at every model.
  [[nodiscard]] virtual bool has_constant_curvature() const { return false; }
  /// The largest curvature of the penalty.
  [[nodiscard]] virtual double penalty_curvature() const { return 0; }
  /// Row k of g += the gradients that these slopes of agent k's drawn samples describe.
  virtual void add(Index k, std::span<const double> slopes, Rows& g) = 0;
  /// Row k of g = the gradient of the penalty at row k of w; returns the penalty.
  virtual double penalty(Index k, const Rows& w, Rows& g) = 0;
  /// Row k of g = the gradient of J_k without the penalty at row k of w, over all samples of agent k; returns its
  /// value.
  virtual double whole(Index k, const Rows& w, Rows& g) = 0;

  // Of linear models: what second derivatives are made of, of some samples of agent k.
  /// Their predictions at row r of w: `width` for each.
  virtual void predict(Index /*k*/, std::span<const Index> /*samples*/, const Rows& /*w*/, Index /*r*/,
                       std::span<double> /*z*/) {}
  /// The sum of their losses at given predictions, and the slopes.
  virtual double losses(Index /*k*/, std::span<const Index> /*samples*/, std::span<const double> /*z*/,
                        std::span<double> /*slopes*/) {
    return 0;
  }
  /// Row k of g += the gradients that these slopes describe.
  virtual void add(Index /*k*/, std::span<const Index> /*samples*/, std::span<const double> /*slopes*/, Rows& /*g*/) {}
  /// The curvature of their losses at given predictions, as `width` numbers for each; where a loss is a line, the slope
  /// divided by the distance to the target.
  virtual void curvatures(Index /*k*/, std::span<const Index> /*samples*/, std::span<const double> /*z*/,
                          std::span<double> /*out*/) {}
  /// out = `by` times the second derivatives by the model that these curvatures describe: the upper triangle in the
  /// order of TriangleBands, from number `first` on.
  virtual void write_curvature(Index /*k*/, std::span<const Index> /*samples*/, std::span<const double> /*curvatures*/,
                               double /*by*/, Index /*first*/, std::span<double> /*out*/) {}
};

}  // namespace polyhop

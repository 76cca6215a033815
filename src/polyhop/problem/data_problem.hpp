// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyhop/problem/dataset.hpp"
#include "polyhop/problem/problem.hpp"
#include "polyhop/problem/sampler.hpp"

namespace polyhop {

/// Which part of the agents' data this process has, if several share them.
struct DataShare {
  Index first = 0;    // the position of the first agent whose samples are here
  Index agents = 0;   // in all processes; 0: those here are all there are
  Index samples = 0;  // the same
  /// Each agent has its own file: no sample leaves its process, only sums over an agent's samples.
  bool is_private = false;
};

/// The parts of a linear model besides its data and its loss.
struct LinearOptions {
  double l2 = 0;
  Batch batch = {};
  Sampling sampling = Sampling::uniform;
  /// The last feature is an added constant 1: its coefficient is not penalised.
  bool intercept = false;
  /// A factor on the mean loss of each agent here, not on its penalty; empty: 1 for all. With K n_k / n, n the number
  /// of all samples, the mean of the agents' costs is the mean loss of all samples plus the penalty. An agent has
  /// weight 0 if and only if it has no samples; its cost is then the penalty alone.
  std::vector<double> weights = {};
  /// A factor on the penalty of each feature's coefficients; empty: 1 for all. With 1/t^2, columns that were divided by
  /// t keep the penalty of the original data.
  std::vector<double> penalties = {};
  DataShare share = {};
  /// The type of features, models and gradients; data are given in double.
  Element element = Element::float64;
};

/// Linear models on data, where agent k's cost is
///   J_k(w) = weight_k * mean over its samples of a loss + (l2/2) ||w||^2.
/// (Features may have factors of their own in ||w||^2.) w holds one block of M coefficients, M the number of features,
/// per prediction that the loss takes; with an intercept, ||w||^2 leaves out the last number of each block.
class DataProblem : public Problem {
 public:
  DataProblem(Dataset data, LinearOptions options, Index predictions);

  [[nodiscard]] Index agents() const override { return options_.share.agents; }
  [[nodiscard]] Index dimension() const override { return predictions_ * features(); }
  [[nodiscard]] Index samples() const override { return options_.share.samples; }
  [[nodiscard]] Element element() const override { return options_.element; }
  [[nodiscard]] double gradient_work() const override;
  void costs(Block block, const Rows& points, Rows& out) const override;
  [[nodiscard]] Reference minimise(Collective& collective, const Block& here) const override;

  /// The samples that are here.
  [[nodiscard]] const Dataset& data() const { return data_; }
  /// The index of the agent at a position among those that are here.
  [[nodiscard]] Index here(Index place) const { return place - options_.share.first; }
  /// True if no sample may leave the process that read it.
  [[nodiscard]] bool is_private() const { return options_.share.is_private; }
  [[nodiscard]] Index features() const { return data_.features.columns(); }
  /// How many numbers the model predicts for a sample: 1, or one per class.
  [[nodiscard]] Index predictions() const { return predictions_; }
  [[nodiscard]] double l2() const { return options_.l2; }
  /// The factor on the penalty of the j-th number of a model, 0 for intercepts; times l2 it is the penalty's curvature.
  [[nodiscard]] double penalty_factor(Index j) const {
    const Index feature = j % features();
    if (intercept() && feature == features() - 1) return 0;
    return options_.penalties.empty() ? 1 : options_.penalties[feature];
  }
  [[nodiscard]] const std::vector<double>& penalties() const { return options_.penalties; }
  [[nodiscard]] bool intercept() const { return options_.intercept; }
  /// The weight of the k-th agent here.
  [[nodiscard]] double weight(Index k) const { return options_.weights.empty() ? 1 : options_.weights[k]; }
  [[nodiscard]] double squared_norm(Index sample) const { return squared_norms_[sample]; }

  /// (l2/2) ||w||^2 of a row of Rows, and its gradient, which overwrites g.
  template <class T>
  [[nodiscard]] double penalty(const T* w) const {
    return l2() == 0 ? 0 : 0.5 * l2() * penalised_square(w);
  }
  template <class T>
  void penalty_gradient(const T* w, T* g) const;

  /// The largest curvature of the penalty.
  [[nodiscard]] double penalty_curvature() const { return l2() * max_penalty_; }

  /// A sample's loss has a curvature of at most this times ||h||^2; infinity if there is no bound.
  [[nodiscard]] virtual double max_curvature() const = 0;
  /// True if a sample's loss is (z - y)^2 / 2.
  [[nodiscard]] virtual bool is_quadratic() const { return false; }

 protected:
  [[nodiscard]] Sampler sampler(Block block, std::uint64_t seed) const;
  /// losses[p] = the loss of one sample at point p, whose prediction c is z[c * stride + p]; `targets` repeats the
  /// sample's target once per point.
  virtual void losses_at_points(const double* z, Index stride, std::span<const double> targets,
                                std::span<double> losses) const = 0;

 private:
  void round_features();
  template <class T>
  [[nodiscard]] double penalised_square(const T* w) const;
  [[nodiscard]] Rows transposed(const Rows& points) const;
  void predict(Index first, Index count, const Rows& wt, Rows& z) const;

  Dataset data_;
  LinearOptions options_;
  Index predictions_;
  double max_penalty_ = 1;
  std::vector<double> squared_norms_;  // ||h||^2 of every sample, for smoothness
};

}  // namespace polyhop

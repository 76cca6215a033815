// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "polyhop/core/cholesky_factor.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/packed_matrix.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/method/slope_search.hpp"
#include "polyhop/network/network.hpp"
#include "polyhop/problem/oracle.hpp"
#include "polyhop/problem/sample_gradients.hpp"

namespace polyhop {

/// Newton's method for linear models, one descent for all agents: all hold the same model w, J = (1/K) sum_k J_k is
/// summed along the spanning tree, and all agents take the same step on the sums. A pass over all samples is
///   g = grad J(w),  H = its second derivative,  p = -H^-1 g,  w <- w + a p,  a where the slope of J(w + a p) vanishes.
/// Where a loss is linear, H takes its slope divided by the distance to the target, as iteratively reweighted least
/// squares do. Once h.w and h.p are known, any a costs only additions, and 2 scalars for its sum over the network (see
/// SlopeSearch). So J falls in every pass, and models of separable classes keep growing as long as that lowers it. H is
/// symmetric: (D + 1)/2 vectors up the tree and as many down, D numbers in a model. H is summed again as long as all
/// such sums take at most half of one vector per edge and iteration; otherwise the last move corrects it (BFGS). In
/// addition, 1 vector and at most 113 scalars each way.
class TreeNewton {
 public:
  /// `models`: rows like those that will be moved; the oracle is of a linear model.
  TreeNewton(const Rows& models, Oracle& oracle);
  /// The pass that ends with iteration i; `tested`: the share of the samples on which a is chosen (least squares take a
  /// = 1 unless all are tested). Counted as evaluating all batches, values and gradients, and gradients once more if H
  /// is summed again. The first pass begins at the average of the rows of w. A step that gains less than 1e-12 of the
  /// cost (for least squares, also less than 1e-24 of the cost at the first pass, or 1e-11 in single precision) is
  /// taken without a search, and is the last: after it nothing is evaluated or sent. mu is a.
  void step(Index i, double tested, Rows& w, Oracle& oracle, std::span<double> mu, Network& network);
  /// Whether the last pass had a gradient, and found nothing lower along p: far from the minimum, second derivatives
  /// can be so small that -H^-1 g says nothing.
  [[nodiscard]] bool is_lost() const { return is_lost_; }
  void register_state(StateRegistry& state);

 private:
  void begin(const Rows& w, Network& network);
  void sum_gradients(SampleGradients& samples, Network& network);
  [[nodiscard]] bool can_afford_matrix(Index i, const Network& network) const;
  void sum_curvatures(SampleGradients& samples, Network& network);
  void correct();
  void choose_direction();
  double search(double tested, SampleGradients& samples, Network& network);
  void look(std::span<const double> at, SampleGradients& samples, Network& network);
  void move(double a, Rows& w);

  // The agent's samples in a fixed order that mixes what stands together, and how many of them are looked at.
  [[nodiscard]] std::span<const Index> chosen(Index k) const {
    return std::span(order_).subspan(begin_[k], counts_[k]);
  }
  [[nodiscard]] std::span<double> of(MeteredVector<double>& numbers, Index k) const {
    return std::span(numbers).subspan(begin_[k] * width_, counts_[k] * width_);
  }
  // What a chosen sample counts in its agent's cost.
  [[nodiscard]] double share(Index k, const SampleGradients& samples) const;
  void choose(double share);

  Index columns_;
  Index width_;
  Rows at_;                                                   // w, a row for each agent
  Rows along_;                                                // p, in the same way
  Rows sums_;                                                 // what is summed over the tree
  Rows penalty_;                                              // its gradients
  Rows point_, gradient_, last_gradient_, move_, direction_;  // one row each
  Rows chunk_, ridge_;                                        // one row each: room, and the penalty's curvature
  PackedMatrix matrix_;                                       // of the losses, without the penalty
  CholeskyFactor factor_;
  std::vector<Index> begin_, counts_;  // of each agent's samples
  MeteredVector<Index> order_;
  MeteredVector<double> z_, along_z_;  // h.w and h.p of every sample
  MeteredVector<double> curvatures_;
  MeteredVector<double> slopes_, trial_;  // of one agent's samples
  std::vector<double> values_;
  std::array<std::vector<double>, SlopeSearch::points> value_at_, slope_at_;
  double value_ = 0;
  double first_value_ = 0;  // J at the first pass
  Index begun_ = 0;
  Index matrices_ = 0;  // that were summed
  Index rests_ = 0;
  bool is_lost_ = false;
};

}  // namespace polyhop

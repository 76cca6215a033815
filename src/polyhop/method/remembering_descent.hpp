// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/method/corrected_descent.hpp"
#include "polyhop/method/exact_diffusion.hpp"
#include "polyhop/problem/sample_gradients.hpp"

namespace polyhop {

/// Exact diffusion, dual, for finite data, which finds its own steps and removes the noise of batches
/// (docs/auto-rule.md). Of a linear model, it remembers every sample's last prediction z_kn and slope alpha_kn; a
/// sample not drawn yet has those of the point where the descent began. With l' the new slopes of the batch b, factor
/// and mean_b as in J_k:
///   v_k = mean_b [l' h - lambda_k (alpha h - abar_k)] + the penalty's,
/// where abar_k is the mean of alpha h over all samples drawn before; only these have the second part of the bracket.
/// lambda_k is the share of the new slopes that the remembered ones explain, a_k/b_k clipped to [0, 1]: 1 makes it
/// SAGA, 0 a batch's own gradient. The step is 1/(rho_k + l2) after a ramp of 8 iterations, and 0 as long as nothing is
/// known. rho_k = den_k/num_k is the curvature of the network between the remembered and the present point, in the
/// metric 2P - P^2 of exact diffusion's fast modes:
///   e_k = mean_b (l' - alpha) h,   num: mean_b (l' - alpha)(z - z_kn),   den: sum_j (2 q0 (P q0) - (P q0)^2)_kj,
/// q0_k is e_k folded to 8 numbers by shared random signs; a: mean_b l' alpha ||h||^2, b: mean_b alpha^2 ||h||^2, over
/// samples drawn before. In every iteration A averages all four over the neighbours, and 1/32 of each is forgotten.
/// rho_k is at least 1/64 of its first value, and does not change unless num and den are above 0. Until an agent has
/// one, usually in the first iteration, e_k = mean_b l' h, num is mean_b l'^2 / max l'', den is at least a tenth of
/// ||q0_k||^2; num and den start again after the first. 1 vector and 13 scalars per edge, in 3 rounds; 1 gradient, and
/// 1 more from an agent that draws a sample for the first time.
/// The mixing may exceed largest_dual_mixing: gossip makes steps nearly alike, and no drawn problem has diverged.
///
/// Your own costs are treated like linear models whose predictions are the models themselves: slopes are gradients, z
/// is w_k, h is 1. Nothing bounds their curvature: the first num is ||mean_b l'||^2 / L_k, and CurvatureWatch, for 2
/// values, limits the steps, to a share of min(K, 4)/4. If the run has no known end, steps are half as long. An agent
/// whose samples have no end either, or would take more than its share of 2^25 numbers for the whole network, remembers
/// none of them: lambda_k is 0, all samples have the slopes of the beginning, and without a known end steps are also
/// divided by sqrt(1 + age/200).
class RememberingDescent {
 public:
  /// `zeros`: rows like the models'; the setting's oracle must be one that `suits` accepts; `curvature`: null for
  /// linear models.
  RememberingDescent(const Rows& zeros, double mixing, const Setting& setting, CurvatureWatch* curvature);
  /// Linear models whose losses have a bounded curvature, and batches of your own costs.
  static bool suits(Oracle& oracle);
  /// One iteration on the samples drawn last: moves w by `share` of the step, and writes the steps to mu.
  void step(Index i, Rows& w, Oracle& oracle, double share, std::span<double> mu, Network& network);
  /// Of the models and gradients that it keeps of your own costs' samples; 0 for linear models.
  [[nodiscard]] Index kept_bytes() const { return curvature_ == nullptr ? 0 : table_.bytes(); }
  void register_state(StateRegistry& state);

 private:
  // One number per agent, averaged over neighbours.
  struct Mean {
    std::vector<double> value, added;
  };
  void look_at_batches(const Rows& w, Oracle& oracle);
  void write_points(const Rows& w, const SampleGradients& samples, std::vector<double>& out);
  void meet_curvature(Index i, const Rows& w, Oracle& oracle);
  void look_at_batch(Index k, SampleGradients& samples);
  void fold_differences(Index i, Network& network);
  void gossip(Network& network);
  void estimate_from_batches(const Rows& w, SampleGradients& samples);
  void remember(Index k, SampleGradients& samples);
  [[nodiscard]] double lambda(Index k) const;
  [[nodiscard]] bool is_known(Index k, Index sample, const SampleGradients& samples) {
    return remembers_[k] && entry(k, sample, samples)[0] != 0;
  }
  std::span<double> entry(Index k, Index sample, const SampleGradients& samples);
  [[nodiscard]] std::span<double> of_agent(std::vector<double>& list, Index k) const {
    return std::span(list).subspan(begin_[k], begin_[k + 1] - begin_[k]);
  }

  DualCorrection correction_;
  double mixing_;
  std::uint64_t seed_;
  bool ends_;  // whether the length of the run is known
  Index age_ = 0;
  Rows start_;       // where the descent began
  Rows sum_;         // of alpha h over the samples drawn so far
  Rows difference_;  // e_k
  Rows estimate_;    // v_k
  Gradients along_estimate_;
  Rows signs_;  // one row, of this iteration
  std::vector<double> drawn_signs_;
  CurvatureWatch* curvature_;    // the owner's
  Evaluation of_batches_;        // what it looks at
  std::vector<bool> remembers_;  // whether an agent has room for its samples
  Rows table_;                   // one row per agent: what is kept of its samples
  std::vector<double> drawn_;    // how many of an agent's samples were drawn
  Mean num_, den_, a_, b_;
  std::vector<double> rho_, first_rho_;
  std::array<std::vector<double>, folds> folded_, mixed_;
  std::vector<Index> begin_;  // where each agent's slopes begin in the list of all
  std::vector<double> z_, slopes_, first_z_, first_slopes_, kept_, scaled_;
};

}  // namespace polyhop

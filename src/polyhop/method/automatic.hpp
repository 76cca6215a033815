// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyhop/method/algorithm.hpp"
#include "polyhop/method/corrected_descent.hpp"
#include "polyhop/method/graph_aware_polyak.hpp"
#include "polyhop/method/remembering_descent.hpp"
#include "polyhop/method/tree_newton.hpp"
#include "polyhop/method/tree_quasi_newton.hpp"

namespace polyhop {

/// Whether a number of each agent still falls: compares its sums over the late and the early half of a window, over the
/// whole network. Windows are [e/2, e), e = `first`, twice that, ..., from 512/K on, so that few agents are judged on
/// as many samples as many agents. All get the same answer.
class ProgressWatch {
 public:
  ProgressWatch(Index agents_of_block, Index agents, Index first = 128, std::string name = "progress");
  /// Adds the block's numbers; true at the end of a window. Then it costs 2 scalars per round of Network::spread_sum,
  /// otherwise nothing.
  bool observe(std::span<const double> numbers, Network& network);
  /// The late sum of the last window divided by the early one; 0 if the early one was 0.
  [[nodiscard]] double ratio() const { return ratio_; }
  void register_state(StateRegistry& state);

 private:
  std::string name_;
  Index seen_ = 0;
  Index begin_ = 0;
  Index end_ = 0;
  double ratio_ = 0;
  std::vector<double> early_, late_;
};

/// Whether GAP keeps its promises. It compares how much the steps claim to have reduced the squared distance to a model
/// that fits every sample with how far each model went, at most, from where the window began, squared and summed over
/// the network. If such a model exists, the claims cannot exceed that distance by much; if not, the same distance is
/// claimed again and again. Windows end at 32, 64, 128, ... iterations. Claims are not kept if they exceed 3 times the
/// distance, and their ratio to it exceeds the one in the middle of the window by a quarter. 4 scalars over the tree,
/// twice per window.
class ClaimWatch {
 public:
  explicit ClaimWatch(const Rows& start);
  /// Call it before a step from w, with the agents' costs there: true if claims are not kept, or cannot be, because a
  /// cost is below 0 or nobody has moved although there are gradients.
  bool broken(const Rows& w, const Iterate& at, Network& network);
  /// Call it after the step to w, with what the step claims.
  void observe(std::span<const double> claims, const Rows& w);
  void register_state(StateRegistry& state);

 private:
  Rows from_;  // where the window began
  std::vector<double> claimed_, went_, below_;
  std::array<std::vector<double>, 4> sums_;
  Index seen_ = 0;  // iterations of the window
  Index length_ = 32;
  Index all_ = 0;    // of all windows
  double half_ = 0;  // claims against the way in the middle
};

/// For users who know neither a step nor an optimum (docs/auto-rule.md): several algorithms, and tests that decide
/// which one to run.
///  0. Exact diffusion, primal, with GAP, mixing as much as the network allows: bound "tight" ("linear" where no
///     smoothness is known), damping "rows", projection, 5 sweeps, relaxation 1.5, optimum 0. Where the data fit, its
///     steps are larger than any constant. Left out where no data can be fitted: a penalty, a loss that never ends.
///  1. When its claims are not kept, or losses do not fall by 5% from one half of a window to the other (32, 64, ...
///     iterations), there is something that no model fits. Linear models with a bounded curvature go on
///     by RememberingDescent, which reaches w^o by batches as well. Others take exact diffusion with steps 1/L_k, whose
///     mean has no bias;
///  2. and when that stalls too, noise is left: the same with falling steps.
/// All agents switch together, by sums over the network. Costs GAP's traffic in stage 0, 1 vector per edge later.
/// Linear models with finite data do better. With full gradients they use TreeDescent alone. With batches, evaluating
/// all samples takes an epoch, as many iterations as the samples fill batches, so that no iteration evaluates more than
/// it would otherwise. A run that is long enough for a pass of TreeNewton uses nothing else, one pass per epoch; a
/// model of more than 200 numbers needs 5 epochs for that, and one of more than 1000 never uses it: in a run of at
/// least 8 epochs, it takes 3 epochs of stage 1, and then TreeDescent. RememberingDescent's steps
/// fall to 0 after the first quarter of its run.
class Automatic final : public Algorithm {
 public:
  Automatic(Rows start, const NoOptions& options, const Setting& setting);
  static Recursion recursion(const NoOptions&) { return {.name = "auto"}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;
  [[nodiscard]] bool is_noisy() const override { return !by_newton() && (!tree_ || !tree_->has_begun()); }

 private:
  static constexpr Index never = Index{1} << 60;

  void register_more(StateRegistry& state) override;
  void graph_aware_step(const Iterate& at, Network& network);
  void corrected_step(const Iterate& at, Network& network);
  void plan(Oracle& oracle, Network& network);
  void plan_newton(Network& network);
  [[nodiscard]] bool by_newton() const { return passes_begin_ != never; }
  [[nodiscard]] double share_tested(Index left) const;
  void newton_step(Index i, Oracle& oracle, Network& network);
  void descend_whole(Index i, Oracle& oracle, Network& network);
  [[nodiscard]] double share_of_step(Index i) const;

  double mixing_;
  Index stage_ = 0;
  Index falling_ = 0;           // iterations of stage 2
  Index iterations_;            // of the run; 0: nobody knows
  Index epoch_ = 0;             // iterations that one evaluation of all samples takes; 0: not known yet
  Index turn_ = never;          // the iteration from which on gradients are whole
  Index passes_begin_ = never;  // those of TreeNewton, each of which ends an epoch later
  std::optional<GraphAwarePolyak> gap_;
  PrimalCorrection correction_;
  ClaimWatch claims_;
  std::optional<TreeNewton> newton_;               // of linear models with few numbers
  std::optional<TreeDescent> tree_;                // of linear models; with whole gradients all there is
  std::optional<RememberingDescent> remembering_;  // of linear models; of others
  std::optional<CorrectedDescent> descent_;
  ProgressWatch losses_;
  ProgressWatch progress_;
  Rows before_;
  std::vector<double> energy_;
};

}  // namespace polyhop

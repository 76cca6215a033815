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

/// Whether a number of each agent still falls: its sum over the late half of a window against the early half, over the
/// whole network. Windows are [e/2, e), e = `first`, twice that, ..., from 512/K on, so
/// that a few agents are judged on as many samples as many. Everyone gets the same answer.
class ProgressWatch {
 public:
  ProgressWatch(Index agents_of_block, Index agents, Index first = 128, std::string name = "progress");
  /// Adds the block's numbers; true when the verdict on a window is there. Costs 2 scalars a round of
  /// Network::spread_sum then, and nothing otherwise.
  bool observe(std::span<const double> numbers, Network& network);
  /// Late over early of the last window; 0 where early was 0.
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

/// Whether GAP's promises are kept: what its steps claim to have won of the squared distance to a model that fits every
/// sample, against the farthest that each model went from where the window began, squared and summed over the network.
/// Where there is such a model the first cannot exceed the second by much; where there is none the same distance is won
/// again and again. Windows end at 32, 64, 128, ... iterations; claims above 3 times the way, and a quarter more times
/// it than in the window's middle, are not kept. 4 scalars over the tree twice a window.
class ClaimWatch {
 public:
  explicit ClaimWatch(const Rows& start);
  /// Before a step from w, where agents' costs are these: true when claims are not kept, or cannot be, since a cost is
  /// below 0 or nobody has moved while there are gradients.
  bool broken(const Rows& w, const Iterate& at, Network& network);
  /// After the step to w, with what was claimed of it.
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

/// What a user gets who knows neither a step nor an optimum (docs/auto-rule.md): two algorithms, each without a rival
/// where it fits, and a test that says which one to run.
///  0. Exact diffusion, primal, with GAP, mixing as much as the network allows: bound "tight" ("linear" where no
///     smoothness is known), damping "rows", projection, 5 sweeps, relaxation 1.5, optimum 0. Where the data fit, its
///     steps are larger than any constant. Left out where no data can be fitted: a penalty, a loss that never ends.
///  1. When its claims are not kept, or losses do not fall by 5% from one half of a window to the other (32, 64, ...
///     iterations), there is something that no model fits. Linear models with a bounded curvature go on
///     by RememberingDescent, which reaches w^o by batches as well. Others take exact diffusion with steps 1/L_k, whose
///     mean has no bias;
///  2. and when that stalls too, noise is left: the same with falling steps.
/// All agents change together, by sums over the network. Costs GAP's traffic in stage 0, 1 vector per edge later.
/// Linear models with finite data do better. If gradients are whole, TreeDescent is all there is. By batches one
/// evaluation of all samples takes as many iterations as they fill batches, an epoch, so that no iteration evaluates
/// more than it would otherwise. A run that has time for a pass of TreeNewton takes nothing else, one pass per epoch;
/// a model of more than 200 numbers has time after 5 epochs, one of more than 1000 never. It takes 3 epochs of stage 1
/// in a run of at least 8 epochs, and then TreeDescent. In what is left the steps of RememberingDescent end at 0: they
/// fall after its first quarter.
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

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

/// Tells whether a number is still falling, summed over the whole network: compares the late half of a window with the
/// early one. Windows are [e/2, e), e = `first`, twice that, ..., from 512/K on, so that few agents are judged on as
/// many samples as many agents. All agents get the same answer.
class ProgressWatch {
 public:
  ProgressWatch(Index agents_of_block, Index agents, Index first = 128, std::string name = "progress");
  /// Adds the block's numbers; true at the end of a window, which costs 2 scalars per round of Network::spread_sum.
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

/// Whether GAP keeps its promises. Its steps claim to reduce the squared distance to a model that fits every sample;
/// the sum of these claims is compared with the largest squared distance that each model has moved since the window
/// began, summed over the network. If such a model exists, the claims cannot be much larger; if not, the same distance
/// is claimed again and again. Windows end at 32, 64, 128, ... iterations. Claims are not kept if they exceed 3 times
/// the distance, and if that ratio is a quarter larger than in the middle of the window. 4 scalars over the tree, twice
/// per window.
class ClaimWatch {
 public:
  explicit ClaimWatch(const Rows& start);
  /// Call it before a step from w, with the agents' costs there: true if claims are not kept, or cannot be, because a
  /// cost is below 0, or no agent has moved although there are gradients.
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
  double half_ = 0;  // claims divided by the distance, in the middle
};

/// Whether models are better than those at the start, where nothing bounds what a step may do: compares the costs of
/// the same samples at both, summed over the network and 16 iterations. 1 value per iteration, 2 scalars over the tree
/// per window.
class StartWatch {
 public:
  explicit StartWatch(const Rows& start);
  /// Call it before a step: true at the end of a window whose costs are more than twice as large as at the start.
  bool lost_ground(const Iterate& at, Network& network);
  /// Whether the start was better in the last window.
  [[nodiscard]] bool is_better() const { return is_better_ != 0; }
  [[nodiscard]] const Rows& models() const { return start_; }
  void register_state(StateRegistry& state);

 private:
  static constexpr Index window = 16;

  Rows start_;
  std::vector<Index> agents_;                           // all of the block
  std::vector<double> now_, then_, values_, no_steps_;  // here and at the start, summed and of one iteration
  Index seen_ = 0;                                      // iterations of the window
  Index is_better_ = 0;
};

/// For users who know neither a step nor an optimum (docs/auto-rule.md): several algorithms, and tests that choose one.
///  0. Exact diffusion, primal, with GAP, mixing as much as the network allows: bound "tight" ("linear" where no
///     smoothness is known), damping "rows", projection, 5 sweeps, relaxation 1.5, optimum 0. Where the data fit, its
///     steps are larger than any constant. Skipped where no data can be fitted: with a penalty, or a loss that never
///     reaches 0. Costs that are not linear models have steps of at most min(K + 1, 4)/L_k (CurvatureWatch).
///  1. When its claims are not kept, or losses do not fall by 5% from one half of a window to the other (32, 64, ...
///     iterations), there is something that no model fits; costs that are not linear models also leave when they have
///     doubled, and go back to the start if it was better. Batches of linear models with a bounded curvature and of
///     your own costs continue with RememberingDescent, which reaches w^o. Others take exact diffusion with steps
///     1/L_k, whose mean has no bias;
///  2. and when that stalls too, noise is left: the same with falling steps.
/// All agents switch together, by sums over the network. Costs GAP's traffic in stage 0, 1 vector per edge later.
/// Linear models with finite data do better. With full gradients they use TreeDescent alone. With batches, all samples
/// are evaluated over an epoch, as many iterations as the samples fill batches. A run that is long enough for a pass of
/// TreeNewton uses nothing else, one pass per epoch; only if a pass finds nothing lower although the cost is above 0
/// does TreeDescent take over. Models of more than 200 numbers need 5 epochs for that. Models of more than 1000 never
/// use it; in a run of at least 8 epochs, they take 3 epochs of stage 1, and then TreeDescent. RememberingDescent's
/// steps start to fall after the first quarter of its run, and end at 0.
class Automatic final : public Algorithm {
 public:
  Automatic(Rows start, const NoOptions& options, const Setting& setting);
  static Recursion recursion(const NoOptions&) { return {.name = "auto"}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;
  [[nodiscard]] bool is_noisy() const override { return !by_newton() && (!tree_ || !tree_->has_begun()); }
  [[nodiscard]] Index kept_bytes() const override { return remembering_ ? remembering_->kept_bytes() : 0; }

 private:
  static constexpr Index never = Index{1} << 60;

  void register_more(StateRegistry& state) override;
  bool must_leave(const Iterate& at, Network& network);
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
  Index falling_ = 0;                // iterations of stage 2
  Index iterations_;                 // of the run; 0: unknown
  Index epoch_ = 0;                  // iterations that one evaluation of all samples takes; 0: not known yet
  Index turn_ = never;               // the iteration from which on gradients are whole
  Index passes_begin_ = never;       // those of TreeNewton, each of which ends an epoch later
  std::optional<StartWatch> start_;  // of costs that are not linear models; so are the next
  std::optional<CurvatureWatch> curvature_;
  std::optional<GraphAwarePolyak> gap_;
  PrimalCorrection correction_;
  ClaimWatch claims_;
  std::optional<TreeNewton> newton_;               // of linear models with few numbers
  std::optional<TreeDescent> tree_;                // of linear models; with whole gradients all there is
  std::optional<RememberingDescent> remembering_;  // where samples can be told apart; elsewhere
  std::optional<CorrectedDescent> descent_;
  ProgressWatch losses_;
  ProgressWatch progress_;
  Rows before_;
  std::vector<double> energy_;
};

}  // namespace polyhop

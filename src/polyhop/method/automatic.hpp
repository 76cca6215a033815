// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "polyhop/method/algorithm.hpp"
#include "polyhop/method/corrected_descent.hpp"
#include "polyhop/method/graph_aware_polyak.hpp"

namespace polyhop {

/// Whether a number of each agent still falls: its sum over the late half of a window against the early half, over the
/// whole network. Windows are [e/2, e), e = 128, 256, ..., from 512/K on, so that a few agents are judged on as many
/// samples as many. Everyone gets the same answer.
class ProgressWatch {
 public:
  ProgressWatch(Index agents_of_block, Index agents);
  void restart();
  /// Adds the block's numbers; true when the verdict on a window is there. Costs 2 scalars a round of
  /// Network::spread_sum then, and nothing otherwise.
  bool observe(std::span<const double> numbers, Network& network);
  /// Late over early of the last window; 0 where early was 0.
  [[nodiscard]] double ratio() const { return ratio_; }
  void register_state(StateRegistry& state);

 private:
  Index agents_;
  Index seen_ = 0;
  Index begin_ = 0;
  Index end_ = 0;
  double ratio_ = 0;
  std::vector<double> early_, late_;
};

/// What a user gets who knows neither a step nor an optimum (docs/auto-rule.md): two algorithms, each without a rival
/// where it fits, and a test that says which one to run.
///  0. ATC-diffusion with GAP: bound "tight" ("linear" where no smoothness is known), damping "rows", projection, 5
///     sweeps, relaxation 1.7, optimum 0, cap "2*distance", looser by 4 each time the losses were seen to fall. Where
///     the data fit, its steps are larger than any constant.
///  1. When the losses stall, there is something that no model fits: exact diffusion with steps 1/L_k, whose mean has
///     no bias, so that averaging takes the noise; with full gradients it converges linearly to w^o.
///  2. When that stalls too, noise is left: the same with falling steps.
/// All agents change together, by sums over the network. Costs GAP's traffic in stage 0, 1 vector and 1 scalar later.
class Automatic final : public Algorithm {
 public:
  Automatic(Rows start, const NoOptions& options, const Setting& setting);
  static Recursion recursion(const NoOptions&) { return {.name = "auto"}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  void register_more(StateRegistry& state) override;
  void graph_aware_step(const Iterate& at, Network& network);
  void corrected_step(const Iterate& at, Network& network);

  Index stage_ = 0;
  Index falling_ = 0;  // iterations of stage 2
  double cap_factor_ = 2;
  GraphAwarePolyak gap_;
  ProgressWatch progress_;
  CorrectedDescent descent_;
  Rows before_;
  std::vector<double> energy_;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "polyhop/method/differences.hpp"
#include "polyhop/method/exact_diffusion.hpp"

namespace polyhop {

/// The largest curvature that each agent has met along its own gradients. If it starts from the known smoothness, it
/// may fall for a while, since that is the worst case. 1 value per iteration, and more where a trial was far too long:
/// one that is not finite, or that shows a curvature above 16 times the largest, says nothing about shorter ones.
class CurvatureWatch {
 public:
  explicit CurvatureWatch(Index agents);
  void update(const Iterate& at);
  [[nodiscard]] std::span<const double> largest() const { return largest_; }
  void register_state(StateRegistry& state);

 private:
  void begin(const Iterate& at);
  void measure(const Iterate& at);
  [[nodiscard]] double curvature(std::size_t k, const Iterate& at) const;

  Index age_ = 0;
  std::vector<double> largest_;
  std::vector<double> measured_;  // NaN where rounding would decide
  std::vector<double> trial_, values_;
  std::vector<Index> agents_;  // whose trials are too long
};

/// Exact diffusion, dual and agent-wise, with steps share/L_k that every agent finds for itself. L_k is the larger of
/// what CurvatureWatch has met and of the secants ||g_i - g_{i-1}|| / ||w_i - w_{i-1}|| of the agent's own gradients:
/// it moves along g_k + d_k, where its cost may be steeper than along g_k. Both may fall by 3% per iteration for the
/// first 100, since many costs are steepest at the start; they never fall later, so that steps settle. Secants count
/// only with full gradients; for a batch they would cost one more gradient. An agent that meets no curvature at all
/// takes steps of `share`: with 0 it would be cut off. No move along g_k + d_k is longer than its reach. 1 vector and 1
/// scalar per iteration.
class CorrectedDescent {
 public:
  /// `zeros`: rows like the models'; `reach`: how far each agent may go in one move, empty where any way is allowed.
  explicit CorrectedDescent(const Rows& zeros, std::vector<double> reach = {});
  /// G + D, along which the next move goes.
  const Gradients& direction(const Gradients& g) { return correction_.direction(g); }
  /// Moves w, which is where the iterate stands, along the last direction, and writes the steps to mu.
  void move(Rows& w, const Iterate& at, double share, std::span<double> mu, Network& network);
  void register_state(StateRegistry& state);

 private:
  void watch_secants(const Iterate& at);

  DualCorrection correction_;
  std::vector<double> reach_;
  CurvatureWatch along_gradients_;
  Differences differences_;
  Index age_ = 0;  // moves whose secants were asked for
  std::vector<double> along_moves_;
};

}  // namespace polyhop

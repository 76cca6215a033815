// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyhop/method/differences.hpp"
#include "polyhop/method/exact_diffusion.hpp"

namespace polyhop {

/// The largest curvature that each agent has met along its own gradients. If it starts from the known smoothness, the
/// worst case, it may fall for a while. 1 value per iteration, and more after a trial that was far too long. Such a
/// trial is not finite, or shows a curvature above 16 times the largest, and says nothing about shorter ones.
class CurvatureWatch {
 public:
  /// Trials are steps of `longest`/L_k. Above 1, L_k limits the steps of others, and never falls.
  explicit CurvatureWatch(Index agents, double longest = 1);
  void update(const Iterate& at);
  [[nodiscard]] std::span<const double> largest() const { return largest_; }
  /// mu_k <- at most `longest` share/L_k.
  void limit(double share, std::span<double> mu) const;
  void register_state(StateRegistry& state, const std::string& owner);

 private:
  void begin(const Iterate& at);
  void measure(const Iterate& at);
  [[nodiscard]] double curvature(std::size_t k, const Iterate& at) const;

  double longest_;
  Index age_ = 0;
  std::vector<double> largest_;
  std::vector<double> measured_;  // NaN where rounding would decide
  std::vector<double> trial_, values_;
  std::vector<Index> agents_;  // whose trials are too long
};

/// Exact diffusion, dual and agent-wise, with steps share/L_k that every agent finds for itself. L_k is the larger of
/// two numbers: the curvature of CurvatureWatch, and the largest secant ||g_i - g_{i-1}|| / ||w_i - w_{i-1}|| of the
/// agent's own gradients, because the agent moves along g_k + d_k, where its cost may be steeper than along g_k. Both
/// may fall by 3% per iteration for the first 100 iterations, since many costs are steepest at the start; later they
/// never fall, so that steps settle. Secants are used with full gradients only; with batches they would cost one more
/// gradient. An agent that meets no curvature takes steps of `share`, since 0 would cut it off. No move along g_k + d_k
/// is longer than the agent's reach. 1 vector and 1 scalar per iteration.
class CorrectedDescent {
 public:
  /// `zeros`: rows like the models'; `reach`: how far each agent may go in one move, empty for no limit.
  explicit CorrectedDescent(const Rows& zeros, std::vector<double> reach = {});
  /// G + D, the direction of the next move.
  const Gradients& direction(const Gradients& g) { return correction_.direction(g); }
  /// Moves w, where the iterate stands, along the last direction, and writes the steps to mu.
  void move(Rows& w, const Iterate& at, double share, std::span<double> mu, Network& network);
  void register_state(StateRegistry& state);

 private:
  void watch_secants(const Iterate& at);

  DualCorrection correction_;
  std::vector<double> reach_;
  CurvatureWatch along_gradients_;
  Differences differences_;
  Index age_ = 0;  // moves whose secants were used
  std::vector<double> along_moves_;
};

}  // namespace polyhop

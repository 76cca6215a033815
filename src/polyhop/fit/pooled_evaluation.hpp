// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "polyhop/core/collective.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/fit/evaluation.hpp"

namespace polyhop {

/// Samples of one agent: what a model says of them, as model_scores gives it, and their targets as a loss takes them.
struct ScoredSamples {
  Rows scores;
  std::vector<double> targets;
};

/// How good a model is on the samples of all agents. Every worker evaluates those of its own agents, in order of its
/// block; what it tells the others are sums of metrics and counts, the same whatever the workers: no sample's target or
/// score. The auc comes from counts of both classes in bins of the score; of up to 4096 samples it is exact, of more it
/// is off by 1e-4 or so.
ModelEvaluation evaluate_pooled(const Model& model, std::span<const ScoredSamples> agents, Collective& collective);

}  // namespace polyhop

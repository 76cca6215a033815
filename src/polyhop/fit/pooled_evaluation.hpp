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

/// Samples of one agent: their scores as model_scores returns them, and their targets as a loss takes them.
struct ScoredSamples {
  Rows scores;
  std::vector<double> targets;
};

/// How good a model is on the samples of all agents. Every worker evaluates the samples of its own agents, in the order
/// of its block. It sends only sums of metrics and counts, which do not depend on the workers, never a sample's target
/// or score. The AUC comes from counts of both classes in bins of the score; it is exact up to 4096 samples, and off by
/// about 1e-4 for more.
ModelEvaluation evaluate_pooled(const Model& model, std::span<const ScoredSamples> agents, Collective& collective);

}  // namespace polyhop

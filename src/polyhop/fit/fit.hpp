// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/fit/evaluation.hpp"
#include "polyhop/fit/model_file.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/network/placement.hpp"
#include "polyhop/network/team.hpp"
#include "polyhop/network/traffic.hpp"
#include "polyhop/problem/dealt_data.hpp"
#include "polyhop/problem/model_options.hpp"

namespace polyhop {

/// How the agents find the model.
///   tree: values and gradients are summed along a spanning tree and every agent takes the same quasi-Newton step
///     (L-BFGS), so that the model does not depend on the network; a link that breaks ends the fit.
///   exact_diffusion: full gradients and neighbours alone, each agent with steps of its own.
///   automatic: `auto` of the experiments and its averaged iterate, for batches.
enum class FitMethod { tree, exact_diffusion, automatic };
template <>
struct EnumNames<FitMethod> {
  static constexpr std::array<std::pair<FitMethod, std::string_view>, 3> names = {
      {{FitMethod::tree, "tree"}, {FitMethod::exact_diffusion, "exact-diffusion"}, {FitMethod::automatic, "auto"}}};
};

/// What is fitted, to which data, on which network.
struct FitOptions {
  DataSource data;
  std::optional<FitMethod> method = {};  // none: tree, or auto where batches are asked for
  /// loss: without a name it follows from the target. batch: all gives full gradients, n so many samples per agent and
  /// iteration, which only auto takes.
  ModelOptions model = {.loss = {}, .intercept = true, .batch = {0, true}, .sampling = Sampling::shuffle};
  GraphOptions graph;
  Index iterations = 50000;  // at most
  /// Full gradients: where to stop. Relative to the slope of the loss at the model without features, and with features
  /// scaled to about 1, so that it means the same whatever the data's units.
  double tolerance = 1e-8;
  /// The share of every agent's samples that is not fitted to, drawn at random. Of all models on the way, the one with
  /// the lowest loss on them is kept, and the fit ends when it has not become lower for long. `auto` needs one,
  /// `held_out_by_default` where none is given.
  static constexpr double held_out_by_default = 0.05;
  std::optional<double> held_out = {};
  Index seed = 0;
  Index threads = 0;
  /// All that decides the model but the data: the command's flags, a page's settings and messages come from this list.
  static const FieldTable<FitOptions>& fields();

  [[nodiscard]] FitMethod chosen_method() const {
    return method.value_or(model.batch.all ? FitMethod::tree : FitMethod::automatic);
  }
  [[nodiscard]] bool has_full_gradients() const { return chosen_method() != FitMethod::automatic; }
};

/// How a fit stands, alike for all agents.
struct FitState {
  Index iteration = 0;
  Index evaluations = 0;    // tree: of the whole cost, tries along a direction included
  double gradient = 0;      // full gradients: what `tolerance` bounds
  double disagreement = 0;  // the largest distance of an agent's model to its neighbourhood's mean, relative to the
                            // model or to a step, whichever is larger; 0 on a tree
  double held_out = 0;      // mean loss on the held-out samples, if any
  Index kept = 0;           // at the end, if any: the iteration whose model has the lowest
};

///   separated: every sample is on the side of its class and nothing is penalised, so the cost has no minimum; the fit
///     ends where it is next to 0.
enum class FitEnd { converged, plateau, separated, iterations, diverged, stopped };

/// Whether the fit ended by itself, with the model that was asked for.
constexpr bool is_good(FitEnd end) {
  return end == FitEnd::converged || end == FitEnd::plateau || end == FitEnd::separated;
}

/// What is about to be done, and what an iteration will send.
struct FitPlan {
  FitMethod method = FitMethod::tree;
  std::string loss;
  Index samples = 0;  // fitted to
  Index held_out = 0;
  Index agents = 0;
  Index dimension = 0;  // numbers of a model
  Index height = 0;     // of the tree
  Index vectors = 0;    // an evaluation, or an iteration, sends
};

struct FitResult {
  Model model;
  /// Of the features as they stand in the file, so that coefficients can be compared: a deviation times a coefficient.
  std::vector<double> mean = {};
  std::vector<double> deviation = {};
  Index skipped = 0;     // rows that were left out because they lack a value
  std::string why_loss;  // what in the target speaks for the loss; empty where the options name one
  FitState state;
  std::vector<FitState> history;  // of every check, the last one too
  FitEnd end = FitEnd::iterations;
  double cost = 0;       // the mean loss of the samples fitted to, with the penalty, at the model
  double null_cost = 0;  // the same of the model without features: the mean, or the classes' frequencies
  double null_held_out = 0;
  Index samples = 0;
  Index agents = 0;
  ModelEvaluation fitted;                   // on the samples fitted to
  std::optional<ModelEvaluation> held_out;  // on those held out
  Traffic traffic;                          // of everything: statistics, iterations, stopping, the last mean
  Index gradients = 0;
  double seconds = 0;
};

struct FitControl {
  std::function<void(const FitPlan&)> on_plan = {};
  std::function<void(const FitState&)> on_check = {};
  std::function<bool()> stop = {};
  /// The processes that fit together, each of which calls `fit` with the data of its own agents. `on_*` and `stop`
  /// are asked in the first alone.
  Team* team = &alone();
  Placement placement = Placement::contiguous;
};

/// A linear model that all agents agree on, of the pooled samples: it minimises their mean loss + (l2/2) ||w||^2, the
/// intercept unpenalised, however the samples are dealt and whatever units the features have: these are scaled inside,
/// and the model is that of the table. Deterministic by seed, for any number of threads and processes. Samples stay in
/// the process that owns their agent; the result is whole in the first.
FitResult fit(const FitOptions& options, const FitControl& control = {});

}  // namespace polyhop

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
///     (L-BFGS), so the model does not depend on the network; a link that breaks ends the fit.
///   exact_diffusion: full gradients, messages between neighbours only, each agent with its own steps.
///   automatic: `auto` as in experiments, with its averaged iterate; for batches.
enum class FitMethod { tree, exact_diffusion, automatic };
template <>
struct EnumNames<FitMethod> {
  static constexpr std::array<std::pair<FitMethod, std::string_view>, 3> names = {
      {{FitMethod::tree, "tree"}, {FitMethod::exact_diffusion, "exact-diffusion"}, {FitMethod::automatic, "auto"}}};
};

/// What to fit, to which data, on which network.
struct FitOptions {
  DataSource data;
  std::optional<FitMethod> method = {};  // none: tree, or auto if batches are requested
  /// loss: without a name it follows from the target. batch: all gives full gradients, n gives n samples per agent and
  /// iteration, which only auto supports.
  ModelOptions model = {.loss = {}, .intercept = true, .batch = {0, true}, .sampling = Sampling::shuffle};
  GraphOptions graph;
  Index iterations = 50000;  // at most
  /// For full gradients: when to stop. Relative to the slope of the loss at the model without features, with features
  /// scaled to about 1, so that it means the same in any units.
  double tolerance = 1e-8;
  /// The fraction of every agent's samples that is held out, drawn at random. The fit keeps the model with the lowest
  /// loss on them, and stops when that loss stops improving. `auto` needs it; `held_out_by_default` is used if none is
  /// given.
  static constexpr double held_out_by_default = 0.05;
  std::optional<double> held_out = {};
  Index seed = 0;
  Index threads = 0;
  /// Everything that determines the model apart from the data; the command's flags, a page's settings and messages are
  /// generated from this list.
  static const FieldTable<FitOptions>& fields();

  [[nodiscard]] FitMethod chosen_method() const {
    return method.value_or(model.batch.all ? FitMethod::tree : FitMethod::automatic);
  }
  [[nodiscard]] bool has_full_gradients() const { return chosen_method() != FitMethod::automatic; }
};

/// The state of a fit, the same for all agents.
struct FitState {
  Index iteration = 0;
  Index evaluations = 0;    // tree: of the full cost, including trial steps along a direction
  double gradient = 0;      // full gradients: the quantity that `tolerance` bounds
  double disagreement = 0;  // the largest distance of an agent's model to its neighbourhood's mean, relative to the
                            // model or to a step, whichever is larger; 0 on a tree
  double held_out = 0;      // mean loss on the held-out samples, if any
  Index kept = 0;           // at the end, if any: the iteration of the model with the lowest one
};

///   separated: every sample is on its class's side and there is no penalty, so the cost has no minimum; the fit ends
///     once the cost is next to 0.
enum class FitEnd { converged, plateau, separated, iterations, diverged, stopped };

/// Whether the fit ended by itself, with the requested model.
constexpr bool is_good(FitEnd end) {
  return end == FitEnd::converged || end == FitEnd::plateau || end == FitEnd::separated;
}

/// The plan of a fit, and what an iteration will send.
struct FitPlan {
  FitMethod method = FitMethod::tree;
  std::string loss;
  std::string why_loss;  // what in the target suggests it; empty if the options name one
  Index samples = 0;     // used for fitting
  Index held_out = 0;
  Index agents = 0;
  Index dimension = 0;  // numbers in a model
  Index height = 0;     // of the tree
  Index vectors = 0;    // sent per evaluation or iteration
};

struct FitResult {
  Model model;
  /// Of the features as in the file, for comparing coefficients: deviation times coefficient.
  std::vector<double> mean = {};
  std::vector<double> deviation = {};
  std::vector<Index> constant = {};  // columns with one value in all samples fitted to
  double column_spread = 1;          // of the table's columns, where a penalty acts on coefficients in their units
  Index skipped = 0;                 // rows left out because they lack a value
  std::string why_loss;              // what in the target suggests the loss; empty if the options name one
  FitState state;
  std::vector<FitState> history;  // at every check, including the last
  FitEnd end = FitEnd::iterations;
  double cost = 0;       // the mean loss of the samples fitted to, plus the penalty, at the model
  double null_cost = 0;  // the same for the model without features: the mean, or the class frequencies
  double null_held_out = 0;
  Index samples = 0;
  Index agents = 0;
  ModelEvaluation fitted;                   // on the samples fitted to
  std::optional<ModelEvaluation> held_out;  // on the samples held out
  Traffic traffic;                          // of everything: statistics, iterations, stopping, the last mean
  Index gradients = 0;
  double seconds = 0;
};

struct FitControl {
  std::function<void(const FitPlan&)> on_plan = {};
  std::function<void(const FitState&)> on_check = {};
  std::function<bool()> stop = {};
  /// The processes that fit together, each of which calls `fit` with the data of its own agents. `on_*` and `stop` are
  /// called only in the first.
  Team* team = &alone();
  Placement placement = Placement::automatic;
};

/// Fits one linear model to the pooled samples of all agents: it minimises their mean loss + (l2/2) ||w||^2, the
/// intercept unpenalised, however the samples are dealt and whatever units the features have: these are scaled
/// internally, and the model is in the table's units. Deterministic by seed, for any number of threads and processes.
/// Samples stay in the process that owns their agent; the complete result is in the first.
FitResult fit(const FitOptions& options, const FitControl& control = {});

}  // namespace polyhop

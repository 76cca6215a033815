// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
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

/// What is fitted, to which data, on which network.
struct FitOptions {
  DataSource data;
  /// loss: without a name it follows from the target. batch: all gives full gradients, n so many samples per agent and
  /// iteration.
  ModelOptions model = {.loss = {}, .intercept = true, .batch = {0, true}, .sampling = Sampling::shuffle};
  GraphOptions graph;
  Index iterations = 50000;  // at most
  Real tolerance = 1e-8;     // full gradients: where to stop, relative to the first gradients
  /// The share of every agent's samples that is not fitted to and decides when to stop. Drawn at random. Batches need
  /// one, `held_out_by_default` where none is given; with full gradients the fit then ends on them or on the tolerance,
  /// whichever comes first.
  static constexpr Real held_out_by_default = 0.05;
  std::optional<Real> held_out = {};
  Index seed = 0;
  Index threads = 0;
  /// All that decides the model but the data: the command's flags, a page's settings and messages come from this list.
  static const FieldTable<FitOptions>& fields();
};

/// How a fit stands, alike for all agents.
struct FitState {
  Index iteration = 0;
  double gradient = 0;  // full gradients: the largest ||g_k + d_k|| of the network, relative to the first
  double disagreement =
      0;                // the largest distance of an agent's model to its neighbourhood's mean, relative to the model
  double held_out = 0;  // mean cost on the samples held out, where there are any
};

enum class FitEnd { converged, plateau, iterations, diverged, stopped };

struct FitResult {
  Model model;
  std::string why_loss;  // what in the target speaks for the loss; empty where the options name one
  FitState state;
  std::vector<FitState> history;  // of every check, the last one too
  FitEnd end = FitEnd::iterations;
  double cost = 0;  // the mean loss of the samples fitted to, with the penalty, at the model
  Index samples = 0;
  Index agents = 0;
  ModelEvaluation fitted;                   // on the samples fitted to
  std::optional<ModelEvaluation> held_out;  // on those held out
  Traffic traffic;                          // of everything: statistics, iterations, stopping, the last mean
  Index gradients = 0;
  double seconds = 0;
};

struct FitControl {
  std::function<void(const FitState&)> on_check = {};
  std::function<bool()> stop = {};
  /// The processes that fit together, each of which calls `fit` with the data of its own agents. `on_check` and `stop`
  /// are asked in the first alone.
  Team* team = &alone();
  Placement placement = Placement::contiguous;
};

/// A linear model that all agents agree on, of the pooled samples: it minimises their mean loss + (l2/2) ||w||^2, the
/// intercept unpenalised, however the samples are dealt. With full gradients by exact diffusion, each agent with steps
/// of its own from the curvature that it meets, until the network's gradient vanishes; with batches by `auto` and its
/// averaged iterate. Where samples are held out, until these are predicted no better. Deterministic by seed, for any
/// number of threads and processes. Samples stay in the process that owns their agent; the result is whole in the
/// first.
FitResult fit(const FitOptions& options, const FitControl& control = {});

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/record.hpp"
#include "polyhop/network/placement.hpp"
#include "polyhop/network/team.hpp"

namespace polyhop {

/// How a constant step did over the tuning seeds.
struct TrialScore {
  bool diverged = false;                                        // on any seed
  double iterations = std::numeric_limits<double>::infinity();  // median to the target; infinite: not reached
  double final_risk = std::numeric_limits<double>::infinity();  // median at the end, of the iterate that the goal names
};

/// A step that diverges loses. Otherwise fewer iterations win; if they are equal (none reached the target), the smaller
/// final excess risk wins. If the goal is a final risk, only that counts.
bool is_better(const TrialScore& a, const TrialScore& b, TuningGoal goal);

/// Tries several steps and says how they did, in order. Where `to_beat` is given, a step that cannot be better than
/// that may be given up early and then scores no better than it.
using TrySteps = std::function<std::vector<TrialScore>(std::span<const double> steps, const TrialScore* to_beat)>;

/// Steps that a search tried together, how they did, and what the search had cost by then.
struct TuningTrial {
  std::vector<double> steps;
  std::vector<TrialScore> scores;  // of each step
  Tuning cost;                     // of all trial runs so far

  /// The same as numbers, for a store; and back: nothing if these are not the numbers of a trial.
  [[nodiscard]] std::vector<double> numbers() const;
  static std::optional<TuningTrial> from(std::span<const double> numbers);
};

/// What a search ended with.
struct FoundStep {
  double step = 0;
  TrialScore score;
  Index tried = 0;
};

/// The best constant step: halves `start` until it does not diverge, doubles or halves while that is better, then
/// tries both sides of the best at smaller and smaller ratios, down to 1 + resolution. At most `options.budget` steps.
/// The found step still diverges when all of them did.
FoundStep search_step(double start, const TuningOptions& options, const TrySteps& try_steps);

/// The seeds that a search runs on, which are none of those reported: as given, or the first min(5, reported) beyond
/// the largest reported. Throws InputError when a given one is reported.
std::vector<std::uint64_t> tuning_seeds(const ExperimentOptions& options);

/// How a search is watched and what it may use.
struct TuningControl {
  /// As in RunOptions; no result depends on it.
  Index threads = 0;
  /// Called after each trial of one or more steps: how many were tried so far, and the largest possible number.
  std::function<void(const std::string& method, Index tried, Index budget)> on_trial = {};
  /// Polled now and then: true ends the search without a result.
  std::function<bool()> stop = {};
  /// Where earlier searches are found and new ones are kept, by their settings.
  std::function<std::optional<Tuning>(const std::string& settings)> find = {};
  std::function<void(const std::string& settings, const Tuning& tuning)> keep = {};
  /// Where the trials of a search that was stopped are found, in order, and where each is kept once it is done. A
  /// search takes up what is found, with the same result as an unbroken one.
  std::function<std::vector<TuningTrial>(const std::string& settings)> find_trials = {};
  std::function<void(const std::string& settings, Index number, const TuningTrial& trial)> keep_trial = {};
  /// The processes that share the trial runs. Only the first process makes these calls; all of them get the result.
  Team* team = &alone();
  Placement placement = Placement::contiguous;
};

/// What a method is tuned for: its own goal, or else the experiment's.
TuningGoal goal_of(const ExperimentOptions& options, const Method& method);

/// Searches for the best constant step of a method, whatever its own rule; nothing if it was stopped. The result's
/// factor is 1, its costs are those of all trial runs, as far as they went. Deterministic except for the seconds.
///
/// A trial that can no longer win ends early, which never changes what is found. More than half of the seeds run first:
/// when one of them diverges, or when they settle that the median is no better than the best one so far, the others do
/// not run. Where iterations to the target count, a run also ends beyond those of the best. A final risk has no such
/// bound: a run may still fall below any level at its end.
std::optional<Tuning> tune_constant(const ExperimentOptions& experiment, const Method& method,
                                    const TuningControl& control = {});

/// The settings that determine what a search finds, and nothing else.
std::string tuning_settings(const ExperimentOptions& options, const Method& method);

/// A configuration without tuned steps, and what was found for the methods that had one.
struct TunedConfig {
  Config config;
  std::vector<Tuning> tunings;
};

/// Replaces every `rule = "tuned"` by a constant; nothing if it was stopped. Methods that differ only in
/// their factor share one search, and each is charged for all of it.
std::optional<TunedConfig> resolve_tuned(Config config, const TuningControl& control = {});

}  // namespace polyhop

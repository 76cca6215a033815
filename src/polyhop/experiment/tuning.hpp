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

/// Tries several steps and returns their scores, in order. A step that cannot beat `to_beat`, if given, may end early,
/// and then scores no better.
using TrySteps = std::function<std::vector<TrialScore>(std::span<const double> steps, const TrialScore* to_beat)>;

/// A run of a trial.
struct TrialRun {
  double step = 0;
  Index seed = 0;                      // its place in the list
  Index iterations = 0;                // the most it was given
  Status status = Status::unfinished;  // not run yet
  Point last = {};
};

/// Steps that a search tried together, their scores, and the search's cost up to then. Of a trial in progress there are
/// only its finished runs.
struct TuningTrial {
  std::vector<double> steps = {};
  std::vector<TrialScore> scores = {};  // of each step
  Tuning cost = {};                     // of all trial runs so far
  std::vector<TrialRun> runs = {};

  /// The same as numbers, for a store; and back, empty if these are not the numbers of a trial.
  [[nodiscard]] std::vector<double> numbers() const;
  static std::optional<TuningTrial> from(std::span<const double> numbers);
};

/// The result of a search.
struct FoundStep {
  double step = 0;
  TrialScore score;
  Index tried = 0;
};

/// Finds the best constant step: halves `start` until it does not diverge, doubles or halves while that is better, then
/// tries both sides of the best at smaller and smaller ratios, down to 1 + resolution. At most `options.budget` steps.
/// The returned step diverges only if all of them did.
FoundStep search_step(double start, const TuningOptions& options, const TrySteps& try_steps);

/// The seeds that a search runs on, none of which are reported: as given, or the first min(5, reported) after the
/// largest reported one. Throws InputError if a given one is reported.
std::vector<std::uint64_t> tuning_seeds(const ExperimentOptions& options);

/// Where a search is within a trial.
struct TrialPoint {
  Index number = 0;  // of the step: the first one that a search tries is 1
  double step = 0;
  std::uint64_t seed = 0;
  double part = 0;  // how much of the step's runs on all seeds is done
};

/// Callbacks and resources of a search.
struct TuningControl {
  /// As in RunOptions; no result depends on it.
  Index threads = 0;
  /// Called after each trial of one or more steps: how many steps were tried so far, and the most there can be.
  std::function<void(const std::string& method, Index tried, Index budget)> on_trial = {};
  /// Called after each recorded point of a trial's runs, one at a time.
  std::function<void(const std::string& method, const TrialPoint& at, Index budget)> on_trial_point = {};
  /// Called before each trial run of a method that keeps a row of every sample, with the bytes that this takes.
  std::function<void(const std::string& method, double bytes)> on_kept = {};
  /// Polled now and then: true ends the search without a result.
  std::function<bool()> stop = {};
  /// Finds earlier searches, and keeps new ones, by their settings.
  std::function<std::optional<Tuning>(const std::string& settings)> find = {};
  std::function<void(const std::string& settings, const Tuning& tuning)> keep = {};
  /// Finds the trials of an interrupted search, in order, the last one perhaps in progress, and keeps each one after
  /// each of its runs and once it is done. A search resumes after the runs found, with the same result as an
  /// uninterrupted one.
  std::function<std::vector<TuningTrial>(const std::string& settings)> find_trials = {};
  std::function<void(const std::string& settings, Index number, const TuningTrial& trial)> keep_trial = {};
  /// The processes that share the trial runs. Only the first process makes these calls; all of them get the result.
  Team* team = &alone();
  Placement placement = Placement::automatic;
};

/// What a method is tuned for: its own goal, or the experiment's.
TuningGoal goal_of(const ExperimentOptions& options, const Method& method);

/// Searches for the best constant step of a method, whatever its own rule; empty if it was stopped. The result's factor
/// is 1; its costs are those of all trial runs, as far as they went. Deterministic except for the seconds.
///
/// A trial that can no longer win ends early, which never changes the result. More than half of the seeds run first: if
/// one of them diverges, or if they settle that the median is no better than the best so far, the others do not run. If
/// the goal is iterations to the target, a run also ends once it exceeds the best. For a final risk there is no such
/// bound: a run may still fall below any level at its end.
std::optional<Tuning> tune_constant(const ExperimentOptions& experiment, const Method& method,
                                    const TuningControl& control = {});

/// The settings that determine the result of a search, and nothing else.
std::string tuning_settings(const ExperimentOptions& options, const Method& method);

/// A configuration without tuned steps, and what was found for the methods that had one.
struct TunedConfig {
  Config config;
  std::vector<Tuning> tunings;
};

/// Replaces every `rule = "tuned"` by a constant; empty if it was stopped. Methods that differ only in their factor
/// share one search; its cost counts in full for each.
std::optional<TunedConfig> resolve_tuned(Config config, const TuningControl& control = {});

}  // namespace polyhop

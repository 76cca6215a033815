// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// What methods are compared by: iterations and vectors (including the step size's) to the target, and the excess risk
/// of the last and of the averaged iterates, at the end and at equal vectors: when a run has sent as many as the
/// baseline's whole run on that seed, or at its end if it sends fewer.
enum class Score { iterations, vectors, final_risk, final_risk_averaged, equal_vectors, equal_vectors_averaged };
template <>
struct EnumNames<Score> {
  static constexpr std::array<std::pair<Score, std::string_view>, 6> names = {
      {{Score::iterations, "iterations"},
       {Score::vectors, "vectors"},
       {Score::final_risk, "final-risk"},
       {Score::final_risk_averaged, "final-risk-averaged"},
       {Score::equal_vectors, "equal-vectors"},
       {Score::equal_vectors_averaged, "equal-vectors-averaged"}}};
};
inline constexpr std::size_t scores = EnumNames<Score>::names.size();

/// A number for every score.
template <class T>
struct PerScore {
  std::array<T, scores> list{};
  T& operator[](Score s) { return list[static_cast<std::size_t>(s)]; }
  const T& operator[](Score s) const { return list[static_cast<std::size_t>(s)]; }
};

/// How a method did on an instance, over all seeds. Numbers are medians: infinite if at least half of the runs never
/// got there, NaN if nothing is known.
struct MethodScore {
  Index runs = 0;  // that ended
  Index reached = 0;
  Index diverged = 0;
  Index missing = 0;               // unfinished or failed
  Index trials = 0;                // runs of the search for its constant; 0 when it was not tuned
  std::optional<TuningGoal> goal;  // of that search
  Index trial_iterations = 0;      // over all of them; no part of the values below
  Index trial_vectors = 0;
  PerScore<double> value;
  /// The values relative to the baseline's: 0 if only the baseline never got there, infinite if only the method never
  /// did, NaN if neither did or something is unknown.
  PerScore<double> ratio;
  /// The same relative to the best of all tuned methods of the instance, whatever their algorithms and goals.
  PerScore<double> best_ratio;
};

/// One experiment, as an instance among many.
struct ScoreInstance {
  std::string name;
  Index agents = 0;
  std::string topology;
  std::string loss;
  std::string batch;
  double target = 0;
  std::vector<std::uint64_t> seeds;
  /// Excess risks below it are round-off: 1e-13 of the risk at the start, or the accuracy of the reference if that is
  /// worse. Both sides of a ratio are raised to it.
  double floor = 0;
  bool has_baseline = false;
  Tuning baseline;  // the first method that was tuned and runs with all of the step found
  /// The baseline of each score: the baseline itself, or its variant with the same algorithm and rule that was tuned
  /// for that score.
  PerScore<std::string> baselines;
  PerScore<bool> fitting = {};       // whether it was tuned for that score
  std::vector<MethodScore> methods;  // in the order of the scoreboard

  /// A method's value with excess risks raised to the floor.
  [[nodiscard]] double cost(std::size_t method, Score score) const;
};

/// One score of a method over all instances.
struct ScoreSummary {
  static constexpr std::array<double, 3> bounds = {1.05, 1.5, 3};
  Index comparable = 0;                          // instances with a ratio, be it 0 or infinite
  Index averaged = 0;                            // of them, those with a number, which the mean is of
  double mean = 0;                               // geometric; NaN without any
  std::array<Index, bounds.size()> within = {};  // ratios up to each bound
  double worst = 0;                              // NaN without any
  std::string worst_instance;
};

struct MethodSummary {
  std::string method;
  Index instances = 0;  // where it has runs
  Index solved = 0;     // where most of its runs reached the target
  Index runs = 0;
  Index diverged = 0;
  Index trials = 0;  // of its searches
  Index trial_iterations = 0;
  Index trial_vectors = 0;
  PerScore<ScoreSummary> scores;
  PerScore<ScoreSummary> best;  // relative to the best of all tuned methods
};

/// Many experiments, and how each method did on them relative to the best constant step of each.
struct Scoreboard {
  std::vector<std::string> methods;  // in the order in which records name them
  std::vector<ScoreInstance> instances;
  std::vector<MethodSummary> summaries;  // in the same order
  double seconds = 0;                    // inside iterations, searches included
  std::vector<std::pair<std::string, std::string>> provenance;
};

/// Builds a scoreboard from records, one at a time, so that only one needs to be in memory, without its models.
/// Instances are in the order of the records.
class ScoreboardMaker {
 public:
  void add(const Record& record);
  [[nodiscard]] Scoreboard scoreboard() const;

 private:
  Scoreboard board_;
  std::vector<std::vector<std::string>> methods_;  // of each instance, in its own order
  std::vector<std::pair<std::string, std::set<std::string>>> provenance_;
};

/// The methods' indices, best first: most instances solved, then most with a ratio of iterations, then the smallest
/// geometric mean of these. Where the baseline never got there, these leave a tie: then the fewest iterations and the
/// smallest final risk decide, relative to the best method of each instance.
std::vector<std::size_t> ranked(const Scoreboard& board);

/// Whether there are baselines, none of which reached the target.
bool baseline_never_solves(const Scoreboard& board);

/// Performance profiles (Dolan and More 2002): for each method and instance, its cost divided by the smallest of any
/// method. The share of instances at or below tau is what the method solves within tau times the best.
struct Profiles {
  Index instances = 0;                      // that any method solved
  std::vector<std::vector<double>> ratios;  // of each method, ascending; those that it did not solve are left out
};
Profiles performance_profiles(const Scoreboard& board, Score score);

/// The scores for which profiles are shown.
inline constexpr std::array<Score, 3> profiled = {Score::iterations, Score::vectors, Score::final_risk_averaged};

}  // namespace polyhop

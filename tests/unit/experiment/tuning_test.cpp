// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/experiment/toml_reader.hpp"
#include "support/temporary_folder.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::tuning_test {
namespace {

using Seed = std::vector<std::uint64_t>;
constexpr double infinite = std::numeric_limits<double>::infinity();

// ---- the search alone ----

// Scores by a formula; steps above `limit` diverge. Keeps what was tried.
struct Formula {
  std::function<TrialScore(double step)> score;
  std::vector<double> tried = {};

  FoundStep search(double start, const TuningOptions& options = {}) {
    tried.clear();
    return search_step(start, options, [&](std::span<const double> steps, const TrialScore*) {
      std::vector<TrialScore> scores;
      for (const double step : steps) {
        tried.push_back(step);
        scores.push_back(score(step));
      }
      return scores;
    });
  }
};

Formula cliff(double limit) {
  return {[limit](double step) { return TrialScore{step > limit, 100 / step, 1}; }};
}

// Smooth around the best step.
Formula valley(double best) {
  return {[best](double step) { return TrialScore{false, 10 + std::abs(std::log(step / best)), 1}; }};
}

void expect_within(double found, double best, double ratio) {
  EXPECT_LE(found, best * ratio);
  EXPECT_GE(found, best / ratio);
}

TEST(TuningSearch, FindsTheBestStepFromAnyStart) {
  for (const double start : {1e-3, 0.3, 1.0, 7.0, 1e3}) {
    expect_within(valley(1).search(start).step, 1, 1.05);
    const double before_the_cliff = cliff(1).search(start).step;
    EXPECT_LE(before_the_cliff, 1);
    EXPECT_GE(before_the_cliff, 1 / 1.05);
  }
}

TEST(TuningSearch, IsAsFineAsAskedFor) {
  TuningOptions options;
  for (const double resolution : {0.5, 0.1, 0.001}) {
    options.resolution = resolution;
    Formula formula = valley(1);
    expect_within(formula.search(0.3, options).step, 1, 1 + resolution);
  }
}

TEST(TuningSearch, HalvesAStartThatDiverges) {
  Formula formula = cliff(1);
  const FoundStep found = formula.search(100);
  EXPECT_FALSE(found.score.diverged);
  EXPECT_EQ((std::vector<double>(formula.tried.begin(), formula.tried.begin() + 8)),
            (std::vector<double>{100, 50, 25, 12.5, 6.25, 3.125, 1.5625, 0.78125}));
}

TEST(TuningSearch, TriesNoStepTwice) {
  for (const double start : {1e-3, 0.3, 1.0, 7.0, 1e3}) {
    for (Formula formula : {valley(1), cliff(1)}) {
      const FoundStep found = formula.search(start);
      const std::set<double> different(formula.tried.begin(), formula.tried.end());
      EXPECT_EQ(different.size(), formula.tried.size()) << start;
      EXPECT_EQ(found.tried, static_cast<Index>(formula.tried.size()));
    }
  }
}

TEST(TuningSearch, KeepsToItsBudgetAndGivesTheBestSoFar) {
  TuningOptions options;
  for (Index budget = 1; budget <= 20; ++budget) {
    options.budget = budget;
    for (const double start : {0.1, 1.0, 20.0}) {
      Formula formula = valley(1);
      const FoundStep found = formula.search(start, options);
      EXPECT_LE(found.tried, budget);
      for (const double step : formula.tried) EXPECT_LE(found.score.iterations, formula.score(step).iterations);
    }
  }
  options.budget = 5;
  const FoundStep none = cliff(1).search(1e6, options);
  EXPECT_TRUE(none.score.diverged);
  EXPECT_EQ(none.tried, 5);
}

TEST(TuningSearch, TakesTheSmallestFinalRiskWhereNobodyReachesTheTarget) {
  Formula formula{[](double step) { return TrialScore{step > 4, infinite, 1 + std::abs(std::log(step))}; }};
  expect_within(formula.search(0.01).step, 1, 1.05);
}

TEST(TuningSearch, StaysWhereNothingIsBetter) {
  EXPECT_EQ((Formula{[](double) { return TrialScore{false, 0, 0}; }}.search(3).step), 3);
}

TEST(TuningScore, IsBetterWithFewerIterationsAndWorstWhenDiverged) {
  const auto goal = TuningGoal::iterations_to_target;
  EXPECT_TRUE(is_better({false, 10, 5}, {false, 11, 1}, goal));
  EXPECT_FALSE(is_better({false, 11, 1}, {false, 10, 5}, goal));
  EXPECT_TRUE(is_better({false, infinite, 1}, {false, infinite, 5}, goal));
  EXPECT_TRUE(is_better({false, infinite, 9}, {true, 1, 0}, goal));
  EXPECT_FALSE(is_better({true, 1, 0}, {true, 2, 0}, goal));
  EXPECT_FALSE(is_better({false, 10, 5}, {false, 10, 5}, goal));
}

TEST(TuningScore, IsTheFinalRiskAloneWhenThatIsTheGoal) {
  for (const auto goal : {TuningGoal::final_risk, TuningGoal::final_risk_averaged}) {
    EXPECT_TRUE(is_better({false, infinite, 1}, {false, 10, 5}, goal));
    EXPECT_FALSE(is_better({false, 10, 5}, {false, infinite, 1}, goal));
    EXPECT_TRUE(is_better({false, 10, 5}, {true, 10, 1}, goal));
  }
}

// ---- seeds ----

// Four agents on a ring; `settings` are lines as after --set.
Config small(const std::string& settings = "", const std::string& step = "\"tuned\"", const std::string& bottom = "") {
  Value root = read_toml(R"(
iterations = 400
record_every = 1
target = 1e-4
seeds = "0..2"
[graph]
topology = "ring"
agents = 4
[problem]
dimension = 30
samples = 2
[[method]]
name = "m"
step = )" + step + "\n" + bottom);
  std::istringstream lines(settings);
  for (std::string line; std::getline(lines, line);) apply_setting(root, line);
  return read_config(root);
}

TEST(TuningSeeds, AreNoneOfTheReportedAndAtMostFive) {
  ExperimentOptions options;
  options.seeds.list = {3, 9, 4};
  EXPECT_EQ(tuning_seeds(options), (Seed{10, 11, 12}));
  options.seeds.list = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(tuning_seeds(options), (Seed{8, 9, 10, 11, 12}));
  options.tuning.seeds = Seeds{{100, 7000}};
  EXPECT_EQ(tuning_seeds(options), (Seed{100, 7000}));
}

TEST(TuningSeeds, RefuseWhatIsReported) {
  ExperimentOptions options;
  options.seeds.list = {0, 1, 2};
  options.tuning.seeds = Seeds{{5, 2}};
  const auto error = refusal([&] { return tuning_seeds(options); });
  EXPECT_STREQ(error.what(),
               "tuning.seeds: found 2, which is one of the reported seeds; a step must be tuned on others");
}

// ---- the search on runs ----

Method constant(double step) {
  Value rule;
  rule["rule"] = "constant";
  rule["value"] = step;
  return {"constant", read_algorithm("atc", "algorithm"), read_rule(rule, "step"), true};
}

double median(std::vector<double> x) {
  std::ranges::sort(x);
  return x.size() % 2 == 1 ? x[x.size() / 2] : (x[x.size() / 2 - 1] + x[x.size() / 2]) / 2;
}

// The score of a step from whole runs, nothing given up early.
class WholeRuns {
 public:
  explicit WholeRuns(const ExperimentOptions& options) : options_(options), seeds_(tuning_seeds(options)) {
    // The risk that decides between equals is that where a run ended.
    options_.stop_at_target = options.tuning.goal == TuningGoal::iterations_to_target;
    for (const std::uint64_t seed : seeds_) instances_.push_back(make_instance(options_, seed));
  }
  // Of the run on the s-th seed.
  Cell run(double step, std::size_t s) const { return run_cell(options_, constant(step), instances_[s], seeds_[s], 1); }
  TrialScore score(double step) const {
    TrialScore out;
    std::vector<double> iterations;
    std::vector<double> risks;
    for (std::size_t s = 0; s < seeds_.size(); ++s) {
      const Cell cell = run(step, s);
      iterations_ += cell.points.back().iteration;
      double reached = infinite;
      for (const Point& point : cell.points) {
        if (point.excess_risk <= options_.target) reached = std::min(reached, static_cast<double>(point.iteration));
      }
      out.diverged = out.diverged || cell.status == Status::diverged;
      iterations.push_back(reached);
      const bool averaged = options_.tuning.goal == TuningGoal::final_risk_averaged;
      risks.push_back(averaged ? cell.points.back().excess_risk_averaged : cell.points.back().excess_risk);
    }
    out.iterations = median(iterations);
    out.final_risk = median(risks);
    return out;
  }
  // Of all runs so far.
  [[nodiscard]] Index iterations() const { return iterations_; }

 private:
  mutable Index iterations_ = 0;
  ExperimentOptions options_;
  Seed seeds_;
  std::vector<Instance> instances_;
};

// 200 steps from an eighth of the one found to eight times it.
std::vector<double> grid_around(double step) {
  std::vector<double> grid;
  for (int n = 0; n < 200; ++n) grid.push_back(step / 8 * std::pow(64.0, n / 199.0));
  return grid;
}

TEST(TuneConstant, IsWithinFivePercentOfTheBestOfAFineGrid) {
  for (const char* top : {"", "tuning.seeds = \"3..6\"\n", "problem.batch = 2\n"}) {
    SCOPED_TRACE(top);
    const Config config = small(top);
    const WholeRuns whole(config.options);
    const double found = tune_constant(config.options, config.methods[0])->value;
    const TrialScore score = whole.score(found);
    EXPECT_FALSE(score.diverged);
    double best = infinite;
    for (const double step : grid_around(found)) {
      const TrialScore other = whole.score(step);
      if (!other.diverged) best = std::min(best, other.iterations);
    }
    ASSERT_LT(best, 400);
    EXPECT_LE(score.iterations, 1.05 * best);
  }
}

// With one step to try, that is where the search begins.
double start_of(Config config) {
  config.options.tuning.budget = 1;
  return tune_constant(config.options, config.methods[0])->value;
}

TEST(TuneConstant, GivesUpOnlyWhatCouldNotWin) {
  // On the last seeds some steps have the better median and diverge after the others are done.
  for (const auto& [goal, name] : EnumNames<TuningGoal>::names) {
    for (const char* seeds : {"3", "\"3..5\"", "\"3..6\"", "\"10..19\"", "\"60..64\""}) {
      SCOPED_TRACE(std::string(name) + " on " + seeds);
      const bool to_target = goal == TuningGoal::iterations_to_target;
      const Config config = small("tuning.goal = \"" + std::string(name) + "\"\ntuning.seeds = " + std::string(seeds) +
                                  "\n" + (to_target ? "" : "iterations = 100\n"));
      const WholeRuns whole(config.options);
      Formula formula{[&](double step) { return whole.score(step); }};
      const Tuning found = *tune_constant(config.options, config.methods[0]);
      EXPECT_EQ(found.value, formula.search(start_of(config), config.options.tuning).step);
      // A final risk on one seed is known at the end of the run.
      const bool can_save = to_target || tuning_seeds(config.options).size() > 1;
      EXPECT_TRUE(can_save ? found.iterations < whole.iterations() : found.iterations == whole.iterations());
    }
  }
}

TEST(TuneConstant, ChargesATrialThatIsLostForTheRunsThatItMade) {
  const Config config = small("tuning.goal = \"final-risk\"\niterations = 60\n");
  const WholeRuns whole(config.options);
  Index tried = 0, runs = 0, iterations = 0;
  // Two of the three seeds settle that a step has lost.
  const auto wanted = search_step(start_of(config), config.options.tuning, [&](auto steps, const TrialScore* to_beat) {
    std::vector<TrialScore> scores;
    for (const double step : steps) {
      bool diverged = false;
      bool behind = to_beat != nullptr;
      for (std::size_t s = 0; s < 3 && !(s == 2 && (diverged || behind)); ++s) {
        const Cell cell = whole.run(step, s);
        diverged = diverged || cell.status == Status::diverged;
        behind = behind && cell.points.back().excess_risk >= to_beat->final_risk;
        iterations += cell.points.back().iteration;
        ++runs;
      }
      scores.push_back(whole.score(step));
      ++tried;
    }
    return scores;
  });
  const Tuning found = *tune_constant(config.options, config.methods[0]);
  EXPECT_EQ(found.value, wanted.step);
  EXPECT_EQ(found.trials, runs);
  EXPECT_EQ(found.iterations, iterations);
  EXPECT_EQ(found.vectors, 8 * iterations);
  EXPECT_LT(runs, 3 * tried);
}

TEST(TuneConstant, StartsBelowOneOverTheSmoothness) {
  // Nothing diverges at the start, whatever the data's scale.
  for (const char* top : {"", "problem.scale_spread = 1.0\n", "problem.loss = \"logistic\"\nproblem.l2 = 0.1\n"}) {
    const Config config = small(top);
    EXPECT_FALSE(WholeRuns(config.options).score(start_of(config)).diverged) << top;
  }
}

// One agent, one unknown, noise: on this seed the first sample's h is so small that 1/h^2 is thousands of times too
// large a step for the others.
Config steep(Index budget) {
  Config config = small("tuning.seeds = 13\n");
  config.options.graph.topology = Topology::path;
  config.options.graph.agents = 1;
  config.options.problem.dimension = 1;
  config.options.problem.samples = 20;
  config.options.problem.noise = 1;
  config.options.tuning.budget = budget;
  return config;
}

TEST(TuneConstant, HalvesAStartThatDiverges) {
  const Config config = steep(40);
  const double found = tune_constant(config.options, config.methods[0])->value;
  EXPECT_FALSE(WholeRuns(config.options).score(found).diverged);
  EXPECT_LT(found, 10);
}

TEST(TuneConstant, SaysWhenEveryStepDiverges) {
  const Config config = steep(2);
  const auto error = refusal([&] { return tune_constant(config.options, config.methods[0]); });
  EXPECT_EQ(error.path(), "method.\"m\".step");
  EXPECT_NE(error.message().find("diverges on some tuning seed; raise tuning.budget"), std::string::npos)
      << error.what();
}

TEST(TuneConstant, AddsUpWhatItsRunsCost) {
  Config config = small("tuning.goal = \"final-risk\"\niterations = 10\ntuning.seeds = 3\n");
  Index tried = 0;
  TuningControl control;
  control.on_trial = [&](const std::string& method, Index count, Index budget) {
    EXPECT_EQ(method, "m");
    EXPECT_GT(count, tried);
    EXPECT_LE(count, budget);
    tried = count;
  };
  const Tuning whole = *tune_constant(config.options, config.methods[0], control);
  // One seed, whole runs too short to diverge, four agents on a ring with eight directions.
  EXPECT_EQ(whole.trials, tried);
  EXPECT_EQ(whole.iterations, 10 * whole.trials);
  EXPECT_EQ(whole.gradients, 4 * whole.iterations);
  EXPECT_EQ(whole.vectors, 8 * whole.iterations);
  EXPECT_EQ(whole.scalars, 0);
  EXPECT_EQ(whole.values, 0);
  EXPECT_GT(whole.seconds, 0);
  EXPECT_EQ(whole.factor, 1);
  EXPECT_EQ(whole.method, "m");

  config = small();
  const Tuning stopped = *tune_constant(config.options, config.methods[0]);
  EXPECT_EQ(stopped.gradients, 4 * stopped.iterations);
  EXPECT_EQ(stopped.vectors, 8 * stopped.iterations);
}

void expect_same(const Tuning& a, const Tuning& b) {
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.trials, b.trials);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.vectors, b.vectors);
  EXPECT_EQ(a.scalars, b.scalars);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.gradients, b.gradients);
}

TEST(TuneConstant, FindsTheSameOnAnyNumberOfThreads) {
  for (const char* top : {"", "tuning.goal = \"final-risk\"\niterations = 60\n",
                          "tuning.goal = \"final-risk-averaged\"\niterations = 60\n"}) {
    const Config config = small(top);
    const Tuning one = *tune_constant(config.options, config.methods[0], {.threads = 1});
    for (const Index threads : {2, 5}) {
      expect_same(*tune_constant(config.options, config.methods[0], {.threads = threads}), one);
    }
  }
}

TEST(TuneConstant, NoClockDecidesWhatIsFound) {
  const Config free = small();
  const Config hurried = small("time_limit = 1e-300\n");
  expect_same(*tune_constant(hurried.options, hurried.methods[0]), *tune_constant(free.options, free.methods[0]));
}

TEST(TuneConstant, TakesTheSmallestFinalRiskWhenThatIsTheGoalOrNobodyReachesTheTarget) {
  for (const char* top : {"tuning.goal = \"final-risk\"\niterations = 60\n", "target = 1e-300\niterations = 60\n"}) {
    SCOPED_TRACE(top);
    const Config config = small(top);
    const WholeRuns whole(config.options);
    const double found = tune_constant(config.options, config.methods[0])->value;
    double best = infinite;
    for (const double step : grid_around(found)) {
      const TrialScore score = whole.score(step);
      if (!score.diverged) best = std::min(best, score.final_risk);
    }
    // 5% in the step are a few per cent in the exponent of the risk.
    EXPECT_LE(std::log(whole.score(found).final_risk), 0.95 * std::log(best));
  }
}

// Where samples contradict each other a large step is noisy in the end, and its noise averages out.
constexpr const char* noisy =
    "problem.dimension = 3\nproblem.samples = 20\nproblem.noise = 1\niterations = 1000\nrecord_every = 50\n";

TEST(TuneConstant, TakesTheStepThatIsBestForTheIterateThatTheGoalNames) {
  Config config = small(noisy);
  const auto found = [&](TuningGoal goal) {
    config.options.tuning.goal = goal;
    return tune_constant(config.options, config.methods[0])->value;
  };
  const double for_last = found(TuningGoal::final_risk);
  const double for_average = found(TuningGoal::final_risk_averaged);
  EXPECT_GT(for_average, 1.5 * for_last);
  const WholeRuns averages(config.options);
  const double best = averages.score(for_average).final_risk;
  EXPECT_LT(best, averages.score(for_last).final_risk);
  for (const double step : grid_around(for_average)) {
    const TrialScore other = averages.score(step);
    EXPECT_TRUE(other.diverged || other.final_risk >= 0.95 * best) << step;
  }
}

TEST(TuneConstant, AMethodsOwnGoalComesBeforeTheExperiments) {
  const Config own = small(noisy, R"({ rule = "tuned", goal = "final-risk-averaged" })");
  Config same = small(noisy);
  EXPECT_NE(tuning_settings(own.options, own.methods[0]), tuning_settings(same.options, same.methods[0]));
  same.options.tuning.goal = TuningGoal::final_risk_averaged;
  EXPECT_EQ(tuning_settings(own.options, own.methods[0]), tuning_settings(same.options, same.methods[0]));
  EXPECT_EQ(tune_constant(own.options, own.methods[0])->value, tune_constant(same.options, same.methods[0])->value);
}

TEST(TuneConstant, KeepsToItsBudget) {
  for (const Index budget : {1, 2, 3, 8}) {
    Config config = small();
    config.options.tuning.budget = budget;
    EXPECT_LE(tune_constant(config.options, config.methods[0])->trials, 2 * 3 * budget);
  }
}

TEST(TuneConstant, EndsWithoutAResultWhenStopped) {
  const Config config = small();
  EXPECT_FALSE(tune_constant(config.options, config.methods[0], {.stop = [] { return true; }}));
  EXPECT_FALSE(resolve_tuned(config, {.stop = [] { return true; }}));
}

// Everything but the seconds.
std::vector<double> found(const Tuning& t) {
  std::vector<double> out = {t.value, t.factor};
  for (const Index n : {t.trials, t.iterations, t.vectors, t.scalars, t.values, t.gradients}) {
    out.push_back(static_cast<double>(n));
  }
  return out;
}

TEST(TuneConstant, TakesUpTheTrialsOfASearchThatWasStopped) {
  const Config config = small();
  const Tuning unbroken = tune_constant(config.options, config.methods[0]).value();
  std::vector<TuningTrial> kept;
  bool stopped = false;
  Index made = 0;  // in this attempt
  TuningControl control;
  control.threads = 1;
  control.find_trials = [&](const std::string& settings) {
    EXPECT_EQ(settings, tuning_settings(config.options, config.methods[0]));
    return kept;
  };
  control.keep_trial = [&](const std::string&, Index number, const TuningTrial& trial) {
    ASSERT_LE(number, std::ssize(kept));
    kept.resize(number + 1);
    EXPECT_TRUE(kept[number].scores.empty()) << "no trial is made twice";
    kept[number] = TuningTrial::from(trial.numbers()).value();
    made += trial.runs.empty() ? 0 : 1;
    stopped = true;
  };
  control.stop = [&] { return stopped; };
  std::optional<Tuning> resumed;
  Index all_made = 0;
  for (; !resumed; all_made += made) {
    made = 0;
    stopped = false;
    resumed = tune_constant(config.options, config.methods[0], control);
    ASSERT_LE(made, 1);
    ASSERT_LE(all_made, unbroken.trials);
  }
  EXPECT_EQ(all_made, unbroken.trials) << "no run is made twice";
  EXPECT_EQ(found(*resumed), found(unbroken));
}

TEST(TuneConstant, TellsWhereATrialIs) {
  const Config config = small();
  const auto seeds = tuning_seeds(config.options);
  ASSERT_GT(seeds.size(), 1U);
  Index tried = 0;
  std::set<std::uint64_t> heard;
  double first = 1, last = 0;  // share of the first step
  TuningControl control;
  control.threads = 1;
  control.on_trial = [&](const std::string&, Index count, Index) { tried = count; };
  control.on_trial_point = [&](const std::string& method, const TrialPoint& at, Index budget) {
    EXPECT_EQ(method, "m");
    EXPECT_EQ(budget, config.options.tuning.budget);
    EXPECT_GT(at.number, tried);
    EXPECT_LE(at.number, tried + 2);
    EXPECT_NE(std::ranges::find(seeds, at.seed), seeds.end());
    EXPECT_LE(at.part, 1);
    if (at.number > 1) return;
    first = std::min(first, at.part);
    EXPECT_GE(at.part, last);
    last = at.part;
    heard.insert(at.seed);
  };
  ASSERT_TRUE(tune_constant(config.options, config.methods[0], control));
  EXPECT_EQ(heard.size(), seeds.size());
  EXPECT_EQ(first, 0);
  EXPECT_GT(last, 1 - 1.0 / static_cast<double>(seeds.size()));
}

TEST(TuneConstant, LeavesTrialsOfAnotherSearchAlone) {
  const Config config = small();
  TuningTrial other;
  other.steps = {123};
  other.scores.resize(1);
  other.cost.trials = 1000;
  TuningControl control;
  control.find_trials = [&](const std::string&) { return std::vector<TuningTrial>{other, other}; };
  EXPECT_EQ(found(*tune_constant(config.options, config.methods[0], control)),
            found(*tune_constant(config.options, config.methods[0])));
}

TEST(TuningTrial, IsNotReadFromOtherNumbers) {
  TuningTrial trial;
  trial.steps = {0.5, 2};
  trial.scores = {{true, 7, 0.25}, {}};
  std::vector<double> numbers = trial.numbers();
  EXPECT_EQ(TuningTrial::from(numbers)->numbers(), numbers);
  numbers.pop_back();
  EXPECT_FALSE(TuningTrial::from(numbers));
  EXPECT_FALSE(TuningTrial::from({}));
  trial.runs = {{.step = 0.5, .seed = 1, .iterations = 20, .status = Status::target}};
  trial.runs[0].last.excess_risk = 0.25;
  trial.runs[0].last.excess_risk_averaged = 0.5;
  numbers = trial.numbers();
  EXPECT_EQ(TuningTrial::from(numbers)->numbers(), numbers);
  numbers.pop_back();
  EXPECT_FALSE(TuningTrial::from(numbers));
}

// ---- tuned methods of an experiment ----

TEST(ResolveTuned, PutsConstantsInTheirPlaceAfterOneSearch) {
  const Config config = small("", "\"tuned\"", R"(
[[method]]
name = "half"
step = { rule = "tuned", factor = 0.5 }
[[method]]
name = "other"
step = "gap"
)");
  ASSERT_TRUE(config.methods[0].tuned && config.methods[1].tuned);
  EXPECT_FALSE(config.methods[2].tuned);
  int searches = 0;
  const auto tuned = resolve_tuned(config, {.keep = [&](const std::string&, const Tuning&) { ++searches; }});
  EXPECT_EQ(searches, 1);
  ASSERT_EQ(tuned->tunings.size(), 2U);
  EXPECT_EQ(tuned->tunings[0].method, "m");
  EXPECT_EQ(tuned->tunings[0].factor, 1);
  EXPECT_EQ(tuned->tunings[1].method, "half");
  EXPECT_EQ(tuned->tunings[1].factor, 0.5);
  expect_same(tuned->tunings[0], tuned->tunings[1]);
  const double value = tuned->tunings[0].value;
  ASSERT_EQ(tuned->config.methods.size(), 3U);
  EXPECT_EQ(tuned->config.methods[0].rule.options.find("value")->text(), Value(value).text());
  EXPECT_EQ(tuned->config.methods[1].rule.options.find("value")->text(), Value(0.5 * value).text());
  EXPECT_EQ(tuned->config.methods[2].rule.name, "gap");
  for (const Method& method : tuned->config.methods) EXPECT_FALSE(method.tuned);
}

TEST(ResolveTuned, LeavesOtherMethodsAloneAndSearchesNothing) {
  const auto tuned =
      resolve_tuned(small("", "\"gap\""), {.on_trial = [](const std::string&, Index, Index) { FAIL(); }});
  EXPECT_TRUE(tuned->tunings.empty());
  EXPECT_EQ(tuned->config.methods[0].rule.name, "gap");
}

TEST(ResolveTuned, TakesWhatAnEarlierSearchFound) {
  const Config config = small("", "{ rule = \"tuned\", factor = 2.0, goal = \"final-risk\" }");
  Tuning earlier;
  earlier.value = 0.125;
  earlier.trials = 77;
  TuningControl control;
  control.find = [&](const std::string& settings) -> std::optional<Tuning> {
    EXPECT_EQ(settings, tuning_settings(config.options, config.methods[0]));
    return earlier;
  };
  control.on_trial = [](const std::string&, Index, Index) { FAIL(); };
  control.keep = [](const std::string&, const Tuning&) { FAIL(); };
  const auto tuned = resolve_tuned(config, control);
  EXPECT_EQ(tuned->tunings[0].trials, 77);
  EXPECT_EQ(tuned->tunings[0].goal, TuningGoal::final_risk) << "whatever the earlier one says";
  EXPECT_EQ(tuned->config.methods[0].rule.options.find("value")->text(), "0.25");
}

TEST(ResolveTuned, KnowsASearchByWhatDeterminesIt) {
  const auto settings = [](const std::string& top, const std::string& step = "\"tuned\"") {
    const Config config = small(top, step);
    return tuning_settings(config.options, config.methods[0]);
  };
  const std::string base = settings("");
  // The reported seeds matter only through those that are tuned on.
  for (const char* same : {"name = \"x\"\n", "stop_at_target = true\n", "tuning.seeds = \"3..5\"\n"}) {
    EXPECT_EQ(settings(same), base) << same;
  }
  for (const char* other : {"start = \"normal\"\n", "tuning.budget = 7\n", "tuning.seeds = \"3..6\"\n",
                            "problem.noise = 1.0\n", "graph.weights = \"lazy\"\n"}) {
    EXPECT_NE(settings(other), base) << other;
  }
  EXPECT_EQ(settings("", "{ rule = \"tuned\", factor = 0.5 }"), base);
  EXPECT_NE(settings("", "{ rule = \"tuned\", of = \"decay\" }"), base);
}

TEST(ResolveTuned, IsPartOfARun) {
  const Config config = small("", "{ rule = \"tuned\", factor = 0.5, of = \"constant\" }");
  const Record record = run(config);
  ASSERT_EQ(record.tunings.size(), 1U);
  for (const Cell& cell : record.cells) {
    EXPECT_EQ(cell.points.back().step_max, 0.5 * record.tunings[0].value);
    EXPECT_EQ(cell.points.back().step_min, cell.points.back().step_max);
  }
  const auto& method = (*record.config.find("method")->as<Value::Array>())[0];
  EXPECT_EQ(method.find("step")->text(), "{ rule = \"tuned\", factor = 0.5, of = \"constant\" }");
}

class StoredSearch : public test::TemporaryFolder {};

TEST_F(StoredSearch, GoesOnWhereItWasStopped) {
  const Config config = small();
  const Record unbroken = run(config);
  std::vector<Index> tried;  // what was told of the search, up to where each run stopped
  bool stopped = true;
  Record record;
  for (Index runs = 0; stopped && runs < 100; ++runs) {
    Store store(folder_.string(), Store::Mode::write);
    stopped = false;
    Index trials = 0;
    RunOptions options;
    options.store = &store;
    options.on_trial = [&](const std::string&, Index, Index) { stopped = ++trials > runs; };
    options.stop = [&] { return stopped; };
    record = run(config, options);
    tried.push_back(trials);
  }
  ASSERT_FALSE(stopped);
  EXPECT_GT(tried.size(), 3U);
  ASSERT_EQ(record.tunings.size(), 1U);
  EXPECT_EQ(found(record.tunings[0]), found(unbroken.tunings[0]));
  ASSERT_EQ(record.cells.size(), unbroken.cells.size());
  for (std::size_t n = 0; n < record.cells.size(); ++n) {
    EXPECT_EQ(record.cells[n].points.back().excess_risk, unbroken.cells[n].points.back().excess_risk);
  }
  const Store store(folder_.string(), Store::Mode::read);
  EXPECT_TRUE(store.trials(CellKey{"", 0, tuning_settings(config.options, config.methods[0])}.id()).empty());
}

}  // namespace
}  // namespace polyhop::tuning_test

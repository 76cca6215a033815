// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/scoreboard.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/scoreboards.hpp"

namespace polyhop::scoreboard_test {
namespace {

using test::instance;
using test::make_scoreboard;
using test::run;
constexpr double infinity = std::numeric_limits<double>::infinity();

double ratio(const Scoreboard& board, std::size_t instance, std::size_t method, Score score = Score::iterations) {
  return board.instances[instance].methods[method].ratio[score];
}

TEST(Scoreboard, RatiosAreOfMediansToTheTunedMethods) {
  const Scoreboard board = make_scoreboard(
      {instance("a", {run("tuned", 0, 40), run("GAP", 0, 10), run("tuned", 1, 40), run("GAP", 1, 30)})});
  EXPECT_EQ(board.methods, (std::vector<std::string>{"tuned", "GAP"}));
  EXPECT_EQ(board.instances[0].methods[1].value[Score::iterations], 20);
  EXPECT_EQ(ratio(board, 0, 0), 1);
  EXPECT_EQ(ratio(board, 0, 1), 0.5);
  // A run of `run` sends 3 vectors per iteration.
  EXPECT_EQ(board.instances[0].methods[1].value[Score::vectors], 60);
  EXPECT_EQ(ratio(board, 0, 1, Score::vectors), 0.5);
}

TEST(Scoreboard, TheBaselineRunsWithAllOfTheConstantFound) {
  Record record = instance("a", {run("half", 0, 40), run("tuned", 0, 20)});
  record.tunings = {test::tuning("half", 0.5), test::tuning("tuned", 1)};
  const Scoreboard board = make_scoreboard({record});
  EXPECT_EQ(board.instances[0].baseline.method, "tuned");
  EXPECT_EQ(ratio(board, 0, 0), 2);
}

TEST(Scoreboard, WithoutATunedMethodThereIsNoRatio) {
  Record record = instance("a", {run("GAP", 0, 40)});
  record.tunings = {};
  const Scoreboard board = make_scoreboard({record});
  EXPECT_FALSE(board.instances[0].has_baseline);
  EXPECT_TRUE(std::isnan(ratio(board, 0, 0)));
  EXPECT_EQ(board.summaries[0].solved, 1);
  EXPECT_EQ(board.summaries[0].scores[Score::iterations].comparable, 0);
}

TEST(Scoreboard, WhoNeverGetsThereHasNoNumber) {
  const Scoreboard board = make_scoreboard({instance("a", {run("tuned", 0, 40), run("GAP", 0, -1)}),
                                            instance("b", {run("tuned", 0, -1), run("GAP", 0, 40)}),
                                            instance("c", {run("tuned", 0, -1), run("GAP", 0, -1)})});
  EXPECT_EQ(ratio(board, 0, 1), infinity);
  EXPECT_EQ(ratio(board, 1, 1), 0);
  EXPECT_TRUE(std::isnan(ratio(board, 2, 1)));
  const ScoreSummary& gap = board.summaries[1].scores[Score::iterations];
  EXPECT_EQ(gap.comparable, 2);
  EXPECT_EQ(gap.averaged, 0);
  EXPECT_TRUE(std::isnan(gap.mean));
  EXPECT_EQ(gap.within[0], 1) << "the one that the baseline did not solve";
  EXPECT_EQ(gap.worst, infinity);
  EXPECT_EQ(gap.worst_instance, "a");
  EXPECT_EQ(board.summaries[1].solved, 1);
}

TEST(Scoreboard, SummariesAreGeometricMeansAndCounts) {
  std::vector<Record> records;
  for (const Index reached : {10, 20, 40, 80}) {  // 0.5, 1, 2, 4 times the baseline
    records.push_back(instance("i" + std::to_string(reached), {run("tuned", 0, 20), run("GAP", 0, reached)}));
  }
  const Scoreboard board = make_scoreboard(records);
  const ScoreSummary& gap = board.summaries[1].scores[Score::iterations];
  EXPECT_DOUBLE_EQ(gap.mean, std::sqrt(2.0));
  EXPECT_EQ(gap.averaged, 4);
  EXPECT_EQ(gap.within, (std::array<Index, 3>{2, 2, 3}));
  EXPECT_EQ(gap.worst, 4);
  EXPECT_EQ(gap.worst_instance, "i80");
}

TEST(Scoreboard, ARatioAtABoundIsWithinIt) {
  std::vector<Record> records;
  for (const Index reached : {30, 60}) {  // 1.5 and 3 times the baseline
    records.push_back(instance("i" + std::to_string(reached), {run("tuned", 0, 20), run("GAP", 0, reached)}));
  }
  EXPECT_EQ(make_scoreboard(records).summaries[1].scores[Score::iterations].within, (std::array<Index, 3>{0, 1, 2}));
}

TEST(Scoreboard, WhoIsThereFromTheBeginningIsAsGoodAsABaselineThatIs) {
  const Scoreboard board = make_scoreboard({instance("a", {run("tuned", 0, 0), run("GAP", 0, 0), run("slow", 0, 10)})});
  EXPECT_EQ(ratio(board, 0, 0), 1);
  EXPECT_EQ(ratio(board, 0, 1), 1);
  EXPECT_TRUE(std::isnan(ratio(board, 0, 2))) << "a multiple of 0";
}

TEST(Scoreboard, DivergedRunsAreCountedAndInfinitelyFar) {
  Cell lost = run("GAP", 0, -1);
  lost.status = Status::diverged;
  const Scoreboard board = make_scoreboard({instance("a", {run("tuned", 0, 20), lost})});
  EXPECT_EQ(board.instances[0].methods[1].diverged, 1);
  EXPECT_EQ(board.summaries[1].diverged, 1);
  EXPECT_EQ(board.summaries[1].runs, 1);
  EXPECT_EQ(ratio(board, 0, 1, Score::final_risk), infinity);
  EXPECT_EQ(ratio(board, 0, 1, Score::final_risk_averaged), infinity);
}

TEST(Scoreboard, RisksBelowRoundOffAreRaisedToIt) {
  // The start's risk is 1 + 1, so the floor is 2e-13.
  Record record = instance("a", {run("tuned", 0, 20, 1e-20), run("GAP", 0, 20, 1e-30), run("slow", 0, 20, 4e-13)});
  for (Cell& cell : record.cells) cell.reference_value = 1;
  const Scoreboard board = make_scoreboard({record});
  EXPECT_DOUBLE_EQ(board.instances[0].floor, 2e-13);
  EXPECT_EQ(ratio(board, 0, 1, Score::final_risk), 1);
  EXPECT_DOUBLE_EQ(ratio(board, 0, 2, Score::final_risk), 2);
  EXPECT_EQ(board.instances[0].methods[1].value[Score::final_risk], 1e-30) << "values stay as they were recorded";
}

TEST(Scoreboard, ARoughReferenceRaisesTheFloor) {
  Record record = instance("a", {run("tuned", 0, 20, 1e-9), run("GAP", 0, 20, 1e-12)});
  for (Cell& cell : record.cells) cell.reference_accuracy = 1e-8;
  EXPECT_EQ(ratio(make_scoreboard({record}), 0, 1, Score::final_risk), 1);
}

TEST(Scoreboard, AnAverageThatWasNotRecordedIsNotCompared) {
  Record record = instance("a", {run("tuned", 0, 20), run("GAP", 0, 20)});
  for (Point& point : record.cells[1].points) point.excess_risk_averaged = std::nan("");
  EXPECT_TRUE(std::isnan(ratio(make_scoreboard({record}), 0, 1, Score::final_risk_averaged)));
  EXPECT_EQ(ratio(make_scoreboard({record}), 0, 1, Score::final_risk), 1);
}

TEST(Scoreboard, InstancesMayHaveDifferentMethods) {
  const Scoreboard board = make_scoreboard(
      {instance("a", {run("tuned", 0, 20), run("x", 0, 10)}), instance("b", {run("tuned", 0, 20), run("y", 0, 10)})});
  EXPECT_EQ(board.methods, (std::vector<std::string>{"tuned", "x", "y"}));
  EXPECT_TRUE(std::isnan(ratio(board, 0, 2)));
  EXPECT_EQ(ratio(board, 1, 2), 0.5);
  EXPECT_EQ(board.summaries[1].instances, 1);
}

TEST(Scoreboard, UnfinishedRunsAreMissing) {
  Cell open = run("GAP", 1, -1);
  open.status = Status::unfinished;
  const Scoreboard board = make_scoreboard({instance("a", {run("tuned", 0, 20), run("GAP", 0, 10), open})});
  EXPECT_EQ(board.instances[0].methods[1].missing, 1);
  EXPECT_EQ(ratio(board, 0, 1), 0.5);
}

TEST(Scoreboard, MostSolvedComeFirst) {
  const Scoreboard board =
      make_scoreboard({instance("a", {run("tuned", 0, 20), run("fast", 0, 1), run("sure", 0, 40)}),
                       instance("b", {run("tuned", 0, 20), run("fast", 0, -1), run("sure", 0, 40)})});
  EXPECT_EQ(ranked(board), (std::vector<std::size_t>{0, 2, 1}));
}

TEST(Scoreboard, WhereTheBaselineNeverGetsThereMethodsAreComparedWithEachOther) {
  Cell near = run("near", 0, -1);
  near.points.back().excess_risk = 0.01;
  const auto board = [&](Index baseline) {
    return make_scoreboard(
        {instance("a", {run("tuned", 0, baseline), run("far", 0, -1), run("slow", 0, 40), near, run("fast", 0, 10)})});
  };
  EXPECT_TRUE(baseline_never_solves(board(-1)));
  EXPECT_EQ(ranked(board(-1)), (std::vector<std::size_t>{4, 2, 3, 0, 1}));
  EXPECT_FALSE(baseline_never_solves(board(20)));
  EXPECT_EQ(ranked(board(20)), (std::vector<std::size_t>{4, 0, 2, 3, 1}));
}

TEST(Scoreboard, ASearchIsPaidOnce) {
  Record record = instance("a", {run("tuned", 0, 20), run("half", 0, 20)});
  record.tunings = {test::tuning("tuned", 1), test::tuning("half", 0.5)};
  for (Tuning& tuning : record.tunings) tuning.seconds = 3;
  // A run of `run` takes a second.
  EXPECT_DOUBLE_EQ(make_scoreboard({record}).seconds, 3 + 2);
}

TEST(Scoreboard, ProvenanceSaysAllThatDiffers) {
  Record a = instance("a", {run("tuned", 0, 20)});
  Record b = a;
  a.provenance = {{"polyhop", "1"}, {"date", "2026-01-02"}, {"cores", "2"}};
  b.provenance = {{"polyhop", "1"}, {"date", "2026-01-01"}, {"cores", "4"}};
  const std::vector<std::pair<std::string, std::string>> both = {
      {"polyhop", "1"}, {"date", "2026-01-01 to 2026-01-02"}, {"cores", "2; 4"}};
  EXPECT_EQ(make_scoreboard({a, b}).provenance, both);
}

TEST(Profiles, AreRatiosToTheBestOfAnyMethod) {
  const Scoreboard board = make_scoreboard({instance("a", {run("tuned", 0, 20), run("GAP", 0, 10)}),
                                            instance("b", {run("tuned", 0, 20), run("GAP", 0, 60)}),
                                            instance("c", {run("tuned", 0, -1), run("GAP", 0, 10)}),
                                            instance("d", {run("tuned", 0, -1), run("GAP", 0, -1)})});
  const Profiles profiles = performance_profiles(board, Score::iterations);
  EXPECT_EQ(profiles.instances, 3) << "nobody solves d";
  EXPECT_EQ(profiles.ratios[0], (std::vector<double>{1, 2}));
  EXPECT_EQ(profiles.ratios[1], (std::vector<double>{1, 1, 3}));
}

// An instance with these methods, each with its algorithm and what it was tuned for.
Record searched_instance(std::vector<Cell> cells, const std::vector<std::array<std::string, 3>>& methods) {
  Record out = test::instance("i", std::move(cells));
  out.tunings.clear();
  Value::Array list;
  for (const auto& [name, algorithm, goal] : methods) {
    out.tunings.push_back(test::tuning(name, 1));
    out.tunings.back().goal = Codec<TuningGoal>::read(Value(goal));
    list.push_back(Value::Table{
        {"name", Value(name)}, {"algorithm", Value(algorithm)}, {"step", Value::Table{{"rule", Value("tuned")}}}});
  }
  out.config["method"] = list;
  return out;
}

TEST(Scoreboard, ComparesWithTheBaselineThatWasTunedForTheScore) {
  const Scoreboard board = test::make_scoreboard(
      {searched_instance({test::run("tuned", 0, 20, 8e-4), test::run("tuned for the end", 0, 80, 2e-4),
                          test::run("auto", 0, 40, 4e-4), test::run("other", 0, 10, 1e-4)},
                         {{"tuned", "atc", "iterations-to-target"},
                          {"other", "exact-diffusion", "final-risk"},
                          {"tuned for the end", "atc", "final-risk"}})});
  const ScoreInstance& instance = board.instances[0];
  EXPECT_EQ(instance.baselines[Score::iterations], "tuned");
  EXPECT_EQ(instance.baselines[Score::final_risk], "tuned for the end");
  EXPECT_TRUE(instance.fitting[Score::final_risk]);
  EXPECT_EQ(instance.baselines[Score::final_risk_averaged], "tuned");
  EXPECT_FALSE(instance.fitting[Score::final_risk_averaged]);
  const MethodScore& score = instance.methods[2];  // auto
  EXPECT_DOUBLE_EQ(score.ratio[Score::iterations], 2);
  EXPECT_DOUBLE_EQ(score.ratio[Score::final_risk], 2);
  // The best of all that were tuned is of another algorithm.
  EXPECT_DOUBLE_EQ(score.best_ratio[Score::iterations], 4);
  EXPECT_DOUBLE_EQ(score.best_ratio[Score::final_risk], 4);
  EXPECT_EQ(board.summaries[2].best[Score::final_risk].within[0], 0);
  EXPECT_EQ(board.summaries[3].best[Score::final_risk].within[0], 1);
}

TEST(Scoreboard, ComparesRisksWhenAsManyVectorsWereSent) {
  Cell dear = test::run("dear", 0, 50, 1e-5);
  for (Point& point : dear.points) point.vectors *= 2;
  const Scoreboard board = test::make_scoreboard({test::instance("i", {test::run("tuned", 0, 20, 8e-4), dear})});
  const ScoreInstance& instance = board.instances[0];
  // 300 vectors are the baseline's 100 iterations and 50 of the other, which is just at 1e-3.
  EXPECT_DOUBLE_EQ(instance.methods[0].value[Score::equal_vectors], 8e-4);
  EXPECT_DOUBLE_EQ(instance.methods[1].value[Score::equal_vectors], 1e-3);
  EXPECT_DOUBLE_EQ(instance.methods[1].value[Score::equal_vectors_averaged], 1e-2);
  EXPECT_DOUBLE_EQ(instance.methods[1].ratio[Score::equal_vectors], 1.25);
}

}  // namespace
}  // namespace polyhop::scoreboard_test

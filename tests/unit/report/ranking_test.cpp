// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/report/text_table.hpp"
#include "support/records.hpp"

namespace polyhop::ranking_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// A run that is at `risks[n]` at iteration 10 n, where everything counted is a multiple of the iteration.
Cell cell(const std::string& method, const std::vector<double>& risks, Status status = Status::done) {
  Cell out = test::cell(method, risks, status);
  for (Point& point : out.points) {
    point.vectors = 2 * point.iteration;
    point.values = 3 * point.iteration;
    point.gradients = point.iteration;
    point.seconds = 0.5 * static_cast<double>(point.iteration);
  }
  return out;
}

// The target is an excess risk of 1.
Record record(std::vector<Cell> cells) { return test::record(std::move(cells), 1); }

std::vector<std::string> order(const Record& of) {
  std::vector<std::string> out;
  for (const Standing& standing : rank(of)) out.push_back(standing.method);
  return out;
}

std::string headline(const Record& of) {
  const std::string text = ranking_text(of);
  return text.substr(0, text.find('\n'));
}

// The last line of the first table.
std::string last_line(const Record& of) {
  std::string text = ranking_text(of);
  text.erase(text.find("\n\nExcess risk at the end"));
  return text.substr(text.rfind('\n') + 1);
}

// The same at the same points, with this averaged risk at the end.
Cell averaged(Cell cell, double risk, std::uint64_t seed = 0) {
  cell.points.back().excess_risk_averaged = risk;
  cell.seed = seed;
  return cell;
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.1), 1);
  EXPECT_DOUBLE_EQ(quantile({0, 10, 20, 30, 40}, 0.9), 36);
  EXPECT_EQ(quantile({7}, 0.9), 7);
}

TEST(Quantile, OfNothingIsUnknown) { EXPECT_TRUE(std::isnan(quantile({}, 0.5))); }

TEST(Quantile, InfinitiesStayInfinite) {
  EXPECT_EQ(quantile({1, infinity, infinity}, 0.5), infinity);
  EXPECT_EQ(quantile({1, 2, infinity}, 0.5), 2);
  EXPECT_EQ(quantile({1, infinity}, 0.5), infinity);
  EXPECT_EQ(quantile({infinity, infinity, infinity, infinity}, 0.5), infinity);
  EXPECT_EQ(quantile({1, infinity}, 0), 1);
}

TEST(Quantile, ANumberThatIsNoneIsTheWorst) {
  EXPECT_EQ(quantile({unknown, 5, 1}, 0.5), 5);
  EXPECT_EQ(quantile({unknown, 5, 1}, 1), infinity);
}

TEST(Ranking, TakesTheFirstPointAtTheTarget) {
  const Standing s = rank(record({cell("m", {9, 3, 1, 2, 0.5})})).at(0);
  EXPECT_EQ(s.runs, 1);
  EXPECT_EQ(s.reached, 1);
  EXPECT_EQ(s.diverged, 0);
  EXPECT_EQ(s.iterations.median, 20);
  EXPECT_EQ(s.vectors.median, 40);
  EXPECT_EQ(s.evaluations.median, 80);
  EXPECT_EQ(s.seconds.median, 10);
  EXPECT_EQ(s.final_risk.median, 0.5);
}

TEST(Ranking, TakesMediansOverSeedsWithUnreachedAsInfinite) {
  const std::vector<double> never = {9, 8, 7};
  const Standing most = rank(record({cell("m", {9, 1}), cell("m", never), cell("m", {9, 9, 1})})).at(0);
  EXPECT_EQ(most.runs, 3);
  EXPECT_EQ(most.reached, 2);
  EXPECT_EQ(most.iterations.median, 20);
  EXPECT_EQ(most.iterations.high, infinity);
  EXPECT_DOUBLE_EQ(most.iterations.low, 12);  // a fifth of the way from 10 to 20
  EXPECT_EQ(most.final_risk.median, 1);
  const Standing few = rank(record({cell("m", {9, 1}), cell("m", never), cell("m", never)})).at(0);
  EXPECT_EQ(few.reached, 1);
  EXPECT_EQ(few.iterations.median, infinity);
  EXPECT_EQ(few.vectors.median, infinity);
  EXPECT_EQ(few.evaluations.median, infinity);
  EXPECT_EQ(few.seconds.median, infinity);
  EXPECT_EQ(few.final_risk.median, 7);
}

TEST(Ranking, SpreadsAreTheOuterTenths) {
  std::vector<Cell> cells;
  for (int n = 0; n <= 10; ++n) cells.push_back(cell("m", {9, static_cast<double>(n) + 2}));
  const Standing s = rank(record(std::move(cells))).at(0);  // final risks 2, 3, ..., 12
  EXPECT_DOUBLE_EQ(s.final_risk.low, 3);
  EXPECT_DOUBLE_EQ(s.final_risk.median, 7);
  EXPECT_DOUBLE_EQ(s.final_risk.high, 11);
}

TEST(Ranking, ADivergedRunHasNoFinalRisk) {
  const Standing s = rank(record({cell("m", {9, 0.5, 1e3}, Status::diverged)})).at(0);
  EXPECT_EQ(s.diverged, 1);
  EXPECT_EQ(s.final_risk.median, infinity);
}

TEST(Ranking, OrdersByIterationsThenByFinalRisk) {
  EXPECT_EQ(order(record({cell("slow", {9, 9, 1}), cell("fast", {9, 1, 1}), cell("never, low", {9, 9, 2}),
                          cell("never, high", {9, 9, 3}), cell("gone", {9, 1e12}, Status::diverged),
                          cell("fast, better", {9, 1, 0.5})})),
            (std::vector<std::string>{"fast, better", "fast", "slow", "never, low", "never, high", "gone"}));
}

TEST(Ranking, AFewLuckyRunsAreWorthLessThanNoneThatDiverges) {
  const Cell gone = cell("lucky", {9, 1e12}, Status::diverged);
  EXPECT_EQ(order(record({cell("lucky", {9, 1}), gone, gone, cell("safe", {9, 9, 4}), cell("safe", {9, 9, 4}),
                          cell("safe", {9, 9, 4}), cell("better", {9, 9, 3})})),
            (std::vector<std::string>{"better", "safe", "lucky"}));
  EXPECT_EQ(order(record({cell("none", {}, Status::unfinished), cell("lucky", {9, 1}), gone, gone})),
            (std::vector<std::string>{"lucky", "none"}))
      << "nothing is known of what has not run";
}

TEST(Ranking, KeepsTheOrderOfTheFileAmongEquals) {
  EXPECT_EQ(order(record({cell("z", {9, 1}), cell("a", {9, 1}), cell("m", {9, 1})})),
            (std::vector<std::string>{"z", "a", "m"}));
}

TEST(Ranking, GathersTheSeedsOfAMethodWhereverTheyStand) {
  const auto standings =
      rank(record({cell("a", {9, 1}), cell("b", {9, 9, 1}), cell("a", {9, 1}), cell("b", {9, 9, 1})}));
  ASSERT_EQ(standings.size(), 2U);
  EXPECT_EQ(standings[0].runs, 2);
  EXPECT_EQ(standings[1].runs, 2);
}

TEST(Ranking, HeadlineTellsTheBestAndHowFarTheNextIs) {
  EXPECT_EQ(headline(record({cell("b", {9, 9, 9, 9, 1}), cell("a", {9, 9, 1})})),
            "'a' reached an excess risk of 1 first, in 20 iterations, 0.5x those of 'b'.");
  EXPECT_EQ(headline(record({cell("b", {9, 1}), cell("a", {9, 1})})),
            "'b' reached an excess risk of 1 first, in 10 iterations, as many as 'a'.");
}

TEST(Ranking, HeadlineLeavesOutTheNextThatNeverGotThere) {
  EXPECT_EQ(headline(record({cell("a", {9, 9, 1}), cell("b", {9, 9, 9})})),
            "'a' reached an excess risk of 1 first, in 20 iterations.");
  EXPECT_EQ(headline(record({cell("a", {9, 9, 1})})), "'a' reached an excess risk of 1 first, in 20 iterations.");
}

TEST(Ranking, HeadlineDoesNotDivideByNoIterations) {
  EXPECT_EQ(headline(record({cell("a", {0.5}), cell("b", {0.5})})),
            "'a' reached an excess risk of 1 first, in 0 iterations.");
}

TEST(Ranking, HeadlineTellsTheClosestWhenNobodyGotThere) {
  EXPECT_EQ(headline(record({cell("a", {9, 4}), cell("b", {9, 2.5})})),
            "No method reached an excess risk of 1 in most runs; 'b' came closest, at 2.5.");
}

TEST(Ranking, RemarksOnRunsThatFailed) {
  const auto ends = [](const Record& of, const std::string& words) { return last_line(of).ends_with("  " + words); };
  const Cell good = cell("m", {9, 1});
  const Cell never = cell("m", {9, 9});
  const Cell gone = cell("m", {9, 1e12}, Status::diverged);
  EXPECT_TRUE(ends(record({gone, gone}), "diverged"));
  EXPECT_TRUE(ends(record({good, gone, never}), "1 of 3 reached, 1 diverged"));
  EXPECT_TRUE(ends(record({never, gone, never}), "1 of 3 diverged"));
  EXPECT_TRUE(ends(record({never, never}), "target not reached"));
  EXPECT_TRUE(ends(record({good, never, good}), "2 of 3 reached the target"));
  EXPECT_EQ(ranking_text(record({good, good})).find("remark"), std::string::npos);
}

TEST(Ranking, RunsThatHaveNotEndedCountNowhereElse) {
  const Standing s = rank(record({cell("m", {9, 1}), cell("m", {0.1}, Status::unfinished),
                                  cell("m", {}, Status::unfinished), cell("m", {0.1}, Status::failed)}))
                         .at(0);
  EXPECT_EQ(s.runs, 1);
  EXPECT_EQ(s.reached, 1);
  EXPECT_EQ(s.unfinished, 2);
  EXPECT_EQ(s.failed, 1);
  EXPECT_EQ(s.iterations.median, 10);
  EXPECT_EQ(s.final_risk.median, 1);
}

TEST(Ranking, RemarksOnRunsThatHaveNotEnded) {
  const Cell good = cell("m", {9, 1});
  const Cell never = cell("m", {9, 9});
  const Cell begun = cell("m", {9}, Status::unfinished);
  const Cell broken = cell("m", {}, Status::failed);
  const auto ends = [](const Record& of, const std::string& words) { return last_line(of).ends_with("  " + words); };
  EXPECT_TRUE(ends(record({good, begun}), "1 of 2 unfinished"));
  EXPECT_TRUE(
      ends(record({good, never, broken, begun}), "1 of 2 reached the target, 1 of 4 failed, 1 of 4 unfinished"));
  EXPECT_TRUE(ends(record({broken, broken}), "failed"));
  EXPECT_TRUE(ends(record({broken, begun}), "1 of 2 failed, 1 of 2 unfinished"));
}

TEST(Ranking, AMethodWithoutARunThatEndedComesLast) {
  EXPECT_EQ(order(record({cell("broken", {}, Status::failed), cell("never", {9, 9}), cell("good", {9, 1})})),
            (std::vector<std::string>{"good", "never", "broken"}));
}

TEST(Ranking, RunsThatAreUnfinishedDoNotCountAgainstAMethod) {
  const Cell begun = cell("fast", {9}, Status::unfinished);
  EXPECT_EQ(order(record({cell("slow", {9, 9, 1}), cell("slow", {9, 9, 1}), cell("fast", {9, 1}), begun})),
            (std::vector<std::string>{"fast", "slow"}));
  const Cell broken = cell("fast", {9}, Status::failed);
  EXPECT_EQ(order(record({cell("slow", {9, 9, 1}), cell("slow", {9, 9, 1}), cell("fast", {9, 1}), broken})),
            (std::vector<std::string>{"slow", "fast"}));
}

TEST(Ranking, ARunWithoutPointsIsARunThatGotNowhere) {
  const Standing s = rank(record({cell("m", {})})).at(0);
  EXPECT_EQ(s.runs, 1);
  EXPECT_EQ(s.final_risk.median, infinity);
  EXPECT_EQ(headline(record({cell("m", {})})), "No method reached an excess risk of 1 in most runs.");
}

TEST(Ranking, HeadlineOfNothing) {
  EXPECT_EQ(headline(record({})), "There are no runs.");
  EXPECT_EQ(headline(record({cell("m", {9}, Status::unfinished)})),
            "No run has ended, so there is nothing to rank yet.");
}

Record tuned(std::vector<Cell> cells) {
  Record out = record(std::move(cells));
  Tuning tuning;
  tuning.method = "constant";
  tuning.trials = 14;
  tuning.value = 0.25;
  tuning.factor = 0.5;
  tuning.iterations = 21300;
  tuning.vectors = 170000;
  tuning.values = 21300;
  tuning.gradients = 21300;
  out.tunings = {tuning};
  return out;
}

TEST(Ranking, HeadlineComparesTheBestUntunedWithTheBestTuned) {
  const Cell constant = cell("constant", {9, 9, 9, 9, 1});
  EXPECT_EQ(
      headline(tuned({constant, cell("GAP", {9, 9, 1}), cell("slow", {9, 9, 9, 1})})),
      "'GAP' reached an excess risk of 1 in 0.5x the iterations of the best tuned constant, 'constant', whose search "
      "took 14 trial runs.");
  EXPECT_EQ(
      headline(tuned({cell("GAP", {9, 9, 9, 9, 1}), constant})),
      "'GAP' reached an excess risk of 1 in as many iterations as the best tuned constant, 'constant', whose search "
      "took 14 trial runs.");
  EXPECT_EQ(
      headline(tuned({constant, cell("GAP", {9, 9, 9, 9, 9, 9, 1})})),
      "'constant', the best tuned constant, reached an excess risk of 1 in 0.67x the iterations of 'GAP'; its search "
      "took 14 trial runs.");
}

TEST(Ranking, HeadlineSaysIfTheConstantIsBestForSomethingElse) {
  Record found = tuned({cell("constant", {9, 9, 9, 9, 1}), cell("GAP", {9, 9, 1})});
  found.tunings[0].goal = TuningGoal::final_risk;
  EXPECT_EQ(headline(found),
            "'GAP' reached an excess risk of 1 in 0.5x the iterations of the best tuned constant, 'constant' (goal: "
            "final-risk), whose search took 14 trial runs.");
  found = tuned({cell("constant", {9, 1}), cell("GAP", {9, 9, 1})});
  found.tunings[0].goal = TuningGoal::final_risk_averaged;
  EXPECT_EQ(headline(found),
            "'constant' (goal: final-risk-averaged), the best tuned constant, reached an excess risk of 1 in 0.5x the "
            "iterations of 'GAP'; its search took 14 trial runs.");
}

TEST(Ranking, HeadlineIsTheUsualOneUnlessBothGotThere) {
  const Cell constant = cell("constant", {9, 9, 9, 9, 1});
  EXPECT_EQ(headline(tuned({constant, cell("GAP", {9, 9, 9})})),
            "'constant' reached an excess risk of 1 first, in 40 iterations.");
  EXPECT_EQ(headline(tuned({cell("constant", {9, 9}), cell("GAP", {9, 9, 1})})),
            "'GAP' reached an excess risk of 1 first, in 20 iterations.");
  EXPECT_EQ(headline(tuned({cell("constant", {1}), cell("GAP", {9, 1})})),
            "'constant' reached an excess risk of 1 first, in 0 iterations, 0x those of 'GAP'.");
}

TEST(Ranking, ATableSaysWhatTuningTook) {
  const std::string text = ranking_text(tuned({cell("constant", {9, 9, 1}), cell("GAP", {9, 1})}));
  EXPECT_NE(text.find("Tuning (goal: iterations-to-target; not counted above):\n\n"
                      "method    constant  runs  iterations  vectors  evaluations\n"
                      "--------  --------  ----  ----------  -------  -----------\n"
                      "constant     0.125    14       21.3k     170k        42.6k\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(ranking_text(record({cell("GAP", {9, 1})})).find("Tuning"), std::string::npos);
}

TEST(Ranking, GoalsThatDifferHaveAColumn) {
  Record found = tuned({cell("constant", {9, 9, 1}), cell("GAP", {9, 1})});
  found.tunings.push_back({.method = "GAP", .value = 2, .trials = 3, .goal = TuningGoal::final_risk});
  const std::string text = ranking_text(found);
  EXPECT_NE(text.find("Tuning (not counted above):\n\n"
                      "method    constant  runs  iterations  vectors  evaluations  goal\n"
                      "--------  --------  ----  ----------  -------  -----------  --------------------\n"
                      "GAP              2     3           0        0            0  final-risk\n"
                      "constant     0.125    14       21.3k     170k        42.6k  iterations-to-target\n"),
            std::string::npos)
      << text;
}

TEST(Ranking, TablesNumberTheMethodsAndShowADashForNever) {
  const std::string text = ranking_text(record({cell("a", {9, 2}), cell("b", {9, 0.25})}));
  EXPECT_EQ(text.substr(text.find("\n\n") + 2),
            "To reach an excess risk of 1:\n\n"
            "#  method  iterations  vectors  evaluations  seconds  remark\n"
            "-  ------  ----------  -------  -----------  -------  ------------------\n"
            "1  b               10       20           40        5\n"
            "2  a                -        -            -        -  target not reached\n"
            "\n"
            "Excess risk at the end:\n\n"
            "method  last\n"
            "------  ----\n"
            "b       0.25\n"
            "a          2\n"
            "\n"
            "Take the last iterate of 'b': its median excess risk is the lowest, below that of the last iterate of 'a' "
            "on 1 of 1 seed; one seed cannot tell how sure that is.\n");
}

TEST(Ranking, SaysThatItIsOfTheRunsThatHaveEnded) {
  const Cell ended = cell("a", {9, 0.5});
  Cell open = cell("a", {9}, Status::unfinished);
  open.seed = 1;
  const std::string text = ranking_text(record({ended, open}));
  EXPECT_EQ(text.find("So far: 'a' reached"), 0U) << text;
  EXPECT_NE(text.find("an excess risk of 1, medians over the runs that have ended:"), std::string::npos) << text;
  EXPECT_EQ(text.find("over 2 seeds"), std::string::npos) << text;
  Cell other = ended;
  other.seed = 1;
  EXPECT_EQ(ranking_text(record({ended, other})).find("So far"), std::string::npos);
  const std::string unreached = ranking_text(record({cell("a", {9, 2}), open}));
  EXPECT_EQ(unreached.find("So far: no method"), 0U) << unreached;
}

TEST(Ranking, LastAndAveragedIteratesStandSideBySideWithTheirQuantiles) {
  const Record of = record({averaged(cell("noisy", {9, 4}), 0.5, 0), averaged(cell("noisy", {9, 3}), 0.25, 1),
                            averaged(cell("calm", {9, 2}), 6, 0), averaged(cell("calm", {9, 2}), 7, 1)});
  const std::string text = ranking_text(of);
  EXPECT_NE(text.find("Excess risk at the end, medians over 2 seeds, with 10% and 90% quantiles:\n\n"
                      "method  last  10%  90%  averaged   10%   90%  take\n"
                      "------  ----  ---  ---  --------  ----  ----  --------\n"
                      "noisy    3.5  3.1  3.9     0.375  0.28  0.47  averaged\n"
                      "calm       2    2    2       6.5   6.1   6.9  last\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Take the averaged iterate of 'noisy': its median excess risk is the lowest, below that of the "
                      "last iterate of 'calm' on 2 of 2 seeds (sign test: p = 0.5; it may be chance)."),
            std::string::npos)
      << text;
  EXPECT_EQ(headline(of),
            "No method reached an excess risk of 1 in most runs; 'noisy' came closest, at 0.375 (averaged iterates).");
}

TEST(Ranking, RecommendsTheIterateWithTheLowerMedian) {
  const Record of =
      record({averaged(cell("m", {9, 4}), 1, 0), averaged(cell("m", {9, 4}), 5, 1), averaged(cell("m", {9, 4}), 3, 2)});
  const Standing s = rank(of).at(0);
  EXPECT_EQ(s.final_risk_averaged.median, 3);
  EXPECT_EQ(s.averaged_better, 2);
  EXPECT_EQ(s.recommended, Taken::averaged);
  EXPECT_EQ(rank(record({averaged(cell("m", {9, 4}), 4)})).at(0).recommended, Taken::last);
  const Standing without = rank(record({cell("m", {9, 4})})).at(0);
  EXPECT_EQ(without.recommended, Taken::last);
  EXPECT_TRUE(std::isnan(without.final_risk_averaged.median));
  const Standing gone = rank(record({averaged(cell("m", {9, 1e12}, Status::diverged), 1)})).at(0);
  EXPECT_EQ(gone.final_risk_averaged.median, infinity);
}

TEST(Ranking, BelowRoundOffNeitherIterateNorMethodIsBetter) {
  const Record of = record({averaged(cell("a", {1, 2e-16}), 1e-16), averaged(cell("b", {1, 3e-16}), 4e-16)});
  EXPECT_EQ(rank(of).at(0).recommended, Taken::last);
  EXPECT_EQ(rank(of).at(0).averaged_better, 0);
  const Comparison found = *compare_lowest(of, rank(of));
  EXPECT_EQ(found.lower, 0);
  EXPECT_EQ(found.p, 1);
  EXPECT_EQ(recommendation(of, rank(of)),
            "Take the last iterate of 'a': its median excess risk is as low as any, up to round-off.");
}

TEST(Ranking, ComparesTheTwoLowestSeedBySeed) {
  std::vector<Cell> cells;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const double here = static_cast<double>(seed);
    cells.push_back(averaged(cell("best", {99, 50}), 2 + here, seed));
    if (seed > 0) cells.push_back(averaged(cell("next", {99, 3 + here}), 50, seed));
    cells.push_back(averaged(cell("gone", {99, 1e12}, Status::diverged), 1, seed));
  }
  const Record of = record(cells);
  const Comparison found = *compare_lowest(of, rank(of));
  EXPECT_EQ(found.first, "best");
  EXPECT_EQ(found.first_taken, Taken::averaged);
  EXPECT_EQ(found.second, "next");
  EXPECT_EQ(found.second_taken, Taken::last);
  EXPECT_EQ(found.seeds, 5);
  EXPECT_EQ(found.lower, 5);
  EXPECT_EQ(found.higher, 0);
  EXPECT_DOUBLE_EQ(found.p, 0.0625);
  EXPECT_FALSE(compare_lowest(record({cell("m", {9, 1})}), rank(record({cell("m", {9, 1})}))));
  EXPECT_EQ(recommendation(record({}), {}), "");
}

TEST(Ranking, RecommendsNothingThatDivergesNowAndThen) {
  std::vector<Cell> cells;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const bool gone = seed < 2;
    cells.push_back(averaged(cell("bold", {99, gone ? 1e12 : 1}, gone ? Status::diverged : Status::done), 1, seed));
    cells.push_back(averaged(cell("safe", {99, 3}), 4, seed));
  }
  const auto take = [](const std::vector<Cell>& of) { return recommendation(record(of), rank(record(of))); };
  EXPECT_EQ(take(cells), "Take the last iterate of 'safe'.");
  cells.push_back(cell("new", {99}, Status::unfinished));
  EXPECT_EQ(take(cells), "So far: take the last iterate of 'safe'.");
  cells.pop_back();
  std::erase_if(cells, [](const Cell& each) { return each.method == "safe"; });
  EXPECT_EQ(take(cells), "Take the last iterate of 'bold'.") << "where there is nothing else";
}

TEST(SignTest, IsTheTailOfFairCoinsOnBothSides) {
  EXPECT_EQ(sign_test(0, 0), 1);
  EXPECT_DOUBLE_EQ(sign_test(3, 0), 0.25);
  EXPECT_DOUBLE_EQ(sign_test(0, 6), 0.03125);
  EXPECT_DOUBLE_EQ(sign_test(1, 4), 0.375);  // 2 (1 + 5) / 32
  EXPECT_EQ(sign_test(2, 2), 1);
}

TEST(Ranking, NamesCannotReachTheTerminalRaw) {
  const std::string text = ranking_text(record({cell("\x1b[31mred\n", {9, 1})}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(headline(record({cell("\x1b[31mred\n", {9, 1})})),
            "'\\x1b[31mred\\n' reached an excess risk of 1 first, in 10 iterations.");
}

TEST(Ranking, FitsATerminalOf80ColumnsWithoutCuttingNamesOrExponents) {
  std::vector<Cell> cells;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (const char* name : {"gradient tracking tuned", "exact diffusion"}) {
      cells.push_back(averaged(cell(name, {9e-100, 1.23e-105}), 4.56e-107, seed));
    }
  }
  Record of = record(cells);
  of.cells.push_back(cell("constant", {9e-100, 1e12}, Status::diverged));
  of.cells.back().message = "the step is too large, and this sentence is longer than a line of the terminal can be";
  for (const Index width : {60, 80, 120}) {
    const std::string text = ranking_text(of, width);
    std::size_t from = 0;
    for (std::size_t to = text.find('\n'); to != std::string::npos; from = to + 1, to = text.find('\n', from)) {
      EXPECT_LE(display_width(text.substr(from, to - from)), width) << text.substr(from, to - from);
    }
    EXPECT_EQ(text.find("…"), std::string::npos) << text;
    for (const char* whole : {"1.23e-105", "4.56e-107", "gradient", "tracking", "diffusion"}) {
      EXPECT_NE(text.find(whole), std::string::npos) << whole << "\n" << text;
    }
  }
}

TEST(Ranking, WhoReachedTheTargetOnAllSeedsIsAboveWhoDidNot) {
  std::vector<Cell> cells;
  for (int seed = 0; seed < 5; ++seed) {
    cells.push_back(cell("quick", seed == 0 ? std::vector<double>{9, 9} : std::vector<double>{9, 1}));
    cells.push_back(cell("sure", {9, 9, 9, 1}));
    cells.push_back(cell("rare", seed == 0 ? std::vector<double>{9, 1} : std::vector<double>{9, 9}));
    cells.push_back(cell("never", {9, 2}));
  }
  EXPECT_EQ(order(record(cells)), (std::vector<std::string>{"sure", "quick", "rare", "never"}));
  EXPECT_EQ(
      headline(record(cells)),
      "'sure' reached an excess risk of 1 first, in 30 iterations, 3x those of 'quick', which got there on 4 of 5 "
      "seeds.");
}

TEST(Ranking, HeadlineSaysOnHowManySeeds) {
  std::vector<Cell> some = {cell("a", {9, 1}), cell("a", {9, 1}), cell("a", {9, 9})};
  EXPECT_EQ(headline(record(some)), "'a' reached an excess risk of 1 on 2 of 3 seeds first, in 10 iterations.");
  some[1] = cell("a", {9, 9});
  EXPECT_EQ(headline(record(some)), "No method reached an excess risk of 1 in most runs; 'a' did on 1 of 3 seeds.");
}

TEST(Ranking, RisksBelowRoundingAreShownAs0WithANote) {
  std::vector<Cell> cells = {cell("a", {1, -8e-18}), cell("b", {1, 0.25})};
  for (Cell& c : cells) c.reference_value = 2;
  const std::string text = ranking_text(record(cells));
  EXPECT_NE(text.find("method  last\n------  ----\na          0\nb       0.25\n0: less than 2e-14, the size"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("e-18"), std::string::npos) << text;
  EXPECT_EQ(ranking_text(record({cell("b", {1, 0.25})})).find("rounding"), std::string::npos);
}

TEST(Ranking, SmallRisksOfDataThatFitAreNotRounding) {
  Cell fitted = cell("a", {100, 7e-15});
  fitted.reference_value = 0;
  const std::string text = ranking_text(record({fitted}));
  EXPECT_NE(text.find("7e-15"), std::string::npos) << text;
  EXPECT_EQ(text.find("rounding"), std::string::npos) << text;
  fitted.points.back().excess_risk = -3e-17;
  EXPECT_NE(ranking_text(record({fitted})).find("0: less than 3e-17"), std::string::npos);
}

TEST(Ranking, WarnsOfAReferenceThatIsKnownLessWellThanTheTarget) {
  Record of = record({cell("a", {9, 1e-3}), cell("b", {9, 20})});
  of.target = 1e-2;
  of.cells[1].reference_accuracy = 0.01;
  EXPECT_EQ(ranking_text(of).find("The reference optimum"), std::string::npos);
  of.cells[1].reference_accuracy = 12.5;
  const std::string text = ranking_text(of, 1000);
  EXPECT_NE(text.find("0: less than 12, the accuracy of the reference optimum.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("The reference optimum is known to 12 only, above the target 0.01: excess risks do not tell"),
            std::string::npos)
      << text;
}

TEST(Ranking, DoesNotCountATargetBelowRoundingAsReached) {
  Cell fitted = cell("a", {9, 1e-3, -2e-16});
  fitted.reference_value = 3;
  Record of = record({fitted});
  of.target = 1e-20;
  const std::string text = ranking_text(of, 1000);
  EXPECT_TRUE(
      text.starts_with("The target, an excess risk of 1e-20, is below what rounding allows here, about 3e-14: no "
                       "method can be said to reach it. Raise `target`.\n"))
      << text;
  EXPECT_NE(text.find("  target below rounding\n"), std::string::npos) << text;
  EXPECT_EQ(rank(of).front().reached, 0);
  of.target = 1e-6;
  EXPECT_EQ(rank(of).front().reached, 1);
  // Where w^o fits all samples, any risk can be told from 0.
  of.cells.front().reference_value = 0;
  of.cells.front().points.back().excess_risk = 1e-25;
  of.target = 1e-20;
  EXPECT_EQ(rank(of).front().reached, 1);
}

TEST(Ranking, TakesTheAccuracyOfAnExactReferenceForRounding) {
  Record of = record({cell("a", {9, 1e-31})});
  of.target = 1e-30;
  of.cells.front().reference_value = 1e-3;
  of.cells.front().reference_accuracy = 1.2e-16;
  const std::string text = ranking_text(of, 1000);
  EXPECT_NE(text.find("is below what rounding allows here, about 1.2e-16"), std::string::npos) << text;
  EXPECT_EQ(text.find("Standardise"), std::string::npos) << text;
}

TEST(Ranking, SaysWhatToTryWhereNoMethodReachedTheTarget) {
  Record of = record({cell("a", {9, 3}), cell("b", {9, 20})});
  const auto method = [](const char* algorithm) { return Value(Value::Table{{"algorithm", algorithm}}); };
  of.config = Value::Table{{"iterations", 500}, {"method", Value::Array{method("atc"), method("extra")}}};
  EXPECT_NE(
      ranking_text(of, 1000).find("\nTo reach the target, try more iterations (now 500), a [[method]] with step = "
                                  "\"auto\" or a larger target, such as 5.\n"),
      std::string::npos)
      << ranking_text(of, 1000);
  of.config["method"] = Value::Array{method("auto"), method("extra")};
  of.cells[1].status = Status::time_limit;
  EXPECT_NE(
      ranking_text(of, 1000).find("\nTo reach the target, try a longer time_limit or a larger target, such as 5.\n"),
      std::string::npos)
      << ranking_text(of, 1000);
  of.target = 4;
  EXPECT_EQ(ranking_text(of).find("To reach the target,"), std::string::npos);
}

TEST(Ranking, AdvisesOnceToStandardiseColumnsOfUnlikeSize) {
  Record of = record({cell("a", {9, 3}), cell("b", {9, 20})});
  for (Cell& each : of.cells) each.column_spread = 2e5;
  const std::string advice =
      "The columns of the data differ in size by a factor of 2e+05, which slows most methods down: consider "
      "problem.standardise = true.\n";
  const std::string text = ranking_text(of, 1000);
  const std::size_t at = text.find(advice);
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.find(advice, at + 1), std::string::npos) << text;
  of.target = 100;
  EXPECT_EQ(ranking_text(of).find("standardise"), std::string::npos) << "all reached the target";
  of.target = 1;
  for (Cell& each : of.cells) each.column_spread = 12;
  EXPECT_NE(ranking_text(of, 1000).find("differ in size by a factor of 12, "), std::string::npos);
  for (Cell& each : of.cells) each.column_spread = 9;
  EXPECT_EQ(ranking_text(of).find("standardise"), std::string::npos);
}

TEST(Ranking, IsOneSentenceUntilARunHasEnded) {
  const Record of = record({cell("a", {9, 3}, Status::unfinished), cell("b", {9, 20}, Status::unfinished)});
  EXPECT_EQ(ranking_text(of), "No run has ended, so there is nothing to rank yet.\n");
}

TEST(Ranking, SaysThatSamplesRepeatInABatchLargerThanTheSamples) {
  Record of = record({cell("a", {9, 3})});
  of.config = Value::Table{{"problem", Value::Table{{"samples", 4}, {"batch", 9}}}};
  EXPECT_NE(
      ranking_text(of, 1000).find("\nA batch of 9 is more than the 4 samples of an agent, so samples repeat within "
                                  "it; a batch of \"all\" takes each once.\n"),
      std::string::npos)
      << ranking_text(of, 1000);
  of.config["problem"]["batch"] = 4;
  EXPECT_EQ(ranking_text(of).find("batch"), std::string::npos);
}

TEST(Ranking, ColoursHeadingsTheBestAndWarnings) {
  Record of = record({cell("a", {9, 1}), cell("b", {9, 1e12}, Status::diverged)});
  of.cells.back().message = "too large a step";
  const std::string text = ranking_text(of, 0, true);
  EXPECT_TRUE(text.starts_with("\033[1m'a' reached")) << text;
  EXPECT_NE(text.find("\n\033[32m1  a "), std::string::npos) << text;
  EXPECT_NE(text.find("\n\033[33m'b' diverged: too large a step.\033[0m\n"), std::string::npos) << text;
  EXPECT_EQ(ranking_text(of).find('\033'), std::string::npos);
}

}  // namespace
}  // namespace polyhop::ranking_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>
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

// The last line of the table.
std::string last_line(const Record& of) {
  std::string text = ranking_text(of);
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
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
  EXPECT_TRUE(ends(record({good, gone, never}), "1 of 3 diverged"));
  EXPECT_TRUE(ends(record({never, never}), "target not reached"));
  EXPECT_TRUE(ends(record({good, never, good}), "2 of 3 reached the target"));
  EXPECT_EQ(last_line(record({good, good})).find_first_of("dt"), std::string::npos);
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
  EXPECT_TRUE(ends(record({begun}), "unfinished"));
}

TEST(Ranking, AMethodWithoutARunThatEndedComesLast) {
  EXPECT_EQ(order(record({cell("broken", {}, Status::failed), cell("never", {9, 9}), cell("good", {9, 1})})),
            (std::vector<std::string>{"good", "never", "broken"}));
}

TEST(Ranking, ARunWithoutPointsIsARunThatGotNowhere) {
  const Standing s = rank(record({cell("m", {})})).at(0);
  EXPECT_EQ(s.runs, 1);
  EXPECT_EQ(s.final_risk.median, infinity);
  EXPECT_EQ(headline(record({cell("m", {})})), "No method reached an excess risk of 1 in most runs.");
}

TEST(Ranking, HeadlineOfNothing) {
  EXPECT_EQ(headline(record({})), "There are no runs.");
  EXPECT_EQ(headline(record({cell("m", {9}, Status::unfinished)})), "No run has ended.");
}

Record tuned(std::vector<Cell> cells) {
  Record out = record(std::move(cells));
  Tuning tuning;
  tuning.method = "constant";
  tuning.trials = 14;
  tuning.iterations = 21300;
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
      headline(tuned({constant, cell("GAP", {9, 9, 9, 9, 9, 9, 1})})),
      "'constant', the best tuned constant, reached an excess risk of 1 in 0.67x the iterations of 'GAP'; its search "
      "took 14 trial runs.");
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

TEST(Ranking, TableSaysWhatTuningTook) {
  const std::string text = ranking_text(tuned({cell("constant", {9, 9, 1}), cell("GAP", {9, 1})}));
  EXPECT_NE(text.find("tuning"), std::string::npos);
  EXPECT_NE(text.find("14 runs, 21.3k iterations"), std::string::npos);
  EXPECT_NE(text.find("none"), std::string::npos);
  EXPECT_EQ(ranking_text(record({cell("GAP", {9, 1})})).find("tuning"), std::string::npos);
}

TEST(Ranking, TableNumbersTheMethodsAndShowsADashForNever) {
  const std::string text = ranking_text(record({cell("a", {9, 2}), cell("b", {9, 0.25})}));
  EXPECT_EQ(text.substr(text.find("\n\n") + 2),
            "   method  iterations  vectors  evaluations  seconds  final risk   10%   90%\n"
            "-  ------  ----------  -------  -----------  -------  ----------  ----  ----  ------------------\n"
            "1  b               10       20           40        5        0.25  0.25  0.25\n"
            "2  a                -        -            -        -           2     2     2  target not reached\n");
}

TEST(Ranking, NamesCannotReachTheTerminalRaw) {
  const std::string text = ranking_text(record({cell("\x1b[31mred\n", {9, 1})}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(headline(record({cell("\x1b[31mred\n", {9, 1})})),
            "'\\x1b[31mred\\n' reached an excess risk of 1 first, in 10 iterations.");
}

TEST(Ranking, FitsTheWidthOfTheTerminal) {
  const std::string text = ranking_text(record({cell(std::string(200, 'm'), {9, 1})}), 60);
  std::size_t from = text.find("\n\n") + 2;
  for (std::size_t to = text.find('\n', from); to != std::string::npos; from = to + 1, to = text.find('\n', from)) {
    EXPECT_LE(display_width(text.substr(from, to - from)), 60) << text.substr(from, to - from);
  }
}

}  // namespace
}  // namespace polyhop::ranking_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/scoreboard_text.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "polyhop/report/text_table.hpp"
#include "support/scoreboards.hpp"

namespace polyhop::scoreboard_text_test {
namespace {

using test::instance;
using test::make_scoreboard;
using test::run;

// GAP takes half of the iterations on a and never gets there on b.
std::vector<Record> two() {
  return {instance("a", {run("tuned", 0, 20), run("GAP", 0, 10)}),
          instance("b", {run("tuned", 0, 20), run("GAP", 0, -1)})};
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ScoreboardText, HeadlineSaysWhatIsComparedWithWhat) {
  EXPECT_EQ(scoreboard_headline(make_scoreboard(two())),
            "2 instances, 2 methods, 1 seed; medians over seeds, relative to the best constant step (tuned)");
  std::vector<Record> untuned = two();
  for (Record& record : untuned) record.tunings = {};
  EXPECT_TRUE(holds(scoreboard_headline(make_scoreboard(untuned)), "no method was tuned"));
}

TEST(ScoreboardText, SaysThatTheBaselineNeverGotThere) {
  const Scoreboard board = make_scoreboard({instance("a", {run("tuned", 0, -1), run("GAP", 0, 10)})});
  EXPECT_TRUE(holds(scoreboard_headline(board),
                    "the best constant step (tuned), which never reached the target; most solved first"));
  EXPECT_TRUE(holds(scoreboard_text(board), "\ninstance        GAP  tuned\n")) << scoreboard_text(board);
  EXPECT_TRUE(holds(scoreboard_text(board), "\na                 +  never\n")) << scoreboard_text(board);
}

TEST(ScoreboardText, HasALineForEachMethodAndEachInstance) {
  const std::string text = scoreboard_text(make_scoreboard(two()));
  EXPECT_TRUE(holds(text, "\nGAP     2/2   (0.5) 1/2  (0.5) 1/2 ")) << text;
  EXPECT_TRUE(holds(text, "never on b")) << text;
  EXPECT_TRUE(holds(text, "Within 1.05: the number of instances on which it took at most 1.05 times the iterations"))
      << text;
  EXPECT_TRUE(holds(text, "\na                   1        0.5\nb                   1          -\n")) << text;
}

TEST(ScoreboardText, FitsIntoATerminal) {
  const Scoreboard board = make_scoreboard(two());
  for (const Index width : {60, 80, 120}) {
    const std::string text = scoreboard_text(board, width);
    for (const std::string& line : lines(text)) EXPECT_LE(display_width(line), width) << line;
    EXPECT_FALSE(holds(text, "…")) << text;
    EXPECT_TRUE(holds(text, "never on")) << text;
  }
}

TEST(ScoreboardText, AMeanOverFewInstancesIsNoWin) {
  std::vector<Record> many;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    std::vector<Cell> cells = {run("tuned", 0, 20), run("usual", 0, 22)};
    if (many.size() < 2) cells.push_back(run("rare", 0, 2));
    many.push_back(instance(name, cells));
  }
  const Scoreboard board = make_scoreboard(many);
  const std::vector<std::string> table = lines(scoreboard_text(board));
  const auto row = [&](const std::string& method) {
    return *std::ranges::find_if(table, [&](const std::string& line) { return line.starts_with(method + " "); });
  };
  EXPECT_TRUE(holds(row("rare"), "2/5     - (2/5)  ")) << row("rare");
  EXPECT_TRUE(holds(row("usual"), "5/5         1.1  ")) << row("usual");
  EXPECT_TRUE(holds(row("rare"), "  2/5         2/5       2/5     2/5  ")) << row("rare");
  EXPECT_EQ(board.methods[ranked(board).back()], "rare");
}

TEST(ScoreboardText, SaysWithWhatEachScoreIsCompared) {
  EXPECT_TRUE(holds(scoreboard_text(make_scoreboard(two())),
                    "as the method or the step never got there; +: the method did, the step did not. Each score is "
                    "compared with the step that was tuned for it, "
                    "where there is one."));
}

TEST(ScoreboardText, MethodsStandInTheOrderOfTheRanking) {
  const std::vector<Record> records = {instance("a", {run("slow", 0, 40), run("tuned", 0, 20), run("fast", 0, 10)})};
  const std::string text = scoreboard_text(make_scoreboard(records));
  EXPECT_TRUE(holds(text, "\ninstance        fast  tuned  slow\n")) << text;
  EXPECT_TRUE(holds(text, "\na                0.5      1     2\n")) << text;
}

TEST(ScoreboardMarkdown, HasATableForEachScore) {
  const std::string text = scoreboard_markdown(make_scoreboard(two()), {"polyhop run x", false});
  EXPECT_TRUE(text.starts_with("# Scoreboard\n"));
  for (const char* title : {"Over all instances", "Instances", "Iterations to the target", "Vectors to the target",
                            "Final excess risk", "Final excess risk, averaged iterates", "Diverged runs"}) {
    EXPECT_TRUE(holds(text, std::string("\n## ") + title + "\n\n")) << title;
  }
  EXPECT_TRUE(
      holds(text, "| a | 5 | ring | logistic | 2 | 0.001 | 0 | 0.125 | iterations-to-target | 7 | 700 | 2.1k |\n"))
      << text;
  EXPECT_TRUE(holds(text, "| b | 1 | - |\n"));
  EXPECT_TRUE(holds(text, "| geometric mean | 1 | (0.5) 1/2 |\n"));
  EXPECT_TRUE(holds(text, "    polyhop run x\n"));
  EXPECT_FALSE(holds(text, "figures/"));
}

TEST(ScoreboardMarkdown, EveryRowHasAsManyCellsAsItsHead) {
  const std::string text = scoreboard_markdown(make_scoreboard(two()), {"", true});
  std::ptrdiff_t columns = 0;
  for (const std::string& line : lines(text)) {
    const auto bars = std::count(line.begin(), line.end(), '|');
    if (!line.starts_with("|")) {
      columns = 0;
    } else if (columns == 0) {
      columns = bars;
    } else {
      EXPECT_EQ(bars, columns) << line;
    }
  }
}

TEST(ScoreboardMarkdown, ShowsProfilesWhereTheyAreDrawn) {
  const std::string text = scoreboard_markdown(make_scoreboard(two()), {"", true});
  for (const char* score : {"iterations", "vectors", "final-risk-averaged"}) {
    EXPECT_TRUE(holds(text, std::string("(figures/scoreboard-") + score + ".svg)")) << score;
  }
}

TEST(ScoreboardMarkdown, NamesMeanNothingToMarkdown) {
  const Record record = instance("a|b*c_d", {run("tuned", 0, 20), run("<img>`x`", 0, 10)});
  const std::string text = scoreboard_markdown(make_scoreboard({record}), {"", false});
  EXPECT_TRUE(holds(text, "| a\\|b\\*c\\_d |"));
  EXPECT_TRUE(holds(text, " \\<img\\>\\`x\\` |"));
  EXPECT_FALSE(holds(text, " <img>"));
}

TEST(ScoreboardMarkdown, SaysWhereRoundOffDecides) {
  const Record rough = instance("rough", {run("tuned", 0, 20), run("GAP", 0, 10, 1e-20)});
  const std::string text = scoreboard_markdown(make_scoreboard({rough, two()[0]}), {"", false});
  EXPECT_TRUE(holds(text, "are raised to that: some on rough."));
}

TEST(ScoreboardMarkdown, SaysWhatIsNotFinished) {
  Record record = two()[0];
  record.cells[1].status = Status::unfinished;
  EXPECT_TRUE(holds(scoreboard_markdown(make_scoreboard({record}), {"", false}), "Not finished: a (1 run)."));
}

}  // namespace
}  // namespace polyhop::scoreboard_text_test

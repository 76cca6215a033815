// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/text_plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "polyhop/report/text_table.hpp"
#include "support/records.hpp"

namespace polyhop::text_plot_test {
namespace {

using test::cell;
using test::record;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(TextPlot, DrawsAStraightLineOnALogarithmicScale) {
  // From 1 to 1e-4 in 5 rows, 40 iterations in 21 columns.
  EXPECT_EQ(text_plot(record({cell("m", {1, 1e-1, 1e-2, 1e-3, 1e-4})}), 40, 5, {.plain = true}),
            "excess risk\n"
            "  1e0 +aaa\n"
            "      |  aaaaaa\n"
            "      |       aaaaaa\n"
            " 1e-3 +            aaaaaa\n"
            "      |                 aaaa\n"
            "      +----------+---------+\n"
            "       0         20       40  iterations\n"
            "      a m\n");
}

TEST(TextPlot, GivesEachMethodAMarkAndSaysWhich) {
  const auto text = text_plot(record({cell("one", {1, 1e-6}), cell("two", {1, 1})}), 60, 8);
  EXPECT_NE(text.find("● one\n"), std::string::npos);
  EXPECT_NE(text.find("○ two\n"), std::string::npos);
  const auto plain = text_plot(record({cell("one", {1, 1e-6}), cell("two", {1, 1})}), 60, 8, {.plain = true});
  EXPECT_NE(plain.find("a one\n"), std::string::npos);
  EXPECT_NE(plain.find("b two\n"), std::string::npos);
}

TEST(TextPlot, ListsTheBestMethodFirst) {
  const auto text = text_plot(record({cell("worse", {1, 0.5}), cell("better", {1, 0.1})}), 60, 8, {.plain = true});
  EXPECT_NE(text.find("a better\n      b worse\n"), std::string::npos) << text;
}

TEST(TextPlot, CurvesThatMeetTakeTurns) {
  const auto text = lines(text_plot(record({cell("one", {1, 1e-6}), cell("two", {1, 1e-6})}), 60, 8, {.plain = true}));
  const auto count = [&](char mark) {
    std::ptrdiff_t sum = 0;
    for (std::size_t row = 1; row <= 8; ++row) sum += std::count(text[row].begin() + 7, text[row].end(), mark);
    return sum;
  };
  EXPECT_GT(count('a'), 15);
  EXPECT_GT(count('b'), 15);
}

TEST(TextPlot, PlainIsAscii) {
  const auto plain = text_plot(record({cell("one", {1, 1e-6})}), 60, 8, {.plain = true});
  EXPECT_TRUE(std::ranges::all_of(plain, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST(TextPlot, FitsItsWidthAndHeight) {
  for (const Index width : {40, 60, 80, 132}) {
    const auto text = lines(text_plot(record({cell(std::string(200, 'm'), {1, 1e-9, 1e-14})}), width, 12));
    constexpr std::size_t before = 1 + 12 + 2;  // title, plot, axis
    ASSERT_GT(text.size(), before);
    for (const auto& line : text) EXPECT_LE(display_width(line), width) << line;
    std::ptrdiff_t letters = 0;
    for (std::size_t n = before; n < text.size(); ++n) letters += std::count(text[n].begin(), text[n].end(), 'm');
    EXPECT_EQ(letters, 200) << "the whole name";
  }
}

TEST(TextPlot, ASteepCurveHasNoGaps) {
  const auto text =
      lines(text_plot(record({cell("m", {1, 1e-12, 1e-12, 1e-12, 1e-12, 1e-12})}), 60, 12, {.plain = true}));
  for (std::size_t row = 1; row <= 12; ++row) EXPECT_NE(text[row].find('a', 7), std::string::npos) << text[row];
}

TEST(TextPlot, ACurveThatDivergesLeavesThePlot) {
  const auto text = lines(text_plot(
      record({cell("gone", {1, 1e30, 1e200}, Status::diverged), cell("m", {1, 1e-3, 1e-6})}), 60, 10, {.plain = true}));
  const auto rows_with = [&](char mark) {
    return std::count_if(text.begin() + 1, text.begin() + 11,
                         [&](const auto& line) { return line.find(mark, 7) != std::string::npos; });
  };
  EXPECT_GE(rows_with('a'), 7);
}

TEST(TextPlot, IsEmptyWhenThereIsNothingToShow) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(text_plot(Record(), 80, 20), "");
  EXPECT_EQ(text_plot(record({cell("m", {}), cell("n", {1, 2}, Status::unfinished)}), 80, 20), "");
  EXPECT_EQ(text_plot(record({cell("m", {0, unknown, -1})}), 80, 20), "");
}

TEST(TextPlot, TakesAnySizeAndASinglePoint) {
  EXPECT_NE(text_plot(record({cell("m", {1})}), 0, 0), "");
  EXPECT_NE(text_plot(record({cell("m", {5e-324, 1e308})}), -5, 1), "");
}

TEST(TextPlot, NamesCannotReachTheTerminalRaw) {
  EXPECT_EQ(text_plot(record({cell("\x1b[31mred", {1, 0.1})}), 80, 10).find('\x1b'), std::string::npos);
}

TEST(TextPlot, HasTheAxesThatAreAskedFor) {
  Cell far = cell("m", {1, 1e-3});
  far.points[1].seconds = 0.25;
  far.points[1].consensus_error = 1e-2;
  far.points[0].consensus_error = 1;
  const std::string text =
      text_plot(record({far}), 60, 8, {.x = CurveX::seconds, .y = curve_y(&Point::consensus_error), .plain = true});
  EXPECT_TRUE(text.starts_with("consensus error\n")) << text;
  EXPECT_NE(text.find(" 0.25  seconds\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("1e-3"), std::string::npos) << text;
}

}  // namespace
}  // namespace polyhop::text_plot_test

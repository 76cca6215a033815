// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/text_table.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"

namespace polyhop::text_table_test {
namespace {

using Align = TextTable::Align;

TextTable example() {
  TextTable table({{"method", Align::left}, {"risk", Align::right}, {"status", Align::left}});
  table.add({"GAP", "1.2e-07", "done"});
  table.add({"constant 0.1", "3", ""});
  return table;
}

TEST(TextTable, AlignsColumnsAndEndsNoLineInBlanks) {
  EXPECT_EQ(example().text(),
            "method           risk  status\n"
            "------------  -------  ------\n"
            "GAP           1.2e-07  done\n"
            "constant 0.1        3\n");
}

TEST(TextTable, FillsShortRowsAndRefusesLongOnes) {
  TextTable table({{"a", Align::left}, {"b", Align::left}});
  table.add({"1"});
  table.add({});
  EXPECT_EQ(table.text(), "a  b\n-  -\n1\n\n");
  EXPECT_EQ(table.rows(), 2);
  EXPECT_THROW(table.add({"1", "2", "3"}), Error);
}

TEST(TextTable, CountsColumnsNotBytes) {
  TextTable table({{"größe", Align::right}, {"x", Align::left}});
  table.add({"1", "é"});
  table.add({"漢字", "e\u0301"});
  EXPECT_EQ(table.text(),
            "größe  x\n"
            "-----  -\n"
            "    1  é\n"
            " 漢字  e\u0301\n");
}

TEST(TextTable, ShowsControlCharactersAsEscapes) {
  TextTable table({{"na\x1b[31mme", Align::left}});
  table.add({"a\nb\t\x7f\xc2\x9b\xff"});
  EXPECT_EQ(table.text(), "na\\x1b[31mme\n--------------------\na\\nb\\t\\x7f\\u009b\\xff\n");
}

TextTable wide() {
  TextTable table({{"method"}, {"final excess risk", Align::right}, {"remark"}});
  table.add({"exact diffusion tuned", "1.23e-05", "2 of 3 reached the target"});
  table.add({"gradient-tracking", "3", ""});
  return table;
}

TEST(TextTable, KeepsNamesWholeWhileARemarkCanBeWrapped) {
  TextTable table({{"method"}, {"iterations", Align::right}, {"remark"}});
  table.add({"constant value=0.005", "1", "target not reached"});
  EXPECT_EQ(table.text(46),
            "method                iterations  remark\n"
            "--------------------  ----------  ------------\n"
            "constant value=0.005           1  target not\n"
            "                                  reached\n");
  EXPECT_EQ(table.text(40).find("constant value=0.005"), std::string::npos) << "it must be narrower than both";
}

TEST(TextTable, WrapsTextsAndHeadersSoThatNumbersStayWhole) {
  EXPECT_EQ(wide().text(48),
            "method                       final  remark\n"
            "                       excess risk\n"
            "---------------------  -----------  ------------\n"
            "exact diffusion tuned     1.23e-05  2 of 3\n"
            "                                    reached the\n"
            "                                    target\n"
            "gradient-tracking                3\n");
  EXPECT_EQ(wide().text(40),
            "method                 final  remark\n"
            "                      excess\n"
            "                        risk\n"
            "-----------------  ---------  ----------\n"
            "exact diffusion     1.23e-05  2 of 3\n"
            "tuned                         reached\n"
            "                              the target\n"
            "gradient-tracking          3\n");
}

TEST(TextTable, WrapsWhereItTakesTheFewestLines) {
  TextTable table({{"method"}, {"vectors", Align::right}, {"remark"}});
  table.add({"exact diffusion, tuned", "1.56k", ""});
  table.add({"ATC, tuned", "-", "target not reached"});
  EXPECT_EQ(table.text(42),
            "method            vectors  remark\n"
            "----------------  -------  ---------------\n"
            "exact diffusion,    1.56k\n"
            "tuned\n"
            "ATC, tuned              -  target not\n"
            "                           reached\n");
}

TEST(TextTable, ColumnsWithoutRoomFollowBelowWithTheNamesAgain) {
  EXPECT_EQ(wide().text(30),
            "method                   final\n"
            "                   excess risk\n"
            "-----------------  -----------\n"
            "exact diffusion       1.23e-05\n"
            "tuned\n"
            "gradient-tracking            3\n"
            "\n"
            "method             remark\n"
            "-----------------  -----------\n"
            "exact diffusion    2 of 3\n"
            "tuned              reached the\n"
            "                   target\n"
            "gradient-tracking\n");
}

TEST(TextTable, NamesStayWholeWhereThereAreSeveralTablesAnyway) {
  TextTable table({{"method"}, {"iterations", Align::right}, {"vectors", Align::right}, {"remark"}});
  table.add({"exact diffusion, tuned", "10", "20", "unquestionably diverged"});
  EXPECT_EQ(table.text(46),
            "method                  iterations  vectors\n"
            "----------------------  ----------  -------\n"
            "exact diffusion, tuned          10       20\n"
            "\n"
            "method                  remark\n"
            "----------------------  ----------------------\n"
            "exact diffusion, tuned  unquestionably\n"
            "                        diverged\n");
}

TEST(TextTable, RemarksThatWouldTakeManyLinesStandBelowTheirRows) {
  TextTable table({{"#", Align::right}, {"method"}, {"iterations", Align::right}, {.header = "remark", .below = true}});
  table.add({"1", "GAP", "10", "1 of 10 reached the target"});
  table.add({"2", "far", "20", ""}, Ink::good);
  const std::string beside =
      "#  method  iterations  remark\n"
      "-  ------  ----------  ---------------\n"
      "1  GAP             10  1 of 10 reached\n"
      "                       the target\n"
      "2  far             20\n";
  EXPECT_EQ(table.text(38), beside);
  EXPECT_EQ(table.text(34),
            "#  method  iterations\n"
            "-  ------  ----------\n"
            "1  GAP             10\n"
            "     1 of 10 reached the target\n"
            "2  far             20\n");
  // Its lines are as wide as the terminal, not as the table.
  EXPECT_EQ(table.text(26),
            "#  method  iterations\n"
            "-  ------  ----------\n"
            "1  GAP             10\n"
            "     1 of 10 reached the\n"
            "     target\n"
            "2  far             20\n");
}

TEST(TextTable, ColumnsThatBelongTogetherAreNotParted) {
  TextTable table(
      {{"#", Align::right}, {"m"}, {"last", Align::right}, {"averaged", Align::right}, {"90%", Align::right, true}});
  table.add({"1", "a", "1.23e-05", "4.56e-05", "7.89e-05"});
  EXPECT_EQ(table.text(30),
            "#  m      last\n"
            "-  -  --------\n"
            "1  a  1.23e-05\n"
            "\n"
            "#  m  averaged       90%\n"
            "-  -  --------  --------\n"
            "1  a  4.56e-05  7.89e-05\n");
}

TEST(TextTable, CutsOnlyWhatAloneIsTooWide) {
  EXPECT_EQ(example().text(26),
            "method        risk  status\n"
            "---------  -------  ------\n"
            "GAP        1.2e-07  done\n"
            "constant         3\n"
            "0.1\n");
  for (Index width = 1; width < 40; ++width) {
    const std::string text = example().text(width);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
    EXPECT_EQ(text.find("…") == std::string::npos, width >= 15) << width << "\n" << text;
  }
}

TEST(TextTable, ColoursHeadersAndRows) {
  TextTable table({{"a"}, {"b"}});
  table.add({"1", "2"}, Ink::good);
  table.add({"3", "4"});
  EXPECT_EQ(table.text(0, true), "\033[1ma  b\033[0m\n-  -\n\033[32m1  2\033[0m\n3  4\n");
  EXPECT_EQ(table.text(0), "a  b\n-  -\n1  2\n3  4\n");
}

TEST(TextTable, OfNoColumnsIsEmptyLines) { EXPECT_EQ(TextTable({}).text(80), "\n\n"); }

TEST(Printable, KeepsWhatIsHarmlessAndEscapesTheRest) {
  EXPECT_EQ(printable("Größe 漢字 😀 \\n"), "Größe 漢字 😀 \\n");
  EXPECT_EQ(printable("\x1b]0;x\x07"), "\\x1b]0;x\\x07");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\u202e\u2066\u200b\ufeff"), "\\u202e\\u2066\\u200b\\ufeff");
  EXPECT_EQ(printable("\xe2\x82 \xed\xa0\x80 \xc0\xaf"), "\\xe2\\x82 \\xed\\xa0\\x80 \\xc0\\xaf");
  EXPECT_EQ(printable("\xf5\x80\x80\x80\xf4\x90\x80\x80"), "\\xf5\\x80\\x80\\x80\\xf4\\x90\\x80\\x80");
}

TEST(Wrapped, BreaksAtBlanksAndInsideLongWordsAlone) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("one two three", 0), (Lines{"one two three"}));
  EXPECT_EQ(wrapped("one two three", 13), (Lines{"one two three"}));
  EXPECT_EQ(wrapped("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("one two three", 6), (Lines{"one", "two", "three"}));
  EXPECT_EQ(wrapped("abcdefg hi", 3), (Lines{"abc", "def", "g", "hi"}));
  EXPECT_EQ(wrapped("漢字漢字", 5), (Lines{"漢字", "漢字"}));
  EXPECT_EQ(wrapped("漢字", 1), (Lines{"漢", "字"}));
  EXPECT_EQ(wrapped("", 5), (Lines{""}));
}

TEST(Wrapped, IndentsLinesAfterTheFirst) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("one two three", 7, 2), (Lines{"one two", "  three"}));
  EXPECT_EQ(wrapped("one two three", 6, 2), (Lines{"one", "  two", "  thre", "  e"}));
  EXPECT_EQ(paragraph("one two\nthree four", 5), "one\ntwo\nthree\nfour\n");
  EXPECT_EQ(paragraph("one two", 5, 1), "one\n two\n");
  EXPECT_EQ(paragraph("", 5), "\n");
}

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdef", 5), "abcd…");
  EXPECT_EQ(shortened("漢字漢字", 5), "漢字…");
  EXPECT_EQ(shortened("漢字漢字", 4), "漢…");
  EXPECT_EQ(shortened("abc", 1), "…");
  EXPECT_EQ(shortened("abc", 0), "");
}

TEST(Significant, KeepsTheDigitsThatMatter) {
  EXPECT_EQ(significant(1.2345e-7, 3), "1.23e-07");
  EXPECT_EQ(significant(0.0012345, 3), "0.00123");
  EXPECT_EQ(significant(587, 3), "587");
  EXPECT_EQ(significant(12345, 3), "1.23e+04");
  EXPECT_EQ(significant(110, 2), "110") << "an exponent would be longer and say less";
  EXPECT_EQ(significant(25.4, 1), "25");
  EXPECT_EQ(significant(9.96, 1), "10");
  EXPECT_EQ(significant(999.7, 2), "1e+03");
  EXPECT_EQ(significant(0.5, 3), "0.5");
  EXPECT_EQ(significant(-2, 3), "-2");
  EXPECT_EQ(significant(-0.0, 3), "0");
  EXPECT_EQ(significant(std::numeric_limits<double>::infinity(), 3), "inf");
  EXPECT_EQ(significant(-std::numeric_limits<double>::infinity(), 3), "-inf");
  EXPECT_EQ(significant(std::numeric_limits<double>::quiet_NaN(), 3), "nan");
}

TEST(Number, WritesThousandsShort) {
  EXPECT_EQ(number(587, 3), "587");
  EXPECT_EQ(number(999.4, 3), "999");
  EXPECT_EQ(number(999.6, 3), "1k");
  EXPECT_EQ(number(1000, 3), "1k");
  EXPECT_EQ(number(12345, 3), "12.3k");
  EXPECT_EQ(number(-12345, 4), "-12.35k");
  EXPECT_EQ(number(999999, 3), "1M");
  EXPECT_EQ(number(4.56e6, 3), "4.56M");
  EXPECT_EQ(number(2e9, 3), "2G");
  EXPECT_EQ(number(7.25e12, 3), "7.25T");
  EXPECT_EQ(number(1e15, 3), "1e+15");
  EXPECT_EQ(number(1.23e-7, 3), "1.23e-07");
  EXPECT_EQ(number(0, 3), "0");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity(), 3), "inf");
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN(), 3), "nan");
}

}  // namespace
}  // namespace polyhop::text_table_test

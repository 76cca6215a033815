// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/gnuplot.hpp"

#include <gtest/gtest.h>

#include <string>

#include "polyhop/core/error.hpp"

namespace polyhop::gnuplot_test {
namespace {

// Printing a string shows what gnuplot takes it for.
std::string shown(const std::string& text) {
  return gnuplot_output("set print '-'\nprint " + gnuplot_string(text) + "\n");
}

TEST(Gnuplot, StringsStandForThemselves) {
  for (const std::string text :
       {"plain", "it's", "\"quoted\"", "a_b^c{d}", "$(echo no)", "`echo no`", "back\\slash\\n", "@macro", "%d", "a # b",
        "größer µ", "ends in \\", "'", "''", "'a'", "\\'", "'\\", "'; exit; '", ""}) {
    EXPECT_EQ(shown(text), text + "\n");
  }
}

TEST(Gnuplot, ControlCharactersBecomeVisible) { EXPECT_EQ(gnuplot_string("a\nb"), "('a\\nb')"); }

TEST(Gnuplot, TellsWhatIsWrongWithAScript) {
  try {
    gnuplot_output("nonsense here\n");
    FAIL() << "it should not work";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("gnuplot failed"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("invalid command"), std::string::npos);
  }
}

TEST(Gnuplot, GivesBackLargeOutputsWhole) {
  const std::string text = gnuplot_output("set print '-'\ndo for [n=1:50000] { print n }\n");
  EXPECT_TRUE(text.starts_with("1\n2\n"));
  EXPECT_TRUE(text.ends_with("\n50000\n"));
}

}  // namespace
}  // namespace polyhop::gnuplot_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/profile_figure.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "support/scoreboards.hpp"
#include "support/temporary_folder.hpp"

namespace polyhop::profile_figure_test {
namespace {

using test::instance;
using test::make_scoreboard;
using test::run;

class ProfileFigure : public test::TemporaryFolder {
 protected:
  static Scoreboard board(Index reached) {
    return make_scoreboard({instance("a", {run("tuned", 0, reached), run("50% of 'it'", 0, reached < 0 ? -1 : 10)})});
  }
};

TEST_F(ProfileFigure, IsDrawnForEveryScoreAndEnding) {
  for (const auto& [score, name] : EnumNames<Score>::names) {
    write_profile_figure(board(20), score, file("f.svg"));
    EXPECT_NE(content("f.svg").find(">50% of 'it'<"), std::string::npos) << name;
    EXPECT_NE(content("f.svg").find("instances solved"), std::string::npos) << name;
  }
  write_profile_figure(board(20), Score::iterations, file("f.pdf"));
  EXPECT_TRUE(content("f.pdf").starts_with("%PDF"));
}

TEST_F(ProfileFigure, TakesAnySpanOfRatios) {
  for (const Index reached : {10, 13, 30, 99}) {
    EXPECT_NO_THROW(write_profile_figure(board(reached), Score::iterations, file("f.svg"))) << reached;
  }
  Scoreboard wide = board(20);
  wide.instances[0].methods[0].value[Score::iterations] = 1e9;
  EXPECT_NO_THROW(write_profile_figure(wide, Score::iterations, file("f.svg")));
}

TEST_F(ProfileFigure, BestMethodsComeFirst) {
  write_profile_figure(board(20), Score::iterations, file("f.svg"));
  const std::string text = content("f.svg");
  EXPECT_LT(text.find(">50% of 'it'<"), text.find(">tuned<"));  // 10 iterations, and 20
}

TEST_F(ProfileFigure, AlsoRansAreGreyWhereThereAreMoreMethodsThanColours) {
  const auto drawn = [&](Index methods) {
    std::vector<Cell> cells = {run("tuned", 0, 10)};
    for (Index m = 1; m < methods; ++m) cells.push_back(run("method " + std::to_string(m), 0, 10 + m));
    write_profile_figure(make_scoreboard({instance("a", cells)}), Score::iterations, file("f.svg"));
    return content("f.svg");
  };
  const auto holds = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string grey = "rgb(184, 184, 184)";
  EXPECT_TRUE(holds(drawn(7), ">method 6<"));
  EXPECT_FALSE(holds(drawn(7), grey));
  const std::string many = drawn(8);
  EXPECT_TRUE(holds(many, ">method 4<"));
  EXPECT_FALSE(holds(many, ">method 5<"));
  EXPECT_TRUE(holds(many, ">3 other methods<"));
  EXPECT_TRUE(holds(many, grey));
}

TEST_F(ProfileFigure, WithoutAnythingSolvedThereIsNone) {
  EXPECT_THROW(write_profile_figure(board(-1), Score::iterations, file("f.svg")), InputError);
  EXPECT_THROW(write_profile_figure(board(20), Score::iterations, file("f.gif")), InputError);
  EXPECT_EQ(entries(), 0);
}

}  // namespace
}  // namespace polyhop::profile_figure_test

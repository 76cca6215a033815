// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/scoreboard_export.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/scoreboards.hpp"

namespace polyhop::scoreboard_export_test {
namespace {

using nlohmann::json;
using test::instance;
using test::make_scoreboard;
using test::run;

Scoreboard board() {
  Record first = instance("a, b", {run("tuned", 0, 20), run("GAP", 0, 10)});
  first.tunings[0].goal = TuningGoal::final_risk;
  return make_scoreboard({first, instance("c", {run("tuned", 0, 20), run("GAP", 0, -1)})});
}

TEST(ScoreboardJson, HoldsMethodsInstancesAndProfiles) {
  const json out = json::parse(scoreboard_json(board()));
  EXPECT_EQ(out["methods"][0]["method"], "tuned");
  EXPECT_EQ(out["methods"][1]["iterations"]["geometric_mean"], 0.5);
  EXPECT_EQ(out["methods"][1]["iterations"]["within_1.05"], 1);
  EXPECT_EQ(out["methods"][1]["iterations"]["worst_instance"], "c");
  EXPECT_EQ(out["methods"][0]["search"]["trials"], 14);
  EXPECT_TRUE(out["methods"][1]["search"].is_null());
  EXPECT_EQ(out["instances"][0]["agents"], 5);
  EXPECT_EQ(out["instances"][0]["baseline"]["step"], 0.125);
  EXPECT_EQ(out["instances"][0]["baseline"]["goal"], "final-risk");
  EXPECT_EQ(out["instances"][0]["methods"][0]["search"]["goal"], "final-risk");
  EXPECT_TRUE(out["instances"][0]["methods"][1]["search"].is_null());
  EXPECT_EQ(out["instances"][0]["methods"][1]["vectors"]["value"], 30);
  EXPECT_EQ(out["profiles"]["methods"][1], "GAP");
  EXPECT_EQ(out["profiles"]["iterations"]["ratios"][0], json({1.0, 2.0}));
}

TEST(ScoreboardJson, WhatWasNeverReachedIsNull) {
  const json out = json::parse(scoreboard_json(board()));
  EXPECT_TRUE(out["instances"][1]["methods"][1]["iterations"]["value"].is_null());
  EXPECT_TRUE(out["instances"][1]["methods"][1]["iterations"]["ratio"].is_null());
  EXPECT_TRUE(out["methods"][1]["iterations"]["worst"].is_null());
}

TEST(ScoreboardCsv, HasOneLineForEachMethodOnEachInstance) {
  const std::string text = scoreboard_csv(board());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_NE(text.find("\n\"a, b\",GAP,5,ring,logistic,2,0.001,1,1e-13,tuned,0.125,0,0,0,1,1,0,0,10,30,0.001,0.01,0.5,"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(",inf,inf,0.5,5,inf,inf,"), std::string::npos) << text;
  EXPECT_NE(text.find(",goal,baseline_goal\n\"a, b\",tuned,"), std::string::npos) << text;
  EXPECT_NE(text.find(",final-risk,final-risk\n\"a, b\",GAP,"), std::string::npos) << text;
  EXPECT_NE(text.find(",,final-risk\nc,tuned,"), std::string::npos) << text;
}

}  // namespace
}  // namespace polyhop::scoreboard_export_test

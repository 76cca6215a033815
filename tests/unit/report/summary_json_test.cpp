// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/summary_json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/records.hpp"

namespace polyhop::summary_json_test {
namespace {

using Json = nlohmann::ordered_json;
using test::cell;

Record record() {
  Record out = test::record({cell("slow", 3, {9, 8, 0.5}), cell("fast", 3, {9, 1, 0.25}), cell("slow", 1, {9, 8, 7}),
                             cell("fast", 1, {9, 1, 0.25})},
                            1);
  out.config["graph"]["agents"] = 3;
  out.config["graph"]["file"] = "a\"b";
  out.config["method"] = Value::Array{Value::Table{{"average", true}, {"step", Value::Table{{"value", 0.5}}}}};
  Tuning tuning;
  tuning.method = "slow";
  tuning.value = 0.5;
  tuning.trials = 14;
  tuning.vectors = 9007199254740993;
  tuning.goal = TuningGoal::final_risk;
  out.tunings = {tuning};
  out.provenance = {{"version", "1.2.3"}, {"compiler", "g++"}};
  return out;
}

std::vector<std::string> keys(const Json& table) {
  std::vector<std::string> out;
  for (const auto& [key, value] : table.items()) out.push_back(key);
  return out;
}

TEST(SummaryJson, KeysStandInAFixedOrder) {
  const Json summary = Json::parse(summary_json(record()));
  EXPECT_EQ(keys(summary), (std::vector<std::string>{"name", "target", "seeds", "methods", "lowest", "tunings", "runs",
                                                     "config", "provenance"}));
  EXPECT_EQ(keys(summary["methods"][0]),
            (std::vector<std::string>{"method", "runs", "reached", "diverged", "unfinished", "failed", "iterations",
                                      "vectors", "evaluations", "seconds", "final_risk", "final_risk_averaged",
                                      "averaged_better", "recommended"}));
  EXPECT_EQ(keys(summary["provenance"]), (std::vector<std::string>{"version", "compiler"}));
  EXPECT_EQ(keys(summary["config"]), (std::vector<std::string>{"graph", "method"}));
  EXPECT_EQ(summary_json(record()), summary_json(record()));
}

TEST(SummaryJson, HoldsTheRanking) {
  const Json summary = Json::parse(summary_json(record()));
  EXPECT_EQ(summary["name"], "e");
  EXPECT_EQ(summary["target"], 1);
  EXPECT_EQ(summary["seeds"], Json::array({1, 3}));
  ASSERT_EQ(summary["methods"].size(), 2U);
  EXPECT_EQ(summary["methods"][0]["method"], "fast");
  EXPECT_EQ(summary["methods"][0]["reached"], 2);
  EXPECT_EQ(summary["methods"][0]["iterations"]["median"], 10);
  EXPECT_EQ(summary["methods"][1]["reached"], 1);
  EXPECT_EQ(summary["methods"][1]["final_risk"]["median"], 3.75);
}

TEST(SummaryJson, SaysWhichIterateToTakeAndHowSureThatIs) {
  Record of = record();
  for (Cell& cell : of.cells) cell.points.back().excess_risk_averaged = cell.method == "slow" ? 0.125 : 0.5;
  const Json summary = Json::parse(summary_json(of));
  EXPECT_EQ(summary["methods"][0]["recommended"], "last");
  EXPECT_EQ(summary["methods"][0]["averaged_better"], 0);
  EXPECT_EQ(summary["methods"][1]["recommended"], "averaged");
  EXPECT_EQ(summary["methods"][1]["averaged_better"], 2);
  EXPECT_EQ(summary["methods"][1]["final_risk_averaged"]["median"], 0.125);
  EXPECT_EQ(summary["runs"][0]["excess_risk_averaged"], 0.125);
  EXPECT_EQ(summary["lowest"], Json::parse(R"({"method": "slow", "recommended": "averaged", "next": "fast",
      "next_recommended": "last", "seeds": 2, "lower": 2, "higher": 0, "p": 0.5})"));
  EXPECT_TRUE(Json::parse(summary_json(test::record({cell("m", 0, {9, 1})}, 1)))["lowest"].is_null());
}

TEST(SummaryJson, NumbersThatAreNoneAreNull) {
  Record of = record();
  of.cells[0].points[2].excess_risk = std::numeric_limits<double>::quiet_NaN();
  of.cells[0].reference_accuracy = std::numeric_limits<double>::infinity();
  const Json summary = Json::parse(summary_json(of));
  EXPECT_TRUE(summary["methods"][1]["iterations"]["median"].is_null());
  EXPECT_TRUE(summary["runs"][0]["excess_risk"].is_null());
  EXPECT_TRUE(summary["runs"][0]["reference"]["accuracy"].is_null());
}

TEST(SummaryJson, HoldsRunsTuningsAndConfig) {
  Record of = record();
  of.cells.push_back(cell("slow", 7, {}, Status::failed));
  of.cells.back().message = "it broke";
  const Json summary = Json::parse(summary_json(of));
  EXPECT_EQ(summary["runs"][0]["method"], "slow");
  EXPECT_EQ(summary["runs"][0]["seed"], 3);
  EXPECT_EQ(summary["runs"][0]["status"], "done");
  EXPECT_EQ(summary["runs"][0]["iterations"], 20);
  EXPECT_FALSE(summary["runs"][0].contains("message"));
  EXPECT_EQ(summary["runs"][4]["message"], "it broke");
  EXPECT_TRUE(summary["runs"][4]["iterations"].is_null());
  EXPECT_EQ(summary["tunings"][0]["trials"], 14);
  EXPECT_EQ(summary["tunings"][0]["vectors"], 9007199254740993);
  EXPECT_EQ(summary["tunings"][0]["goal"], "final-risk");
  EXPECT_EQ(summary["config"]["graph"]["agents"], 3);
  EXPECT_EQ(summary["config"]["graph"]["file"], "a\"b");
  EXPECT_EQ(summary["config"]["method"][0]["step"]["value"], 0.5);
  EXPECT_EQ(summary["config"]["method"][0]["average"], true);
}

TEST(SummaryJson, OfAnEmptyRecordIsStillJson) {
  const Json summary = Json::parse(summary_json(Record()));
  EXPECT_TRUE(summary["methods"].is_array());
  EXPECT_TRUE(summary["methods"].empty());
  EXPECT_TRUE(summary["config"].is_null());
}

TEST(SummaryJson, BytesThatAreNoTextDoNotBreakIt) {
  Record of = record();
  of.cells[0].method = "\xff\x01";
  EXPECT_TRUE(Json::parse(summary_json(of)).is_object());
}

}  // namespace
}  // namespace polyhop::summary_json_test

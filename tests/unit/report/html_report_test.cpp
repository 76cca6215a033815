// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/html_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/report/thinning.hpp"
#include "support/records.hpp"

namespace polyhop::html_report_test {
namespace {

// A run at `risks[n]` at iteration n.
Cell cell(const std::string& method, std::uint64_t seed, const std::vector<double>& risks,
          Status status = Status::done) {
  Cell out = test::cell(method, seed, risks, status, 1);
  for (Point& point : out.points) point.vectors = 2 * point.iteration;
  return out;
}

Record record(std::vector<Cell> cells) { return test::record(std::move(cells), 0.5); }

// The data block of a page.
std::string data(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="data">)";
  const auto at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}

// What stands behind "key": the first time, up to the end of that list.
std::string list(const std::string& json, const std::string& key) {
  const auto at = json.find("\"" + key + "\":[");
  if (at == std::string::npos) return "";
  const auto begin = json.find('[', at);
  return json.substr(begin, json.find(']', begin) + 1 - begin);
}

Index entries(const std::string& list) { return 1 + static_cast<Index>(std::ranges::count(list, ',')); }

bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

TEST(Thinning, KeepsEverythingThatFits) {
  EXPECT_EQ(thinned(0, 10), std::vector<Index>{});
  EXPECT_EQ(thinned(1, 10), (std::vector<Index>{0}));
  EXPECT_EQ(thinned(4, 4), (std::vector<Index>{0, 1, 2, 3}));
}

TEST(Thinning, MixesEvenAndGeometricPlaces) {
  // Even: 0, 50, 100. Geometric: 100^(1/3), 100^(2/3), 100.
  EXPECT_EQ(thinned(101, 6), (std::vector<Index>{0, 5, 22, 50, 100}));
}

TEST(Thinning, KeepsBothEndsInOrderAndStaysWithinItsLimit) {
  for (const Index count : {3, 10, 599, 600, 601, 1000, 1'000'000}) {
    for (const Index most : {2, 3, 20, 600}) {
      const auto kept = thinned(count, most);
      EXPECT_LE(static_cast<Index>(kept.size()), std::min(count, most));
      EXPECT_EQ(kept.front(), 0) << count << " " << most;
      EXPECT_EQ(kept.back(), count - 1) << count << " " << most;
      EXPECT_TRUE(std::ranges::adjacent_find(kept, std::greater_equal<>()) == kept.end()) << count << " " << most;
    }
  }
}

TEST(HtmlReport, ShowsMedianAndQuantilesOverSeeds) {
  std::vector<Cell> cells;
  for (std::uint64_t seed = 0; seed <= 10; ++seed) cells.push_back(cell("a", seed, {1.0 + static_cast<double>(seed)}));
  const std::string json = data(html_report({record(std::move(cells))}));
  EXPECT_TRUE(has(json, R"("excess-risk":{"low":[2],"median":[6],"high":[10]})")) << json;
}

TEST(HtmlReport, PutsCostsBesideTheirIteration) {
  const std::string json = data(html_report({record({cell("a", 0, {4, 2, 1})})}));
  EXPECT_TRUE(has(json, R"("x":{"iterations":[0,1,2],"vectors":[0,2,4])")) << json;
}

TEST(HtmlReport, AfterDivergenceTheRiskIsInfinite) {
  const std::string json = data(html_report(
      {record({cell("a", 0, {4, 2, 1}), cell("a", 1, {4, 2, 1}), cell("a", 2, {8, 9}, Status::diverged)})}));
  EXPECT_TRUE(has(json, R"("median":[4,2,1],"high":[7.2,7.6,1e999])")) << json;
  EXPECT_TRUE(has(json, R"("diverged":[{"seed":"2","iterations":1,"vectors":2)")) << json;
}

TEST(HtmlReport, AMeasureThatWasNotRecordedIsNotShown) {
  const std::string json = data(html_report({record({cell("a", 0, {4, 2, 1})})}));
  EXPECT_TRUE(has(json, R"("excess-risk-averaged":null)")) << json;
}

TEST(HtmlReport, ThinsLongCurves) {
  std::vector<double> risks(5000);
  for (std::size_t n = 0; n < risks.size(); ++n) risks[n] = 1 / static_cast<double>(n + 1);
  const std::string json = data(html_report({record({cell("a", 0, risks)})}));
  // The first "vectors" is the ranking's; the curve's own begins at zero.
  const auto at = json.find(R"("vectors":[0,2,)");
  ASSERT_NE(at, std::string::npos);
  const Index count = entries(list(json.substr(at), "vectors"));
  EXPECT_GT(count, 300);
  EXPECT_LE(count, 600);
}

TEST(HtmlReport, ThinsMoreWhereMethodsAreMany) {
  std::vector<Cell> cells;
  const std::vector<double> risks(300, 1.0);
  for (int m = 0; m < 200; ++m) cells.push_back(cell("method " + std::to_string(m), 0, risks));
  const std::string page = html_report({record(std::move(cells))});
  EXPECT_TRUE(has(data(page), R"("curve_points":100,)"));
  EXPECT_LT(page.size(), 10'000'000U);
}

TEST(HtmlReport, KeepsAgentsStepsOfTheFirstSeed) {
  Cell first = cell("a", 3, {2, 1});
  first.steps = {{std::numeric_limits<double>::quiet_NaN(), 0.5}, {0.25, 0.125}};
  Cell second = cell("a", 4, {2, 1});
  second.steps = {{7, 7}, {7, 7}};
  const std::string json = data(html_report({record({first, second})}));
  EXPECT_TRUE(has(json, R"("steps":{"seed":"3")")) << json;
  EXPECT_TRUE(has(json, R"("agents":{"iterations":[0,1],"steps":[[null,0.5],[0.25,0.125]],"distances":null})")) << json;
  EXPECT_TRUE(has(json, R"("iterations":[0,1],"risk":[2,1],"min")")) << json;
  EXPECT_FALSE(has(json, "[7,7]"));
}

TEST(HtmlReport, KeepsAgentsDistancesWhereTheyWereRecordedFromTheBeginning) {
  Cell run = cell("a", 3, {2, 1});
  run.steps = {{0.5, 0.5}, {0.25, 0.125}};
  run.distances = {{0, 0}, {1.5, 0.75}};
  EXPECT_TRUE(has(data(html_report({record({run})})), R"("distances":[[0,0],[1.5,0.75]])"));
  run.distances.pop_back();
  EXPECT_TRUE(has(data(html_report({record({run})})), R"("distances":null)"));
}

TEST(HtmlReport, HasTheFileThatMakesTheExperimentAgain) {
  Record of = record({cell("a", 0, {1})});
  of.config["name"] = "e";
  of.config["graph"]["topology"] = "ring";
  EXPECT_TRUE(has(data(html_report({of})), R"("toml":["name = \"e\"","","[graph]","topology = \"ring\""])"))
      << list(data(html_report({of})), "toml");
}

TEST(HtmlReport, ThinsAgentsStepsMoreWhereMethodsAreMany) {
  const auto shown = [](Index methods) {
    Record all = record({cell("m", 0, std::vector<double>(60, 1.0))});
    all.cells[0].steps.assign(60, MeteredVector<double>(500, 0.5));
    for (Index m = 1; m < methods; ++m) all.cells.push_back(cell("m" + std::to_string(m), 0, {1}));
    const std::string json = data(html_report({all}));
    return entries(list(json.substr(json.find("\"agents\":{")), "iterations"));
  };
  EXPECT_EQ(shown(1), 60);
  EXPECT_LE(shown(20), 40);  // 400,000 steps in all, of 500 agents and 20 methods
}

TEST(HtmlReport, ListsTheFirstHundredRunsThatDidNotGoTheirWay) {
  Record all = record({});
  for (std::uint64_t seed = 0; seed < 101; ++seed) all.cells.push_back(cell("m", seed, {1, 2}, Status::diverged));
  const std::string json = data(html_report({all}));
  std::size_t listed = 0;
  for (std::size_t at = 0; (at = json.find("\"status\":\"diverged\"", at)) != std::string::npos; ++at) ++listed;
  EXPECT_EQ(listed, 100U);
}

TEST(HtmlReport, TellsTheSizeOfANetworkThatIsTooLargeToDraw) {
  Record of = record({cell("a", 0, {1})});
  NetworkPicture network;
  network.agents = 501;
  network.edges = {{0, 1}};
  of.networks = {network};
  EXPECT_TRUE(has(data(html_report({of})), R"("agents":501,"links":1,"edges":null)"));
  of.networks.front().agents = 500;
  EXPECT_TRUE(has(data(html_report({of})), R"("edges":[[0,1]])"));
}

TEST(HtmlReport, TextsCannotLeaveTheirPlace) {
  const std::string bad = "</script><!-- & \xe2\x80\xa8 \xe2\x80\xa9 \xff \" \\ @DATA@";
  Record of = record({cell(bad, 0, {1})});
  of.name = bad;
  of.provenance = {{bad, bad}};
  of.config[bad] = bad;
  const std::string page = html_report({of});
  const std::string json = data(page);
  EXPECT_EQ(json.find_first_of("<>&"), std::string::npos);
  EXPECT_FALSE(has(page, "\xe2\x80\xa8"));
  EXPECT_FALSE(has(page, "\xe2\x80\xa9"));
  EXPECT_FALSE(has(page, "\xff"));
  EXPECT_TRUE(has(page, "<title>&lt;/script&gt;&lt;!-- &amp;"));
  EXPECT_EQ(json.back(), '}');
}

TEST(HtmlReport, IsAPageForNothingAtAll) {
  EXPECT_TRUE(has(html_report({}), "</html>"));
  EXPECT_TRUE(has(html_report({Record{}}), "</html>"));
}

TEST(HtmlReport, IsTheSameEachTime) {
  const std::vector<Record> records = {record({cell("a", 0, {2, 1}), cell("b", 0, {2, 1})})};
  EXPECT_EQ(html_report(records), html_report(records));
}

}  // namespace
}  // namespace polyhop::html_report_test

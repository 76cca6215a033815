// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/curves_csv.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/records.hpp"

namespace polyhop {
namespace {

std::string csv(const Record& record) {
  std::string out;
  write_curves(record, [&](std::string_view text) { out += text; });
  return out;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) out.push_back(part);
  return out;
}

Record record_of(std::vector<Cell> cells) { return test::record(std::move(cells)); }

Cell cell_of(const std::string& method, std::vector<Point> points, Status status = Status::done) {
  Cell cell;
  cell.method = method;
  cell.seed = 3;
  cell.status = status;
  cell.points = std::move(points);
  return cell;
}

constexpr const char* header =
    "experiment,method,seed,iteration,seconds,excess_risk,excess_risk_worst,excess_risk_mean_model,excess_risk_"
    "averaged,"
    "consensus_error,distance,step_min,step_median,step_max,rounds,vectors,scalars,step_vectors,step_scalars,values,"
    "gradients,status,level,error_rate,crossed_vectors,crossed_scalars\n";

TEST(CurvesCsv, HasTheHeaderOfTheInterface) { EXPECT_EQ(csv(record_of({})), header); }

TEST(CurvesCsv, PutsEveryNumberUnderItsName) {
  Point point;
  point.iteration = 1;
  point.seconds = 2.5;
  point.excess_risk = 3.5;
  point.excess_risk_worst = 4.5;
  point.excess_risk_mean_model = 5.5;
  point.excess_risk_averaged = 6.5;
  point.consensus_error = 7.5;
  point.distance = 8.5;
  point.step_min = 9.5;
  point.step_median = 10.5;
  point.step_max = 11.5;
  point.rounds = 12;
  point.vectors = 13;
  point.scalars = 14;
  point.step_vectors = 15;
  point.step_scalars = 16;
  point.values = 17;
  point.gradients = 18;
  point.level = 19.5;
  point.error_rate = 0.25;
  point.crossed_vectors = 21;
  point.crossed_scalars = 22;
  EXPECT_EQ(csv(record_of({cell_of("m", {point})})),
            std::string(header) +
                "e,m,3,1,2.5,3.5,4.5,5.5,6.5,7.5,8.5,9.5,10.5,11.5,12,13,14,15,16,17,18,done,19.5,0.25,21,22\n");
}

TEST(CurvesCsv, WritesALineForEachPointAndTheStatusOnEach) {
  Point second;
  second.iteration = 10;
  const auto lines =
      split(csv(record_of({cell_of("a", {Point(), second}, Status::diverged),
                           cell_of("b", {Point()}, Status::time_limit), cell_of("c", {Point()}, Status::target)})),
            '\n');
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(lines[1].starts_with("e,a,3,0,"));
  EXPECT_TRUE(lines[1].ends_with(",diverged,nan,nan,0,0"));
  EXPECT_TRUE(lines[2].starts_with("e,a,3,10,"));
  EXPECT_TRUE(lines[2].ends_with(",diverged,nan,nan,0,0"));
  EXPECT_TRUE(lines[3].starts_with("e,b,3,0,"));
  EXPECT_TRUE(lines[3].ends_with(",time-limit,nan,nan,0,0"));
  EXPECT_TRUE(lines[4].ends_with(",target,nan,nan,0,0"));
}

TEST(CurvesCsv, QuotesNamesThatWouldMislead) {
  const auto start_of = [](const std::string& experiment, const std::string& method) {
    Record record = record_of({cell_of(method, {Point()})});
    record.name = experiment;
    const std::string text = csv(record);
    const std::size_t from = std::string(header).size();
    return text.substr(from, text.find(",3,0,", from) - from);
  };
  EXPECT_EQ(start_of("e", "plain name"), "e,plain name");
  EXPECT_EQ(start_of("e", "a,b"), "e,\"a,b\"");
  EXPECT_EQ(start_of("e", "say \"hi\""), "e,\"say \"\"hi\"\"\"");
  EXPECT_EQ(start_of("e", "two\nlines"), "e,\"two\nlines\"");
  EXPECT_EQ(start_of("e", "two\r\nlines"), "e,\"two\r\nlines\"");
  EXPECT_EQ(start_of("x,y", "a"), "\"x,y\",a");
  EXPECT_EQ(start_of("größer", "µ=0.5"), "größer,µ=0.5");
}

TEST(CurvesCsv, NumbersReadBackToTheSameBits) {
  using Limits = std::numeric_limits<double>;
  for (const double x : {0.0, -0.0, 1.0 / 3, 0.1, -2e-308, 5e-324, Limits::max(), Limits::min(), 1 + Limits::epsilon(),
                         1e22, 1e23, 123456789.123456789, Limits::infinity(), -Limits::infinity()}) {
    Point point;
    point.excess_risk = x;
    const std::string text = split(split(csv(record_of({cell_of("m", {point})})), '\n')[1], ',')[5];
    EXPECT_EQ(std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)), std::bit_cast<std::uint64_t>(x))
        << text;
  }
}

TEST(CurvesCsv, WritesUnknownNumbersAsNan) {
  Point point;
  point.distance = std::numeric_limits<double>::quiet_NaN();
  const auto cells = split(split(csv(record_of({cell_of("m", {point})})), '\n')[1], ',');
  EXPECT_EQ(cells[8], "nan");   // excess_risk_averaged
  EXPECT_EQ(cells[10], "nan");  // distance
}

TEST(CurvesCsv, WritesLargeCountsAndSeedsAsIntegers) {
  Point point;
  point.vectors = 9007199254740993;  // not a double
  Cell cell = cell_of("m", {point});
  cell.seed = 9223372036854775807U;
  const auto cells = split(split(csv(record_of({cell})), '\n')[1], ',');
  EXPECT_EQ(cells[2], "9223372036854775807");
  EXPECT_EQ(cells[15], "9007199254740993");
}

}  // namespace
}  // namespace polyhop

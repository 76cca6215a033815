// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/curves_csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "support/records.hpp"

namespace polyhop::curves_csv_test {
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

Cell cell_of(const std::string& method, MeteredVector<Point> points, Status status = Status::done) {
  Cell cell;
  cell.method = method;
  cell.seed = 3;
  cell.status = status;
  cell.points = std::move(points);
  return cell;
}

// Scripts rely on these columns and their places; later ones may follow.
constexpr std::string_view promised =
    "experiment,method,seed,iteration,seconds,excess_risk,excess_risk_worst,excess_risk_mean_model,excess_risk_"
    "averaged,"
    "consensus_error,distance,step_min,step_median,step_max,rounds,vectors,scalars,step_vectors,step_scalars,values,"
    "gradients,status,level,error_rate,crossed_vectors,crossed_scalars";

std::vector<std::string> cells_of(const std::string& csv, std::size_t line) {
  return split(split(csv, '\n')[line], ',');
}

std::size_t place_of(std::string_view column) {
  const auto names = cells_of(csv(record_of({})), 0);
  return static_cast<std::size_t>(std::ranges::find(names, column) - names.begin());
}

TEST(CurvesCsv, BeginsWithTheColumnsOfTheInterface) {
  EXPECT_TRUE(csv(record_of({})).starts_with(promised)) << csv(record_of({}));
  EXPECT_EQ(cells_of(csv(record_of({})), 0).size(), 4 + point_columns.size());
}

TEST(CurvesCsv, PutsEveryNumberUnderItsName) {
  for (const PointColumn& column : point_columns) {
    Point point;
    std::visit([&](const auto number) { point.*number = 7; }, column.number);
    const auto cells = cells_of(csv(record_of({cell_of("m", {point})})), 1);
    EXPECT_EQ(cells.at(place_of(column.name)), "7") << column.name;
    EXPECT_EQ(std::ranges::count(cells, "7"), 1) << column.name;
    EXPECT_EQ(cells.at(place_of("status")), "done");
  }
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
  EXPECT_TRUE(lines[1].find(",0,diverged,nan,nan,0,0") != std::string::npos);
  EXPECT_TRUE(lines[2].starts_with("e,a,3,10,"));
  EXPECT_TRUE(lines[2].find(",0,diverged,nan,nan,0,0") != std::string::npos);
  EXPECT_TRUE(lines[3].starts_with("e,b,3,0,"));
  EXPECT_TRUE(lines[3].find(",0,time-limit,nan,nan,0,0") != std::string::npos);
  EXPECT_TRUE(lines[4].find(",0,target,nan,nan,0,0") != std::string::npos);
}

TEST(CurvesCsv, QuotesNamesThatWouldMislead) {
  const auto start_of = [](const std::string& experiment, const std::string& method) {
    Record record = record_of({cell_of(method, {Point()})});
    record.name = experiment;
    const std::string text = csv(record);
    const std::size_t from = text.find('\n') + 1;
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
    const std::string text = cells_of(csv(record_of({cell_of("m", {point})})), 1)[5];
    EXPECT_EQ(std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)), std::bit_cast<std::uint64_t>(x))
        << text;
  }
}

TEST(CurvesCsv, WritesUnknownNumbersAsNan) {
  Point point;
  point.distance = std::numeric_limits<double>::quiet_NaN();
  const auto cells = cells_of(csv(record_of({cell_of("m", {point})})), 1);
  EXPECT_EQ(cells[8], "nan");   // excess_risk_averaged
  EXPECT_EQ(cells[10], "nan");  // distance
}

TEST(CurvesCsv, WritesLargeCountsAndSeedsAsIntegers) {
  Point point;
  point.vectors = 9007199254740993;  // not a double
  Cell cell = cell_of("m", {point});
  cell.seed = 9223372036854775807U;
  const auto cells = cells_of(csv(record_of({cell})), 1);
  EXPECT_EQ(cells[2], "9223372036854775807");
  EXPECT_EQ(cells[15], "9007199254740993");
}

}  // namespace
}  // namespace polyhop::curves_csv_test

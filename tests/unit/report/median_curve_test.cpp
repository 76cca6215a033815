// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/median_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "support/records.hpp"

namespace polyhop::median_curve_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A run at risks[n] at iteration 10 n; a vector costs `price` iterations' worth.
Cell cell(const std::vector<double>& risks, Status status = Status::done, Index price = 1) {
  Cell out = test::cell("m", risks, status);
  for (Point& point : out.points) {
    const double risk = point.excess_risk;
    point.excess_risk_worst = 2 * risk;
    point.excess_risk_mean_model = 3 * risk;
    point.excess_risk_averaged = 4 * risk;
    point.consensus_error = 5 * risk;
    point.distance = 6 * risk;
    point.error_rate = 7 * risk;
    point.vectors = price * point.iteration;
    point.values = 2 * point.iteration;
    point.gradients = point.iteration;
    point.seconds = 0.5 * static_cast<double>(point.iteration);
  }
  return out;
}

constexpr CurveY excess_risk = curve_y(&Point::excess_risk);

std::vector<CurvePoint> curve(std::vector<Cell> cells, CurveX x = CurveX::iterations, CurveY y = excess_risk) {
  const auto curves = median_curves(test::record(std::move(cells)), x, y);
  return curves.size() == 1 ? curves[0].points : std::vector<CurvePoint>();
}

std::vector<double> medians(std::vector<Cell> cells) {
  std::vector<double> out;
  for (const CurvePoint& p : curve(std::move(cells))) out.push_back(p.y.median);
  return out;
}

TEST(MedianCurve, TakesMediansAndOuterTenthsAtEachIteration) {
  const auto points = curve({cell({9, 3}), cell({9, 1}), cell({9, 2})});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].x, 10);
  EXPECT_EQ(points[1].y.median, 2);
  EXPECT_DOUBLE_EQ(points[1].y.low, 1.2);
  EXPECT_DOUBLE_EQ(points[1].y.high, 2.8);
}

TEST(MedianCurve, ExcessRisksThatRoundingMakesAreZero) {
  Cell sure = cell({9, 1e-3, 1e-14, -1e-18});
  sure.reference_value = 10;  // so that excess risks below 1e-13 are rounding
  EXPECT_EQ(medians({sure}), (std::vector<double>{9, 1e-3, 0, 0}));
  const auto distances = curve({sure}, CurveX::iterations, curve_y(&Point::distance));
  EXPECT_EQ(distances.at(2).y.median, 6e-14) << "which is no difference of two costs";
  sure.reference_value = 0;
  EXPECT_EQ(medians({sure}), (std::vector<double>{9, 1e-3, 1e-14, 0}));
}

TEST(MedianCurve, TakesTheMedianOfTheCostAtTheSameIteration) {
  const std::vector<Cell> cells = {cell({9, 1}, Status::done, 1), cell({9, 1}, Status::done, 2),
                                   cell({9, 1}, Status::done, 7)};
  EXPECT_EQ(curve(cells, CurveX::vectors).at(1).x, 20);
  EXPECT_EQ(curve(cells, CurveX::evaluations).at(1).x, 30);
  EXPECT_EQ(curve(cells, CurveX::seconds).at(1).x, 5);
}

TEST(MedianCurve, ShowsWhatItIsAskedFor) {
  const auto at = [](CurveY y) { return curve({cell({1})}, CurveX::iterations, y).at(0).y.median; };
  EXPECT_EQ(at(curve_y(&Point::excess_risk)), 1);
  EXPECT_EQ(at(curve_y(&Point::excess_risk_worst)), 2);
  EXPECT_EQ(at(curve_y(&Point::excess_risk_mean_model)), 3);
  EXPECT_EQ(at(curve_y(&Point::excess_risk_averaged)), 4);
  EXPECT_EQ(at(curve_y(&Point::consensus_error)), 5);
  EXPECT_EQ(at(curve_y(&Point::distance)), 6);
  EXPECT_EQ(at(curve_y(&Point::error_rate)), 7);
}

TEST(MedianCurve, OffersEveryMeasureByItsNameWithDashes) {
  const auto names = Codec<CurveY>::all();
  const std::vector<std::string> promised = {
      "excess-risk", "excess-risk-worst", "excess-risk-mean-model", "excess-risk-averaged", "consensus-error",
      "distance",    "error-rate"};
  ASSERT_GE(names.size(), promised.size());
  EXPECT_TRUE(std::equal(promised.begin(), promised.end(), names.begin()));
  for (const std::string& name : names) EXPECT_EQ(name_of(Codec<CurveY>::read(Value(name))), name);
  EXPECT_EQ(column_of(Codec<CurveY>::read(Value("error-rate"))).number, column_of(&Point::error_rate).number);
  EXPECT_THROW(Codec<CurveY>::read(Value("step-min")), InputError);
}

// An axis without a text would be drawn all the same.
TEST(MedianCurve, EveryAxisHasALabel) {
  for (const PointColumn& column : columns_of<ColumnKind::measure>) EXPECT_FALSE(column.label.empty()) << column.name;
  for (const auto& [x, name] : EnumNames<CurveX>::names) EXPECT_FALSE(label_of(x).empty()) << name;
}

TEST(MedianCurve, ARunThatEndedAtTheTargetStaysThere) {
  EXPECT_EQ(medians({cell({9, 1}, Status::target), cell({9, 8, 7}), cell({9, 6, 5})}), (std::vector<double>{9, 6, 5}));
}

TEST(MedianCurve, ADivergedRunIsInfinitelyFarFromThenOn) {
  EXPECT_EQ(medians({cell({9, 1e12}, Status::diverged), cell({9, 8, 7}), cell({9, 6, 5})}),
            (std::vector<double>{9, 8, 7}));
  EXPECT_EQ(medians({cell({9, 1e12}, Status::diverged), cell({9, 8, 7})}).back(), infinity);
}

TEST(MedianCurve, ARunOutOfTimeIsLikeADivergedOne) {
  EXPECT_EQ(medians({cell({9, 1}, Status::time_limit), cell({9, 8, 7}), cell({9, 6, 5})}),
            (std::vector<double>{9, 6, 7}));
}

TEST(MedianCurve, EndsWhereFewerThanHalfGoOn) {
  EXPECT_EQ(medians({cell({9, 1}, Status::target), cell({9, 1}, Status::target), cell({9, 8, 7})}),
            (std::vector<double>{9, 1}));
}

TEST(MedianCurve, LeavesOutRunsThatHaveNotEnded) {
  EXPECT_EQ(medians({cell({9, 1}), cell({900, 800, 700}, Status::unfinished), cell({}, Status::failed)}),
            (std::vector<double>{9, 1}));
  EXPECT_TRUE(medians({cell({9, 1}, Status::unfinished)}).empty());
}

TEST(MedianCurve, ARunWithoutPointsIsNowhere) {
  EXPECT_EQ(medians({cell({}), cell({9, 1}), cell({9, 3})}), (std::vector<double>{9, 3}));
  EXPECT_TRUE(medians({cell({})}).empty());
  EXPECT_TRUE(median_curves(Record(), CurveX::iterations, curve_y(&Point::excess_risk)).empty());
}

}  // namespace
}  // namespace polyhop::median_curve_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/loss_table.hpp"
#include "support/losses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace polyhop::loss_table_test {
namespace {

const std::array<std::string, 5> all = {"least-squares", "logistic", "huber", "smoothed-hinge", "poisson"};

double value(const Loss& loss, double z, double y) {
  double out = 0;
  loss.values({&z, 1}, {&y, 1}, {&out, 1});
  return out;
}
double slope(const Loss& loss, double z, double y) {
  double out = 0;
  loss.slopes({&z, 1}, {&y, 1}, {&out, 1});
  return out;
}
double curvature(const Loss& loss, double z, double y) {
  double out = 0;
  loss.curvatures({&z, 1}, {&y, 1}, {&out, 1});
  return out;
}

// Predictions and targets away from the corners of Huber's loss, |z - y| = delta = 0.7, and of the smoothed hinge,
// y z = 0 and 1. No count is -1, but the formula does not mind.
struct Point {
  double z;
  double y;
};
const std::vector<Point> points = {{0.1, 1},   {0.5, 1}, {-2, 1},  {3, 1},  {0.1, -1},
                                   {-0.5, -1}, {2, -1},  {-3, -1}, {1.1, 1}};

TEST(Loss, LeastSquaresIsHalfTheSquare) {
  const auto loss = make_loss("least-squares");
  EXPECT_EQ(value(*loss, 5, 2), 4.5);
  EXPECT_EQ(slope(*loss, 5, 2), 3);
  EXPECT_EQ(curvature(*loss, 5, 2), 1);
  EXPECT_TRUE(loss->is_quadratic());
  EXPECT_NE(loss->task(), Task::two_classes);
}

TEST(Loss, LogisticIsTheLogarithmOfOnePlusTheExponential) {
  const auto loss = make_loss("logistic");
  EXPECT_DOUBLE_EQ(value(*loss, 0, 1), std::log(2.0));
  EXPECT_DOUBLE_EQ(value(*loss, 2, 1), std::log(1 + std::exp(-2.0)));
  EXPECT_DOUBLE_EQ(value(*loss, 2, -1), std::log(1 + std::exp(2.0)));
  EXPECT_EQ(slope(*loss, 0, 1), -0.5);
  EXPECT_EQ(slope(*loss, 0, -1), 0.5);
  EXPECT_EQ(curvature(*loss, 0, 1), 0.25);
  EXPECT_FALSE(loss->is_quadratic());
  EXPECT_EQ(loss->task(), Task::two_classes);
}

TEST(Loss, HuberIsASquareInsideAndALineOutside) {
  const auto loss = make_loss("huber", 2);
  EXPECT_EQ(value(*loss, 1, 0), 0.5);
  EXPECT_EQ(value(*loss, 2, 0), 2);
  EXPECT_EQ(value(*loss, 5, 0), 8);
  EXPECT_EQ(value(*loss, -5, 0), 8);
  EXPECT_EQ(slope(*loss, 1, 0), 1);
  EXPECT_EQ(slope(*loss, 5, 0), 2);
  EXPECT_EQ(slope(*loss, -5, 0), -2);
  EXPECT_EQ(curvature(*loss, 1, 0), 1);
  EXPECT_EQ(curvature(*loss, 5, 0), 0);
  EXPECT_FALSE(loss->is_quadratic());
  EXPECT_NE(loss->task(), Task::two_classes);
}

TEST(Loss, SmoothedHingeIsFlatThenASquareThenALine) {
  const auto loss = make_loss("smoothed-hinge");
  for (const double y : {1.0, -1.0}) {
    EXPECT_EQ(value(*loss, 1.5 * y, y), 0);
    EXPECT_EQ(value(*loss, 1 * y, y), 0);
    EXPECT_EQ(value(*loss, 0.5 * y, y), 0.125);
    EXPECT_EQ(value(*loss, 0, y), 0.5);
    EXPECT_EQ(value(*loss, -3 * y, y), 3.5);
    EXPECT_EQ(slope(*loss, 1.5 * y, y), 0);
    EXPECT_EQ(slope(*loss, 0.5 * y, y), -0.5 * y);
    EXPECT_EQ(slope(*loss, -3 * y, y), -y);
    EXPECT_EQ(curvature(*loss, 0.5 * y, y), 1);
    EXPECT_EQ(curvature(*loss, 1.5 * y, y), 0);
    EXPECT_EQ(curvature(*loss, -0.5 * y, y), 0);
  }
  EXPECT_EQ(loss->task(), Task::two_classes);
  EXPECT_FALSE(loss->has_tail()) << "separated classes have a minimiser";
  EXPECT_FALSE(loss->is_quadratic());
}

TEST(Loss, PoissonIsTheExponentialWithoutTheFactorial) {
  const auto loss = make_loss("poisson");
  EXPECT_EQ(value(*loss, 0, 3), 1);
  EXPECT_DOUBLE_EQ(value(*loss, 2, 3), std::exp(2.0) - 6);
  EXPECT_DOUBLE_EQ(slope(*loss, 2, 3), std::exp(2.0) - 3);
  EXPECT_DOUBLE_EQ(curvature(*loss, 2, 3), std::exp(2.0));
  EXPECT_NEAR(slope(*loss, std::log(3.0), 3), 0, 1e-15);
  EXPECT_NEAR(value(*loss, std::log(3.0), 3), 3 - 3 * std::log(3.0), 1e-15) << "the least, which is not 0";
  EXPECT_EQ(loss->task(), Task::counts);
  EXPECT_NE(loss->task(), Task::two_classes);
  EXPECT_FALSE(std::isfinite(loss->max_curvature()));
}

TEST(Loss, PoissonOverflowsToInfinity) {
  const auto loss = make_loss("poisson");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(value(*loss, 1000, 3), infinity);
  EXPECT_EQ(slope(*loss, 1000, 3), infinity);
  EXPECT_EQ(value(*loss, -1000, 3), 3000);
  EXPECT_EQ(slope(*loss, -1000, 3), -3);
}

TEST(Loss, SoftmaxIsNoFunctionOfOnePrediction) { EXPECT_EQ(make_loss("softmax"), nullptr); }

TEST(Loss, SlopesAreThoseOfTheValues) {
  for (const std::string& name : all) {
    const auto loss = make_loss(name, 0.7);
    for (const auto& [z, y] : points) {
      const double h = 1e-5;
      const double difference = (value(*loss, z + h, y) - value(*loss, z - h, y)) / (2 * h);
      EXPECT_NEAR(slope(*loss, z, y), difference, 1e-9) << name << " at " << z << ", " << y;
    }
  }
}

TEST(Loss, CurvaturesAreThoseOfTheSlopes) {
  for (const std::string& name : all) {
    const auto loss = make_loss(name, 0.7);
    for (const auto& [z, y] : points) {
      const double h = 1e-5;
      const double difference = (slope(*loss, z + h, y) - slope(*loss, z - h, y)) / (2 * h);
      EXPECT_NEAR(curvature(*loss, z, y), difference, 1e-9) << name << " at " << z << ", " << y;
    }
  }
}

TEST(Loss, MaxCurvatureIsTheLargestCurvature) {
  for (const std::string& name : all) {
    if (name == "poisson") continue;
    const auto loss = make_loss(name, 0.7);
    double largest = 0;
    for (int n = -1000; n <= 1000; ++n) largest = std::max(largest, curvature(*loss, 0.01 * n, 1));
    EXPECT_LE(largest, loss->max_curvature()) << name;
    EXPECT_GE(largest, 0.999 * loss->max_curvature()) << name << ": the bound is attained";
  }
}

TEST(Loss, LogisticSurvivesHugeMargins) {
  const auto loss = make_loss("logistic");
  for (const double margin : {800.0, 1e10, 1e308}) {
    EXPECT_EQ(value(*loss, margin, 1), 0) << margin;
    EXPECT_EQ(value(*loss, -margin, 1), margin) << margin;
    EXPECT_EQ(value(*loss, margin, -1), margin) << margin;
    EXPECT_EQ(slope(*loss, margin, 1), 0) << margin;
    EXPECT_EQ(slope(*loss, -margin, 1), -1) << margin;
    EXPECT_EQ(slope(*loss, margin, -1), 1) << margin;
    EXPECT_EQ(curvature(*loss, margin, 1), 0) << margin;
    EXPECT_EQ(curvature(*loss, -margin, 1), 0) << margin;
  }
}

TEST(Loss, LogisticKeepsItsDigitsAtLargeMargins) {
  const auto loss = make_loss("logistic");
  // ln(1 + e^-40) = e^-40 to 17 digits, where 1 + e^-40 is 1.
  EXPECT_DOUBLE_EQ(value(*loss, 40, 1), std::exp(-40.0));
  EXPECT_DOUBLE_EQ(slope(*loss, 40, 1), -std::exp(-40.0));
  EXPECT_DOUBLE_EQ(value(*loss, 700, 1), std::exp(-700.0));
}

TEST(Loss, PassesOnWhatIsNotANumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::string& name : all) {
    const auto loss = make_loss(name);
    EXPECT_TRUE(std::isnan(value(*loss, nan, 1))) << name;
    EXPECT_TRUE(std::isnan(slope(*loss, nan, 1))) << name;
  }
}

TEST(Loss, WorksOnWholeArrays) {
  const auto loss = make_loss("least-squares");
  const std::vector<double> z = {1, 2, 3};
  const std::vector<double> y = {0, 4, 3};
  std::vector<double> out(3);
  loss->values(z, y, out);
  EXPECT_EQ(out, (std::vector<double>{0.5, 2, 0}));
  loss->slopes(z, y, out);
  EXPECT_EQ(out, (std::vector<double>{1, -2, 0}));
  loss->curvatures(z, y, out);
  EXPECT_EQ(out, (std::vector<double>{1, 1, 1}));
}

}  // namespace
}  // namespace polyhop::loss_table_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace polyhop::metrics_test {
namespace {

using Numbers = std::vector<double>;
using Classes = std::vector<Index>;

TEST(Metrics, ErrorsOfThreeNumbers) {
  const Numbers truth = {1, 2, 6};
  const Numbers predicted = {1, 4, 5};
  EXPECT_DOUBLE_EQ(metrics::root_mean_squared_error(truth, predicted), std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(metrics::mean_absolute_error(truth, predicted), 1);
  EXPECT_DOUBLE_EQ(metrics::r2(truth, predicted), 1 - 5.0 / 14);  // the mean is 3: 4 + 1 + 9
}

TEST(Metrics, DevianceOfCounts) {
  EXPECT_DOUBLE_EQ(metrics::mean_poisson_deviance(Numbers{0, 3}, Numbers{2, 3}), 2);
  EXPECT_TRUE(std::isinf(metrics::mean_poisson_deviance(Numbers{1}, Numbers{0})));
}

TEST(Metrics, AreaCountsTiesAsAHalf) {
  EXPECT_DOUBLE_EQ(metrics::area_under_curve(Classes{0, 1, 0, 1}, Numbers{1, 2, 3, 4}), 0.75);
  EXPECT_DOUBLE_EQ(metrics::area_under_curve(Classes{0, 1, 0, 1}, Numbers{1, 1, 1, 1}), 0.5);
  EXPECT_DOUBLE_EQ(metrics::area_under_curve(Classes{0, 1, 1}, Numbers{2, 2, 5}), 0.75);
}

TEST(Metrics, WhatIsNotDefinedIsNotANumber) {
  EXPECT_TRUE(std::isnan(metrics::r2(Numbers{2, 2}, Numbers{1, 3})));
  EXPECT_TRUE(std::isnan(metrics::area_under_curve(Classes{1, 1}, Numbers{1, 2})));
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(metrics::area_under_curve(Classes{0, 1}, Numbers{1, nan})));
  EXPECT_TRUE(std::isnan(metrics::accuracy(Classes{}, Classes{})));
  const auto count = metrics::confusion_matrix(Classes{0}, Classes{0}, 2);
  EXPECT_TRUE(std::isnan(metrics::precision(count, 1)));
  EXPECT_TRUE(std::isnan(metrics::recall(count, 1)));
}

TEST(Metrics, LogLossStaysFiniteForAnyScore) {
  Rows one(1, 2);
  one(0, 0) = 1000;
  one(0, 1) = -1000;
  EXPECT_EQ(metrics::log_loss(Classes{1, 0}, one), 0);
  EXPECT_EQ(metrics::log_loss(Classes{0, 1}, one), 1000);
  Rows three(3, 1);
  three(2, 0) = 1000;
  EXPECT_EQ(metrics::log_loss(Classes{0}, three), 1000);
  EXPECT_DOUBLE_EQ(metrics::log_loss(Classes{1}, Rows(3, 1)), std::log(3.0));
}

TEST(Metrics, ClassesAreCountedByTruthAndPrediction) {
  const auto count = metrics::confusion_matrix(Classes{0, 0, 1, 2, 2}, Classes{0, 1, 1, 1, 2}, 3);
  EXPECT_EQ(count, (metrics::Confusion{{1, 1, 0}, {0, 1, 0}, {0, 1, 1}}));
  EXPECT_DOUBLE_EQ(metrics::precision(count, 1), 1.0 / 3);
  EXPECT_DOUBLE_EQ(metrics::recall(count, 0), 0.5);
  EXPECT_EQ(metrics::support(count, 2), 2);
  EXPECT_DOUBLE_EQ(metrics::accuracy(Classes{0, 0, 1, 2, 2}, Classes{0, 1, 1, 1, 2}), 0.6);
}

}  // namespace
}  // namespace polyhop::metrics_test

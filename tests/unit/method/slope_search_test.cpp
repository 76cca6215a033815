// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/slope_search.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>

namespace polyhop::slope_search_test {
namespace {

struct Found {
  double at = 0;
  int looks = 0;
};

Found find(const std::function<double(double)>& value, const std::function<double(double)>& slope) {
  SlopeSearch search(value(0), slope(0));
  std::array<double, SlopeSearch::points> values{};
  std::array<double, SlopeSearch::points> slopes{};
  Found out;
  for (bool ends = false; !ends; ++out.looks) {
    for (std::size_t n = 0; n < values.size(); ++n) {
      values[n] = value(search.trials()[n]);
      slopes[n] = slope(search.trials()[n]);
    }
    ends = search.take(values, slopes);
  }
  out.at = search.best();
  return out;
}

// (a - end)^2 / 2
Found find_end(double end) {
  return find([=](double a) { return (a - end) * (a - end) / 2; }, [=](double a) { return a - end; });
}

TEST(SlopeSearch, TakesAWholeNewtonStepAtOnce) {
  const Found found = find_end(1.01);
  EXPECT_EQ(found.at, 1);
  EXPECT_EQ(found.looks, 1);
}

TEST(SlopeSearch, FindsTheEndOfAParabolaInTwoLooks) {
  for (const double end : {0.02, 0.1, 2.5, 30.0}) {
    const Found found = find_end(end);
    EXPECT_NEAR(found.at, end, 1e-12 * end);
    EXPECT_EQ(found.looks, 2);
  }
}

TEST(SlopeSearch, FindsShortAndLongSteps) {
  for (const double end : {1e-4, 1e-3, 1e3, 1e7}) EXPECT_NEAR(find_end(end).at, end, 0.05 * end);
}

TEST(SlopeSearch, GoesAsFarAsACostFalls) {
  const auto value = [](double a) { return std::exp(-a); };
  const auto slope = [](double a) { return -std::exp(-a); };
  EXPECT_GT(find(value, slope).at, 1000);
}

TEST(SlopeSearch, ComesBackFromWhatIsNotFinite) {
  const auto value = [](double a) { return std::exp(1000 * a) - 2000 * a; };
  const auto slope = [](double a) { return 1000 * std::exp(1000 * a) - 2000; };
  EXPECT_NEAR(find(value, slope).at, std::log(2.0) / 1000, 1e-4);
}

TEST(SlopeSearch, StaysWhereNothingIsLower) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto value = [](double a) { return a == 0 ? 1 : infinite; };
  const auto slope = [](double a) { return a == 0 ? -1 : infinite; };
  const Found found = find(value, slope);
  EXPECT_EQ(found.at, 0);
  EXPECT_EQ(found.looks, 6);
}

}  // namespace
}  // namespace polyhop::slope_search_test

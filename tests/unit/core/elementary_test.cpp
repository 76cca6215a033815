// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/elementary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "polyhop/core/fingerprint.hpp"
#include "polyhop/core/random.hpp"

namespace polyhop::elementary_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double tiniest = std::numeric_limits<double>::denorm_min();
constexpr double smallest_normal = std::numeric_limits<double>::min();
constexpr double largest = std::numeric_limits<double>::max();

// |got - exact| in units of the last place of a double next to the exact value.
double units(double got, long double exact) {
  const double near = std::abs(static_cast<double>(exact));
  const double unit = near >= largest ? near - std::nextafter(near, 0.0) : std::nextafter(near, infinity) - near;
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / static_cast<long double>(unit));
}

TEST(Exp, IsWithinTwoUnitsOverItsWholeRange) {
  Stream stream(1, Purpose::noise);
  for (int n = 0; n < 200000; ++n) {
    const double x = -745.0 + 1454.7 * stream.uniform();
    ASSERT_LE(units(elementary::exp(x), std::exp(static_cast<long double>(x))), 2) << x;
  }
}

TEST(Exp, IsWithinTwoUnitsNearZero) {
  Stream stream(2, Purpose::noise);
  for (int n = 0; n < 200000; ++n) {
    const double x = std::ldexp(2 * stream.uniform() - 1, -static_cast<int>(stream.below(70)));
    ASSERT_LE(units(elementary::exp(x), std::exp(static_cast<long double>(x))), 2) << x;
  }
}

TEST(Exp, IsWithinTwoUnitsWhereTheReductionChangesItsStep) {
  // Halfway between multiples of ln 2, and the doubles beside it.
  for (int n = -1073; n < 1024; ++n) {
    const double middle = (n + 0.5) * 0.6931471805599453;
    if (middle > 709.7) break;
    for (const double x : {std::nextafter(middle, -infinity), middle, std::nextafter(middle, infinity)}) {
      ASSERT_LE(units(elementary::exp(x), std::exp(static_cast<long double>(x))), 2) << x;
    }
  }
}

TEST(Exp, HasItsSpecialValues) {
  EXPECT_EQ(elementary::exp(0.0), 1.0);
  EXPECT_EQ(elementary::exp(-0.0), 1.0);
  EXPECT_EQ(elementary::exp(tiniest), 1.0);
  EXPECT_EQ(elementary::exp(infinity), infinity);
  EXPECT_EQ(elementary::exp(-infinity), 0.0);
  EXPECT_TRUE(std::isnan(elementary::exp(nan)));
}

TEST(Exp, OverflowsAndUnderflowsWhereTheExactValueDoes) {
  EXPECT_TRUE(std::isfinite(elementary::exp(709.782712893384)));
  EXPECT_EQ(elementary::exp(std::nextafter(709.782712893384, infinity)), infinity);
  EXPECT_EQ(elementary::exp(largest), infinity);
  EXPECT_EQ(elementary::exp(-745.1), tiniest);
  EXPECT_EQ(elementary::exp(-745.14), 0.0);
  EXPECT_EQ(elementary::exp(-746.0), 0.0);
  EXPECT_EQ(elementary::exp(-largest), 0.0);
}

TEST(Exp, RoundsSubnormalResultsOnce) {
  Stream stream(3, Purpose::noise);
  for (int n = 0; n < 20000; ++n) {
    const double x = -745.0 + 36.5 * stream.uniform();
    // Half a unit for the rounding, and what the normal result was off by.
    ASSERT_LE(units(elementary::exp(x), std::exp(static_cast<long double>(x))), 1.01) << x;
  }
}

TEST(Log, IsWithinTwoUnitsForAllExponents) {
  Stream stream(4, Purpose::noise);
  for (int n = 0; n < 200000; ++n) {
    const double x = std::ldexp(1 + stream.uniform(), static_cast<int>(stream.below(2046)) - 1022);
    ASSERT_LE(units(elementary::log(x), std::log(static_cast<long double>(x))), 2) << x;
  }
}

TEST(Log, IsWithinTwoUnitsNearOne) {
  Stream stream(5, Purpose::noise);
  for (int n = 0; n < 200000; ++n) {
    const double x = 1 + std::ldexp(stream.uniform() - 0.5, -static_cast<int>(stream.below(52)));
    ASSERT_LE(units(elementary::log(x), std::log(static_cast<long double>(x))), 2) << x;
  }
}

TEST(Log, IsWithinTwoUnitsForSubnormals) {
  Stream stream(6, Purpose::noise);
  for (int n = 0; n < 20000; ++n) {
    const double x = tiniest * static_cast<double>(1 + (stream.bits() >> (12 + stream.below(50))));
    ASSERT_LT(x, 2 * smallest_normal);
    ASSERT_LE(units(elementary::log(x), std::log(static_cast<long double>(x))), 2) << x;
  }
}

TEST(Log, HasItsSpecialValues) {
  EXPECT_EQ(elementary::log(1.0), 0.0);
  EXPECT_EQ(elementary::log(0.0), -infinity);
  EXPECT_EQ(elementary::log(-0.0), -infinity);
  EXPECT_EQ(elementary::log(infinity), infinity);
  EXPECT_TRUE(std::isnan(elementary::log(-1.0)));
  EXPECT_TRUE(std::isnan(elementary::log(-infinity)));
  EXPECT_TRUE(std::isnan(elementary::log(nan)));
}

TEST(Log, UndoesExp) {
  for (int x = -700; x <= 700; ++x) {
    EXPECT_NEAR(elementary::log(elementary::exp(x)), x, 1e-15 * (2 + std::abs(x))) << x;
  }
}

TEST(Log1p, IsWithinTwoUnitsFromTheTiniestToTheLargest) {
  Stream stream(7, Purpose::noise);
  for (int n = 0; n < 200000; ++n) {
    const double x = std::ldexp(1 + stream.uniform(), static_cast<int>(stream.below(2098)) - 1075);
    ASSERT_LE(units(elementary::log1p(x), std::log1p(static_cast<long double>(x))), 2) << x;
  }
}

TEST(Log1p, IsWithinTwoUnitsWhereTheSumRounds) {
  Stream stream(8, Purpose::noise);
  for (int n = 0; n < 200000; ++n) {
    const double x = std::ldexp(1 + stream.uniform(), -static_cast<int>(stream.below(60)));
    ASSERT_LE(units(elementary::log1p(x), std::log1p(static_cast<long double>(x))), 2) << x;
  }
}

TEST(Log1p, HasItsSpecialValues) {
  EXPECT_EQ(elementary::log1p(0.0), 0.0);
  EXPECT_EQ(elementary::log1p(tiniest), tiniest);
  EXPECT_EQ(elementary::log1p(1e-20), 1e-20);
  EXPECT_EQ(elementary::log1p(infinity), infinity);
  EXPECT_TRUE(std::isnan(elementary::log1p(nan)));
}

// A number that differs here breaks the promise of equal bits: it is never to be replaced by what a machine gives.
TEST(ExpAndLog, GiveTheSameBitsOnEveryMachine) {
  Stream stream(9, Purpose::noise);
  Fingerprint fingerprint;
  for (int n = 0; n < 20000; ++n) {
    const double x = 1454.7 * stream.uniform();
    fingerprint.add(elementary::exp(x - 745.0));
    fingerprint.add(elementary::log(x));
    fingerprint.add(elementary::log1p(x));
  }
  EXPECT_EQ(hexadecimal(fingerprint.value()), "8acee2727c4f69c6");
}

}  // namespace
}  // namespace polyhop::elementary_test

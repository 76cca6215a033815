// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace polyhop::random_test {
namespace {

std::vector<std::uint64_t> first_bits(Stream stream, int count = 8) {
  std::vector<std::uint64_t> out;
  for (int n = 0; n < count; ++n) out.push_back(stream.bits());
  return out;
}

// The mean of f over n draws, less its expectation, in standard deviations of that mean.
double deviation(int n, double expectation, double variance, const std::function<double()>& f) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += f();
  return (sum / n - expectation) / std::sqrt(variance / n);
}

// Philox4x64-10 with key (42, 0) at the counters (0, 5, 3, 7) and (1, 5, 3, 7), lowest word first. The same numbers
// come from NumPy, which steps its counter before the first block:
//   numpy.random.Philox(key=42, counter=(7 << 192 | 3 << 128 | 5 << 64) - 1).random_raw(6)
TEST(Stream, GivesTheNumbersOfPhilox) {
  const std::vector<std::uint64_t> expected = {0x12f851eb11b7cbf4, 0xcc52cce7f79f354b, 0x9c346a2164a6d270,
                                               0xe9a98616131369a1, 0xa4b51e1ac5192087, 0x0532700c2bf36ef8};
  ASSERT_EQ(static_cast<int>(Purpose::sampling), 7);
  EXPECT_EQ(first_bits(Stream(42, Purpose::sampling, 3, 5), 6), expected);
}

// numpy.random.Philox(key=0, counter=(1 << 192) - 1).random_raw(5)
TEST(Stream, GivesTheNumbersOfPhiloxForTheSmallestKey) {
  const std::vector<std::uint64_t> expected = {0x0bcebd58167d0f31, 0x7834e0e0d3a96d3f, 0x956b8d281546d14f,
                                               0xa7028ec2003149ea, 0x57994a7db8f816c6};
  ASSERT_EQ(static_cast<int>(Purpose::graph), 1);
  EXPECT_EQ(first_bits(Stream(0, Purpose::graph), 5), expected);
}

TEST(Stream, PurposesKeepTheirNumbers) {
  const std::array<Purpose, 15> in_order = {
      Purpose::graph,           Purpose::features, Purpose::minimiser, Purpose::noise,   Purpose::feature_scale,
      Purpose::minimiser_shift, Purpose::sampling, Purpose::shuffle,   Purpose::start,   Purpose::sketch,
      Purpose::partition,       Purpose::spectrum, Purpose::weights,   Purpose::drawing, Purpose::held_out};
  for (std::size_t n = 0; n < in_order.size(); ++n) EXPECT_EQ(static_cast<std::size_t>(in_order[n]), n + 1);
}

TEST(Stream, TheSameKeyGivesTheSameNumbers) {
  Stream a(7, Purpose::noise, 2, 9);
  Stream b(7, Purpose::noise, 2, 9);
  for (int n = 0; n < 100; ++n) {
    EXPECT_EQ(a.bits(), b.bits());
    EXPECT_EQ(a.normal(), b.normal());
    EXPECT_EQ(a.below(17), b.below(17));
  }
}

TEST(Stream, EveryPartOfTheKeyGivesOtherNumbers) {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  const auto take = [&](const Stream& stream) {
    for (const auto x : first_bits(stream)) seen.insert(x);
    drawn += 8;
  };
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (const Purpose purpose : {Purpose::graph, Purpose::features, Purpose::sampling, Purpose::weights}) {
      for (Index agent = 0; agent < 5; ++agent) {
        for (Index iteration = 0; iteration < 5; ++iteration) take(Stream(seed, purpose, agent, iteration));
      }
    }
  }
  EXPECT_EQ(drawn, 3U * 4 * 5 * 5 * 8);
  EXPECT_EQ(seen.size(), drawn) << "two of 2400 numbers of 64 bits are equal";
}

// Products of two independent normals have mean 0 and variance 1.
TEST(Stream, StreamsOfDifferentKeysAreUncorrelated) {
  const Stream base(5, Purpose::features, 3, 4);
  for (Stream other :
       {Stream(6, Purpose::features, 3, 4), Stream(5, Purpose::noise, 3, 4), Stream(5, Purpose::features, 4, 4),
        Stream(5, Purpose::features, 3, 5), Stream(5, Purpose::features, 4, 3)}) {
    Stream one = base;
    EXPECT_LT(std::abs(deviation(100000, 0, 1, [&] { return one.normal() * other.normal(); })), 5);
  }
}

TEST(Stream, SuccessiveNumbersAreUncorrelated) {
  Stream stream(5, Purpose::features);
  double previous = stream.normal();
  EXPECT_LT(std::abs(deviation(100000, 0, 1,
                               [&] {
                                 const double x = stream.normal();
                                 const double product = previous * x;
                                 previous = x;
                                 return product;
                               })),
            5);
}

TEST(Stream, UniformsLieInTheirIntervalOnTheGrid) {
  Stream stream(1, Purpose::start);
  for (int n = 0; n < 10000; ++n) {
    const double u = stream.uniform();
    EXPECT_GE(u, 0);
    EXPECT_LT(u, 1);
    EXPECT_EQ(u * 0x1p53, std::floor(u * 0x1p53));
  }
}

TEST(Stream, AUniformIsTheUpperBitsOfItsNumber) {
  Stream uniforms(42, Purpose::sampling, 3, 5);
  // 0x12f851eb11b7cbf4 without its last 11 bits, over 2^64.
  EXPECT_EQ(uniforms.uniform(), std::ldexp(static_cast<double>(0x12f851eb11b7c800), -64));
}

// A uniform has mean 1/2 and variance 1/12; its square has mean 1/3 and variance 1/5 - 1/9 = 4/45.
TEST(Stream, UniformsHaveTheirMoments) {
  Stream stream(1, Purpose::start);
  EXPECT_LT(std::abs(deviation(200000, 0.5, 1.0 / 12, [&] { return stream.uniform(); })), 5);
  EXPECT_LT(std::abs(deviation(200000, 1.0 / 3, 4.0 / 45, [&] { return std::pow(stream.uniform(), 2); })), 5);
}

// The polar method of two uniforms each, from the words of GivesTheNumbersOfPhilox and those that follow them, computed
// in Python with exact fractions for fused multiply-adds: of the first five pairs the 1st, 3rd and 4th lie outside the
// unit circle. The same formula with 60 digits gives the same numbers to 4e-16.
TEST(Stream, NormalsHaveTheirBits) {
  Stream stream(42, Purpose::sampling, 3, 5);
  EXPECT_EQ(stream.normal(), 0x1.a30f178389d85p-3);
  EXPECT_EQ(stream.normal(), 0x1.8879be80b2868p-1);
  EXPECT_EQ(stream.normal(), -0x1.22fd014fc4501p+0);
  EXPECT_EQ(stream.normal(), 0x1.44c87a82f5b6ap+0);
}

// E x^2 = 1, E x^4 = 3, E x^6 = 15, E x^8 = 105.
TEST(Stream, NormalsHaveTheirMoments) {
  Stream stream(1, Purpose::noise);
  const auto power = [&](int p) { return [&stream, p] { return std::pow(stream.normal(), p); }; };
  EXPECT_LT(std::abs(deviation(200000, 0, 1, power(1))), 5);
  EXPECT_LT(std::abs(deviation(200000, 1, 3 - 1, power(2))), 5);
  EXPECT_LT(std::abs(deviation(200000, 0, 15, power(3))), 5);
  EXPECT_LT(std::abs(deviation(200000, 3, 105 - 9, power(4))), 5);
}

// P(|x| > 1) = 0.317310507863, P(|x| > 3) = 0.002699796063.
TEST(Stream, NormalsHaveTheirTails) {
  Stream stream(2, Purpose::noise);
  const auto beyond = [&](double limit) {
    return [&stream, limit] { return std::abs(stream.normal()) > limit ? 1.0 : 0.0; };
  };
  EXPECT_LT(std::abs(deviation(200000, 0.317310507863, 0.317310507863 * 0.682689492137, beyond(1))), 5);
  EXPECT_LT(std::abs(deviation(200000, 0.002699796063, 0.002699796063 * 0.997300203937, beyond(3))), 5);
}

TEST(Stream, NormalsAreNormalTimesScale) {
  Stream one(3, Purpose::features);
  Stream many(3, Purpose::features);
  std::vector<double> out(7);
  many.normals(out, 2.5);
  for (const double x : out) EXPECT_EQ(x, 2.5 * one.normal());
  EXPECT_EQ(many.normal(), one.normal()) << "the second of a pair is kept for the next call";
}

TEST(Stream, BelowIsUniformOverItsWholeRange) {
  for (const Index n : {2, 3, 7, 10}) {
    Stream stream(4, Purpose::sampling, n);
    const int draws = 100000;
    std::vector<int> count(n);
    for (int d = 0; d < draws; ++d) {
      const Index x = stream.below(n);
      ASSERT_GE(x, 0);
      ASSERT_LT(x, n);
      ++count[x];
    }
    const double p = 1.0 / static_cast<double>(n);
    for (const int c : count) EXPECT_LT(std::abs(c - draws * p), 5 * std::sqrt(draws * p * (1 - p))) << "of " << n;
  }
}

TEST(Stream, BelowOneIsZero) {
  Stream stream(4, Purpose::sampling);
  for (int n = 0; n < 20; ++n) EXPECT_EQ(stream.below(1), 0);
}

TEST(Stream, BelowReachesBothHalvesOfAHugeRange) {
  Stream stream(4, Purpose::sampling);
  const Index n = Index{1} << 62;
  bool low = false;
  bool high = false;
  for (int d = 0; d < 100; ++d) {
    const Index x = stream.below(n);
    ASSERT_GE(x, 0);
    ASSERT_LT(x, n);
    (x < n / 2 ? low : high) = true;
  }
  EXPECT_TRUE(low && high);
}

}  // namespace
}  // namespace polyhop::random_test

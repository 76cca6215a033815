// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/synthetic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "polyhop/core/random.hpp"
#include "unit/problem/naive.hpp"

namespace polyhop::synthetic_test {
namespace {

constexpr std::uint64_t seed = 3;

// How far the mean of x lies from `expectation`, in standard deviations of that mean.
double deviation(const std::vector<double>& x, double expectation, double variance) {
  double sum = 0;
  for (const double v : x) sum += v;
  const auto n = static_cast<double>(x.size());
  return std::abs(sum / n - expectation) / std::sqrt(variance / n);
}

// Mean 0 and variance sigma^2 (whose squares have variance 2 sigma^4).
void expect_normal(const std::vector<double>& x, double sigma) {
  EXPECT_LT(deviation(x, 0, sigma * sigma), 5);
  std::vector<double> squares;
  for (const double v : x) squares.push_back(v * v);
  EXPECT_LT(deviation(squares, sigma * sigma, 2 * std::pow(sigma, 4)), 5);
}

std::vector<double> common_minimiser(Index dimension) {
  std::vector<double> w(dimension);
  Stream(seed, Purpose::minimiser).normals(w);
  return w;
}

TEST(Synthetic, HasTheShapeAskedFor) {
  const Dataset data = synthesise({4, 3}, 5, false, seed);
  EXPECT_EQ(data.agents(), 5);
  EXPECT_EQ(data.features.rows(), 15);
  EXPECT_EQ(data.features.columns(), 4);
  EXPECT_EQ(data.targets.size(), 15U);
  for (Index k = 0; k < 5; ++k) {
    EXPECT_EQ(data.first(k), 3 * k);
    EXPECT_EQ(data.samples(k), 3);
  }
}

TEST(Synthetic, TheFirstAgentsOfALargerNetworkHaveTheSameData) {
  const SyntheticData options = {4, 3, 0.1, 0.5, 0.7};
  const Dataset small = synthesise(options, 2, false, seed);
  const Dataset large = synthesise(options, 5, false, seed);
  for (Index n = 0; n < small.features.rows(); ++n) {
    EXPECT_EQ(small.targets[n], large.targets[n]);
    for (Index j = 0; j < 4; ++j) EXPECT_EQ(small.features.dense()(n, j), large.features.dense()(n, j));
  }
}

TEST(Synthetic, SeedsAndAgentsHaveDifferentData) {
  const Dataset one = synthesise({4, 3}, 2, false, 1);
  const Dataset two = synthesise({4, 3}, 2, false, 2);
  std::set<double> seen;
  for (Index n = 0; n < 6; ++n) {
    for (Index j = 0; j < 4; ++j) seen.insert({one.features.dense()(n, j), two.features.dense()(n, j)});
  }
  EXPECT_EQ(seen.size(), 48U);
}

TEST(Synthetic, FeaturesAreStandardNormal) {
  const Dataset data = synthesise({10, 100}, 50, false, seed);
  std::vector<double> x;
  for (Index n = 0; n < data.features.rows(); ++n)
    x.insert(x.end(), data.features.dense().row(n).begin(), data.features.dense().row(n).end());
  expect_normal(x, 1);
}

TEST(Synthetic, WithoutNoiseACommonMinimiserExplainsAllTargets) {
  const Dataset data = synthesise({6, 4, 0, 0.5}, 3, false, seed);
  const auto w = common_minimiser(6);
  for (Index n = 0; n < data.features.rows(); ++n) {
    EXPECT_NEAR(data.targets[n], naive::product(data.features.dense().row(n), w), 1e-12);
  }
}

TEST(Synthetic, NoiseIsAddedToTheTargetsAlone) {
  const Dataset quiet = synthesise({3, 200}, 50, false, seed);
  const Dataset noisy = synthesise({3, 200, 0.1}, 50, false, seed);
  std::vector<double> noise;
  for (std::size_t n = 0; n < quiet.targets.size(); ++n) {
    noise.push_back(noisy.targets[n] - quiet.targets[n]);
    for (Index j = 0; j < 3; ++j) {
      EXPECT_EQ(noisy.features.dense()(static_cast<Index>(n), j), quiet.features.dense()(static_cast<Index>(n), j));
    }
  }
  expect_normal(noise, 0.1);
}

TEST(Synthetic, FeaturesAndNoiseComeFromTheAgentsOwnStreams) {
  const Dataset quiet = synthesise({3, 4}, 2, false, seed);
  const Dataset noisy = synthesise({3, 4, 0.5}, 2, false, seed);
  for (Index k = 0; k < 2; ++k) {
    Stream features(seed, Purpose::features, k);
    Stream noise(seed, Purpose::noise, k);
    for (Index n = quiet.first(k); n < quiet.first(k + 1); ++n) {
      for (Index j = 0; j < 3; ++j) EXPECT_EQ(noisy.features.dense()(n, j), features.normal());
      EXPECT_NEAR(noisy.targets[n] - quiet.targets[n], 0.5 * noise.normal(), 1e-14);
    }
  }
}

TEST(Synthetic, ScaleSpreadMultipliesEachAgentsFeaturesByALogNormalFactor) {
  const Dataset plain = synthesise({2, 2}, 4000, false, seed);
  const Dataset spread = synthesise({2, 2, 0, 0.5}, 4000, false, seed);
  std::vector<double> logarithms;
  for (Index k = 0; k < 4000; ++k) {
    const double factor = spread.features.dense()(2 * k, 0) / plain.features.dense()(2 * k, 0);
    logarithms.push_back(std::log(factor));
    for (const Index n : {2 * k, 2 * k + 1}) {
      for (Index j = 0; j < 2; ++j) {
        EXPECT_NEAR(spread.features.dense()(n, j), factor * plain.features.dense()(n, j),
                    1e-14 * std::abs(spread.features.dense()(n, j)));
      }
      EXPECT_NEAR(spread.targets[n], factor * plain.targets[n], 1e-13 * factor);
    }
  }
  expect_normal(logarithms, 0.5);
}

TEST(Synthetic, MinimiserSpreadShiftsEachAgentsMinimiser) {
  // In one dimension an agent's minimiser is y / h.
  const Dataset data = synthesise({1, 2, 0, 0, 0.7}, 4000, false, seed);
  const double w = common_minimiser(1)[0];
  std::vector<double> shifts;
  for (Index k = 0; k < 4000; ++k) {
    const auto first = static_cast<std::size_t>(2 * k);
    const double own = data.targets[first] / data.features.dense()(2 * k, 0);
    EXPECT_NEAR(data.targets[first + 1], own * data.features.dense()(2 * k + 1, 0), 1e-12)
        << "one minimiser for all samples";
    shifts.push_back(own - w);
  }
  expect_normal(shifts, 0.7);
}

TEST(Synthetic, ClassesAreTheSignsOfTheTargets) {
  const SyntheticData options = {3, 50, 0.5, 0.2, 0.3};
  const Dataset numbers = synthesise(options, 4, false, seed);
  const Dataset classes = synthesise(options, 4, true, seed);
  std::set<double> seen;
  for (std::size_t n = 0; n < numbers.targets.size(); ++n) {
    EXPECT_EQ(classes.targets[n], numbers.targets[n] < 0 ? -1 : 1);
    seen.insert(classes.targets[n]);
    for (Index j = 0; j < 3; ++j) {
      EXPECT_EQ(classes.features.dense()(static_cast<Index>(n), j), numbers.features.dense()(static_cast<Index>(n), j));
    }
  }
  EXPECT_EQ(seen, (std::set<double>{-1, 1}));
}

}  // namespace
}  // namespace polyhop::synthetic_test

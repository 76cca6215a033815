// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/standardise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/networks.hpp"
#include "unit/problem/naive.hpp"

namespace polyhop::standardise_test {
namespace {

constexpr Index columns = 3;

// Columns with means and spreads of their own, dealt in these numbers.
Dataset uneven_data(const std::vector<Index>& samples, std::uint64_t seed = 1) {
  Dataset data = naive::random_data(samples, columns, false, seed);
  Rows& h = data.features.dense();
  for (Index n = 0; n < h.rows(); ++n) {
    h(n, 0) = 100 + 5 * h(n, 0);
    h(n, 1) = 1e-3 * h(n, 1);
  }
  return data;
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments(const Rows& rows, Index column) {
  Moments out;
  const auto count = static_cast<double>(rows.rows());
  for (Index n = 0; n < rows.rows(); ++n) out.mean += rows(n, column) / count;
  for (Index n = 0; n < rows.rows(); ++n) {
    const double off = rows(n, column) - out.mean;
    out.deviation += off * off / count;
  }
  out.deviation = std::sqrt(out.deviation);
  return out;
}

TEST(Standardise, GivesMeanZeroAndDeviationOneHoweverSamplesAreDealt) {
  for (const std::vector<Index>& samples : {std::vector<Index>{3, 3, 3, 3}, {9, 1, 1, 1}, {1, 2, 8, 1}}) {
    Dataset data = uneven_data(samples);
    const Rows before = data.features.dense();
    const Standardised done = standardise(data, test::network_of(Topology::path, 4));
    for (Index j = 0; j < columns; ++j) {
      const Moments was = moments(before, j);
      EXPECT_NEAR(done.mean[j], was.mean, 1e-12 * std::abs(was.mean) + 1e-15);
      EXPECT_NEAR(done.scale[j], was.deviation, 1e-12 * was.deviation);
      const Moments is = moments(data.features.dense(), j);
      EXPECT_NEAR(is.mean, 0, 1e-12);
      EXPECT_NEAR(is.deviation, 1, 1e-12);
    }
  }
}

TEST(Standardise, AColumnThatDoesNotVaryIsOnlyShifted) {
  // Of 0.1 the mean of so many samples is another number, by rounding.
  for (const std::vector<Index>& samples : {std::vector<Index>{2, 2, 3}, {4, 3, 3}, {10, 7, 12}}) {
    for (const double constant : {0.0, 7.0, 1e9, 0.1}) {
      Dataset data = uneven_data(samples);
      Rows& h = data.features.dense();
      for (Index n = 0; n < h.rows(); ++n) h(n, 1) = constant;
      const Standardised done = standardise(data, test::network_of(Topology::ring, 3));
      EXPECT_EQ(done.scale[1], 1);
      EXPECT_NEAR(done.mean[1], constant, 1e-15 * constant);
      for (Index n = 0; n < h.rows(); ++n) EXPECT_NEAR(h(n, 1), 0, 1e-15 * constant);
    }
  }
}

TEST(Standardise, APowerOfTwoChangesNothingButTheMomentsAlsoWhereSquaresOverflowOrVanish) {
  Dataset plain = uneven_data({4, 3, 3});
  const Rows original = plain.features.dense();
  const Standardised expected = standardise(plain, test::network_of(Topology::ring, 3));
  for (const int exponent : {600, -600}) {
    Dataset data = uneven_data({4, 3, 3});
    Rows& h = data.features.dense();
    for (Index n = 0; n < h.rows(); ++n) {
      for (Index j = 0; j < columns; ++j) h(n, j) = std::ldexp(original(n, j), exponent);
    }
    const Standardised done = standardise(data, test::network_of(Topology::ring, 3));
    for (Index j = 0; j < columns; ++j) {
      EXPECT_EQ(std::ldexp(done.mean[j], -exponent), expected.mean[j]);
      EXPECT_EQ(std::ldexp(done.scale[j], -exponent), expected.scale[j]);
      for (Index n = 0; n < h.rows(); ++n) EXPECT_EQ(h(n, j), plain.features.dense()(n, j));
    }
  }
}

TEST(Standardise, SparseFeaturesAreScaledAndStaySparse) {
  naive::Model model = naive::holey_model("least-squares", 0, columns, false);
  const Rows before = model.data.features.dense();
  Dataset data = naive::sparse(model).data;
  const Standardised done = standardise(data, test::network_of(Topology::path, 3));
  ASSERT_TRUE(data.features.is_sparse());
  for (Index j = 0; j < columns; ++j) {
    double squares = 0;
    for (Index n = 0; n < before.rows(); ++n) squares += before(n, j) * before(n, j);
    const double scale = std::sqrt(squares / static_cast<double>(before.rows()));
    EXPECT_EQ(done.mean[j], 0);
    EXPECT_NEAR(done.scale[j], scale, 1e-14);
    Rows unit(1, columns);
    unit(0, j) = 1;
    for (Index n = 0; n < before.rows(); ++n) {
      EXPECT_NEAR(data.features.dot(n, unit.data()), before(n, j) / scale, 1e-14);
    }
  }
}

TEST(Standardise, WhatIsSentIsCountedAndDoesNotDependOnTheData) {
  const CombinationMatrix path = test::network_of(Topology::path, 4);
  Dataset data = uneven_data({3, 3, 3, 3}, 1);
  Dataset other = uneven_data({9, 30, 1, 1}, 2);
  const Traffic traffic = standardise(data, path).traffic;
  const Traffic again = standardise(other, path).traffic;
  EXPECT_GT(traffic.rounds, 0);
  EXPECT_GT(traffic.vectors, 0);
  EXPECT_GT(traffic.scalars, 0);
  EXPECT_EQ(traffic.rounds, again.rounds);
  EXPECT_EQ(traffic.vectors, again.vectors);
  EXPECT_EQ(traffic.scalars, again.scalars);
}

TEST(Standardise, OneAgentSendsNothing) {
  Dataset data = uneven_data({6});
  const Traffic traffic = standardise(data, test::network_of(Topology::path, 1)).traffic;
  EXPECT_EQ(traffic.vectors, 0);
  EXPECT_EQ(traffic.scalars, 0);
  EXPECT_NEAR(moments(data.features.dense(), 0).deviation, 1, 1e-12);
}

}  // namespace
}  // namespace polyhop::standardise_test

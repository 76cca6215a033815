// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/features.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "unit/problem/naive.hpp"

namespace polyhop::features_test {
namespace {

using Numbers = std::vector<double>;

constexpr Index columns = 11;  // more than a cache line

// About every other number 0, one row of zeros, one without any.
Rows holey() {
  Rows out = naive::holey_model("least-squares", 0, columns, false).data.features.dense();
  std::ranges::fill(out.row(2), 0);
  std::ranges::fill(out.row(4), 1.5);
  return out;
}

Numbers row_of(const Features& features, Index row) {
  Numbers out(static_cast<std::size_t>(features.columns()));
  if (!features.is_sparse()) return {features.dense().row(row).begin(), features.dense().row(row).end()};
  for (std::size_t e = 0; e < features.columns_of(row).size(); ++e) {
    out[features.columns_of(row)[e]] = features.values_of(row)[e];
  }
  return out;
}

void expect_equal(const Features& sparse, const Features& dense) {
  ASSERT_TRUE(sparse.is_sparse());
  ASSERT_FALSE(dense.is_sparse());
  ASSERT_EQ(sparse.rows(), dense.rows());
  ASSERT_EQ(sparse.columns(), dense.columns());
  for (Index r = 0; r < dense.rows(); ++r) EXPECT_EQ(row_of(sparse, r), row_of(dense, r)) << "row " << r;
}

TEST(Features, SparseAndDenseHoldTheSame) { expect_equal(naive::sparse(holey()), holey()); }

TEST(Features, SparseProductsAreThoseOfDenseRows) {
  const Features dense = holey();
  const Features sparse = naive::sparse(holey());
  const Rows w = naive::random_points(1, columns);
  for (Index r = 0; r < dense.rows(); ++r) {
    SCOPED_TRACE(r);
    const double expected = naive::product(dense.dense().row(r), w.row(0));
    EXPECT_NEAR(dense.dot(r, w.row(0).data()), expected, 1e-14);
    EXPECT_NEAR(sparse.dot(r, w.row(0).data()), expected, 1e-14);
    EXPECT_NEAR(sparse.squared_norm(r), naive::product(dense.dense().row(r), dense.dense().row(r)), 1e-14);
    EXPECT_NEAR(dense.squared_norm(r), sparse.squared_norm(r), 1e-14);
    Rows in_dense = w;
    Rows in_sparse = w;
    dense.add_scaled(-0.75, r, in_dense.row(0).data());
    sparse.add_scaled(-0.75, r, in_sparse.row(0).data());
    for (Index j = 0; j < columns; ++j) {
      EXPECT_NEAR(in_dense(0, j), w(0, j) - 0.75 * dense.dense()(r, j), 1e-15);
      EXPECT_NEAR(in_sparse(0, j), in_dense(0, j), 1e-15);
    }
  }
}

TEST(Features, RowsAreSelectedInAnyOrderAndMoreThanOnce) {
  const std::vector<Index> rows = {4, 0, 2, 4};
  const Features dense = Features(holey()).select(rows);
  ASSERT_EQ(dense.rows(), 4);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    EXPECT_EQ(row_of(dense, static_cast<Index>(n)), row_of(holey(), rows[n]));
  }
  expect_equal(naive::sparse(holey()).select(rows), dense);
}

TEST(Features, NoRowsAreStillSparseAndAsWide) {
  const Features none = naive::sparse(holey()).select({});
  EXPECT_TRUE(none.is_sparse());
  EXPECT_EQ(none.rows(), 0);
  EXPECT_EQ(none.columns(), columns);
}

TEST(Features, OnesBecomeTheLastColumn) {
  const Features dense = Features(holey()).with_ones();
  ASSERT_EQ(dense.columns(), columns + 1);
  for (Index r = 0; r < dense.rows(); ++r) {
    Numbers expected = row_of(holey(), r);
    expected.push_back(1);
    EXPECT_EQ(row_of(dense, r), expected);
  }
  expect_equal(naive::sparse(holey()).with_ones(), dense);
}

TEST(Features, ColumnsAreShiftedWhereDenseAndScaledInBoth) {
  const Numbers shift = naive::random_point(columns, 1);
  const Numbers factor = naive::random_point(columns, 2);
  Features dense = holey();
  dense.transform_columns(shift, factor);
  for (Index r = 0; r < dense.rows(); ++r) {
    for (std::size_t j = 0; j < columns; ++j) {
      EXPECT_EQ(row_of(dense, r)[j], (holey()(r, static_cast<Index>(j)) - shift[j]) * factor[j]);
    }
  }
  Features unshifted = holey();
  unshifted.transform_columns(Numbers(columns, 0), factor);
  Features sparse = naive::sparse(holey());
  sparse.transform_columns(shift, factor);
  expect_equal(sparse, unshifted);
}

TEST(Features, NormaliseRowsWhoseSquaresAreNoNumbers) {
  for (const double scale : {1e-200, 1.0, 1e200}) {
    Rows dense(2, 2);
    dense(0, 0) = 3 * scale;
    dense(0, 1) = -4 * scale;
    Features sparse = Features::sparse(2, {0, 2, 2}, {0, 1}, {3 * scale, -4 * scale});
    Features both[] = {Features(std::move(dense)), std::move(sparse)};
    for (Features& features : both) {
      features.normalise_rows();
      EXPECT_NEAR(row_of(features, 0)[0], 0.6, 1e-15) << scale;
      EXPECT_NEAR(row_of(features, 0)[1], -0.8, 1e-15) << scale;
      EXPECT_EQ(row_of(features, 1), (Numbers{0, 0}));
    }
  }
}

}  // namespace
}  // namespace polyhop::features_test

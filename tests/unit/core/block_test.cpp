// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/block.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "polyhop/core/random.hpp"

namespace polyhop::block_test {
namespace {

constexpr Index rows = 3;
constexpr Index columns = 11;

Rows normals(Index seed) {
  Rows out(rows, columns);
  for (Index k = 0; k < rows; ++k) Stream(7, Purpose::noise, k, seed).normals(out.row(k));
  return out;
}

const Rows x = normals(1);
const Rows y = normals(2);
const Rows z = normals(3);
const std::vector<double> mu = {0.5, -2, 3};

// Every element of `got` is what the formula says, to the last bits; nothing is written behind a row.
void expect_elements(const Rows& got, const std::function<double(Index k, Index j)>& formula) {
  for (Index k = 0; k < got.rows(); ++k) {
    for (Index j = 0; j < columns; ++j) EXPECT_NEAR(got(k, j), formula(k, j), 1e-14) << k << ", " << j;
    for (Index j = columns; j < got.stride(); ++j) EXPECT_EQ(got(k, j), 0) << k << ", " << j;
  }
}

TEST(Block, VerbsOfWholeBlocksFollowTheirFormulas) {
  Rows out = z;
  copy(x, out);
  expect_elements(out, [](Index k, Index j) { return x(k, j); });
  scale(-2, out);
  expect_elements(out, [](Index k, Index j) { return -2 * x(k, j); });
  out = z;
  add(0.3, x, out);
  expect_elements(out, [](Index k, Index j) { return z(k, j) + 0.3 * x(k, j); });
  out = z;
  mix(0.25, x, out);
  expect_elements(out, [](Index k, Index j) { return 0.75 * z(k, j) + 0.25 * x(k, j); });
  out = z;
  blend(0.25, x, out);
  expect_elements(out, [](Index k, Index j) { return 0.75 * z(k, j) + 0.25 * x(k, j); });
}

TEST(Block, VerbsOfSingleRowsTouchTheseAlone) {
  const auto row_1 = [](const Rows& got, const std::function<double(Index j)>& formula) {
    expect_elements(got, [&](Index k, Index j) { return k == 1 ? formula(j) : z(k, j); });
  };
  Rows out = z;
  copy_rows(x, 2, out, 1);
  row_1(out, [](Index j) { return x(2, j); });
  clear_row(out, 1);
  row_1(out, [](Index) { return 0; });
  scale_row(4, x, 0, out, 1);
  row_1(out, [](Index j) { return 4 * x(0, j); });
  out = z;
  add_row(2, x, 0, out, 1);
  row_1(out, [](Index j) { return z(1, j) + 2 * x(0, j); });
  add_rows(2, x, 0, y, 2, out, 1);
  row_1(out, [](Index j) { return y(2, j) + 2 * x(0, j); });
  out = z;
  add_difference(0.5, x, 0, y, 2, out, 1);
  row_1(out, [](Index j) { return z(1, j) + 0.5 * (x(0, j) - y(2, j)); });
  out = z;
  copy_rows(x, 0, out, 1, 2);
  expect_elements(out, [](Index k, Index j) { return k == 0 ? z(k, j) : x(k - 1, j); });
  std::vector<double> sum(columns, 1.0);
  add_row(x, 2, sum);
  for (Index j = 0; j < columns; ++j) EXPECT_EQ(sum[j], 1 + x(2, j));
}

TEST(Block, ProductsAndDistancesAreThoseOfTheRowsNamed) {
  double product = 0;
  double distance = 0;
  for (Index j = 0; j < columns; ++j) {
    product += x(0, j) * y(2, j);
    distance += (x(0, j) - y(2, j)) * (x(0, j) - y(2, j));
  }
  EXPECT_NEAR(dot(x, 0, y, 2), product, 1e-13);
  EXPECT_NEAR(squared_distance(x, 0, y, 2), distance, 1e-13);
}

TEST(Block, GradientsAreSteppedAlong) {
  Gradients g = along(y);
  g.scale = {1, 2, -1};
  Rows out = z;
  descend(x, mu, g, out);
  expect_elements(out, [&](Index k, Index j) { return x(k, j) - mu[k] * g.scale[k] * y(k, j); });
  out = z;
  add(0.5, g, out);
  expect_elements(out, [&](Index k, Index j) { return z(k, j) + 0.5 * g.scale[k] * y(k, j); });
  write_out(g, out);
  expect_elements(out, [&](Index k, Index j) { return g.scale[k] * y(k, j); });
}

TEST(Block, MomentsAreKeptRaisedAndDividedBy) {
  const Gradients g = along(y);
  Rows m = x;
  Rows v(rows, columns, 0.5);
  update_moments(0.9, 0.8, g, m, v);
  expect_elements(m, [](Index k, Index j) { return 0.9 * x(k, j) + 0.1 * y(k, j); });
  expect_elements(v, [](Index k, Index j) { return 0.8 * 0.5 + 0.2 * y(k, j) * y(k, j); });
  Rows u(rows, columns, 0.6);
  raise_rows(0.3, v, u);
  expect_elements(u, [&](Index k, Index j) { return 0.3 * 0.6 + 0.7 * std::max(0.6, v(k, j)); });
  Rows w = z;
  scaled_step(mu, m, u, 0.7, 0.01, w);
  expect_elements(
      w, [&](Index k, Index j) { return z(k, j) - mu[k] * m(k, j) / (std::sqrt(std::max(u(k, j), 0.7)) + 0.01); });
}

TEST(Block, LinksAreCombinedAndMultiplied) {
  const std::array<Index, 4> offset = {0, 2, 3, 6};
  const std::array<std::int32_t, 6> slot = {0, 2, 1, 0, 1, 2};
  const std::array<double, 6> weight = {0.25, 0.75, 1, 0.5, 0.25, 0.25};
  const SparseView links = {offset.data(), slot.data(), weight.data()};
  const std::array<std::int32_t, 2> which = {0, 2};
  Rows out = z;
  combine(links, which, x, out);
  expect_elements(out, [](Index k, Index j) {
    if (k == 1) return z(k, j);
    return k == 0 ? 0.25 * x(0, j) + 0.75 * x(2, j) : 0.5 * x(0, j) + 0.25 * x(1, j) + 0.25 * x(2, j);
  });
  const Reach reach = {links, 2, 3, x.data(), x.stride(), columns};  // of the two agents whose rows begin at 1
  std::vector<const void*> places;
  std::vector<double> products(3);
  pairwise(reach, 1, places, products);
  EXPECT_EQ(products, (std::vector<double>{dot(x, 1, x, 0), dot(x, 1, x, 2), dot(x, 2, x, 1)}));
}

}  // namespace
}  // namespace polyhop::block_test

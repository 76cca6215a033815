// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "polyhop/core/kernels.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/core/rows.hpp"
#include "unit/core/plain_kernels.hpp"

namespace polyhop::float_kernels_test {
namespace {

// Every remainder of a line and of the widest tile, and rows around the columns that lanes of float run over.
std::vector<Index> sizes() {
  std::vector<Index> out;
  for (Index n = 0; n <= 70; ++n) out.push_back(n);
  out.insert(out.end(), {128, 255, 256, 257, 271, 272, 273, 512, 513, 1000});
  return out;
}

// Numbers of very different size and of both signs, so that another order of summation shows in the bits.
std::vector<float> numbers(Index count, Index which) {
  Stream stream(1, Purpose::features, which);
  std::vector<float> out(count);
  for (float& x : out) {
    x = static_cast<float>(std::ldexp(stream.normal(), static_cast<int>(stream.below(21)) - 10));
  }
  return out;
}

std::vector<double> wide(const std::vector<float>& x) { return {x.begin(), x.end()}; }

Rows rows_of(Index rows, Index columns, Index which) {
  Rows out(rows, columns, 0, Element::float32);
  const auto content = numbers(rows * columns, which);
  for (Index r = 0; r < rows; ++r) std::copy_n(content.data() + r * columns, columns, out.as<float>(r));
  return out;
}

// Both functions on copies of `start`, from the first number on: what they write must be the same, also behind the end.
template <class T, class Fast, class Plain>
void expect_same(const std::vector<T>& start, Fast fast, Plain twin, Index n) {
  auto got = start;
  auto expected = start;
  fast(got.data());
  twin(expected.data());
  EXPECT_EQ(got, expected) << n;
}

TEST(FloatKernels, ReductionsEqualTheirPlainTwins) {
  for (const Index n : sizes()) {
    const Rows x = rows_of(2, n, 0);
    EXPECT_EQ(kernels::dot(x.as<float>(0), x.as<float>(1), n), plain::dot(x.as<float>(0), x.as<float>(1), n)) << n;
    EXPECT_EQ(kernels::squared_distance(x.as<float>(0), x.as<float>(1), n),
              plain::squared_distance(x.as<float>(0), x.as<float>(1), n))
        << n;
  }
}

TEST(FloatKernels, SumsOfPiecesAreInDouble) {
  // 2^24 + 1 is no float: the second piece must not be added to lanes of the first.
  const Index n = 2 * kernels::longest_piece;
  Rows x(1, n, 0, Element::float32);
  const Rows ones(1, n, 1, Element::float32);
  x.as<float>(0)[0] = 0x1p24F;
  x.as<float>(0)[kernels::longest_piece] = 1;
  EXPECT_EQ(kernels::dot(x.as<float>(0), ones.as<float>(0), n), 0x1p24 + 1);
}

TEST(FloatKernels, ALaneIsAddedToTheOneEightFurtherBeforeTheTree) {
  // 2^53 - 2^53 + 1 is 1; had lanes 0 and 4 met first, the 1 would be lost.
  Rows x(1, 16, 0, Element::float32);
  const Rows ones(1, 16, 1, Element::float32);
  x.as<float>(0)[0] = 0x1p53F;
  x.as<float>(0)[4] = 1;
  x.as<float>(0)[8] = -0x1p53F;
  EXPECT_EQ(kernels::dot(x.as<float>(0), ones.as<float>(0), 16), 1.0);
}

TEST(FloatKernels, ElementLoopsEqualTheirPlainTwinsAndStopAtTheEnd) {
  const auto x = numbers(1040, 1);
  const auto y = numbers(1040, 2);
  const auto start = numbers(1040, 3);
  for (const Index n : sizes()) {
    expect_same(
        start, [&](float* out) { kernels::scale(1.0 / 3, x.data() + 1, out, n); },
        [&](float* out) { plain::scale(1.0 / 3, x.data() + 1, out, n); }, n);
    expect_same(
        start, [&](float* out) { kernels::add_scaled(1.0 / 3, x.data() + 1, y.data(), out, n); },
        [&](float* out) { plain::add_scaled(1.0 / 3, x.data() + 1, y.data(), out, n); }, n);
    expect_same(
        wide(start), [&](double* out) { kernels::add_scaled(1.0 / 3, x.data() + 1, out, out, n); },
        [&](double* out) { plain::add_scaled(1.0 / 3, x.data() + 1, out, out, n); }, n);
    expect_same(
        start, [&](float* out) { kernels::add_difference(1.0 / 3, x.data() + 1, y.data(), out, n); },
        [&](float* out) { plain::add_difference(1.0 / 3, x.data() + 1, y.data(), out, n); }, n);
    expect_same(
        start, [&](float* out) { kernels::raise(0.9, x.data() + 1, out, n); },
        [&](float* out) { plain::raise(0.9, x.data() + 1, out, n); }, n);
    expect_same(
        start, [&](float* out) { kernels::scaled_step(0.3, x.data() + 1, y.data(), 1e-4, 1e-3, out, out, n); },
        [&](float* out) { plain::scaled_step(0.3, x.data() + 1, y.data(), 1e-4, 1e-3, out, out, n); }, n);
    auto squares = start;
    auto expected_squares = start;
    expect_same(
        start, [&](float* out) { kernels::moments(0.9, 0.999, 0.3, x.data() + 1, out, squares.data(), n); },
        [&](float* out) { plain::moments(0.9, 0.999, 0.3, x.data() + 1, out, expected_squares.data(), n); }, n);
    EXPECT_EQ(squares, expected_squares) << n;
  }
}

TEST(FloatKernels, MomentsAreFormedInDouble) {
  // g^2 = 1e-46 is 0 as a float; times 1e10 it is not.
  const float h = 1e-15F;
  float m = 0;
  float v = 0;
  kernels::moments(0.9, 1 - 1e10, 1e-8, &h, &m, &v, 1);
  EXPECT_FLOAT_EQ(m, 1e-24F);
  EXPECT_FLOAT_EQ(v, 1e-36F);
}

struct SparseExample {
  std::vector<Index> offset = {0, 0, 1, 3, 8};
  std::vector<std::int32_t> slot = {4, 0, 3, 0, 1, 2, 3, 4};
  std::vector<double> weight = {1.0 / 3, 0.7, 0.3, 0.2, 1e-3, -0.4, 0.11, 5.0};
  [[nodiscard]] SparseView view() const { return {offset.data(), slot.data(), weight.data()}; }
};

TEST(FloatKernels, CombineEqualsItsPlainTwin) {
  const SparseExample a;
  const std::vector<std::int32_t> some = {3, 1};
  for (const Index n : sizes()) {
    const Rows x = rows_of(5, n, 4);
    const Index stride = x.stride();
    expect_same(
        std::vector<float>(4 * stride + 1, -1),
        [&](float* out) { kernels::combine(a.view(), some.data(), 2, x.as<float>(), stride, n, out, stride); },
        [&](float* out) { plain::combine(a.view(), some.data(), 2, x.as<float>(), stride, n, out, stride); }, n);
  }
}

TEST(FloatKernels, CombineBlendsWhatItMakesAndWhatItOverwritesIntoDoubles) {
  const SparseExample a;
  const std::vector<std::int32_t> some = {3, 1};
  for (const Index n : sizes()) {
    for (const double earlier : {0.0, 0.4}) {
      const Rows x = rows_of(5, n, 4);
      Rows out(4, n, 0.7F, Element::float32);
      // A line of floats may be longer than what is left of a row of doubles: the row behind it must stay.
      Rows got(4, n, 0.3);
      Rows expected = got;
      for (const Index r : some) kernels::blend(earlier, out.as<float>(r), expected.row(r).data(), n);
      kernels::combine(a.view(), some.data(), 2, x.as<float>(), x.stride(), n, out.as<float>(), out.stride(),
                       {0.1, got.data(), got.stride(), earlier});
      for (const Index r : some) kernels::blend(0.1, out.as<float>(r), expected.row(r).data(), n);
      for (Index r = 0; r < 4; ++r) {
        EXPECT_TRUE(std::equal(got.row(r).begin(), got.row(r).end(), expected.row(r).begin())) << n << ", row " << r;
      }
    }
  }
}

TEST(FloatKernels, ProductsAndBlocksEqualTheirPlainTwins) {
  constexpr Index rows = 7;
  constexpr Index blocks = 3;
  constexpr Index points = 3 * kernels::product_tile;
  const auto slopes = wide(numbers(rows * blocks, 7));
  for (const Index n : sizes()) {
    const Rows h = rows_of(rows, n, 5);
    const auto y = numbers(std::max(blocks, points) * n + 1, 6);  // somewhere, even where there are none
    const auto wt = wide(y);
    expect_same(
        std::vector<double>(rows * points),
        [&](double* out) {
          kernels::products(h.as<float>(), h.stride(), rows, wt.data(), points, points, n, out, points);
        },
        [&](double* out) {
          plain::products(h.as<float>(), h.stride(), rows, wt.data(), points, points, n, out, points);
        },
        n);
    std::vector<const float*> x;
    for (Index r = 0; r < rows; ++r) x.push_back(h.as<float>(r));
    expect_same(
        std::vector<double>(rows * blocks),
        [&](double* out) { kernels::block_dots(x.data(), rows, y.data(), blocks, n, out); },
        [&](double* out) { plain::block_dots(x.data(), rows, y.data(), blocks, n, out); }, n);
    expect_same(
        numbers(blocks * n + 1, 8),
        [&](float* out) { kernels::add_blocks(slopes.data(), x.data(), rows, blocks, n, out); },
        [&](float* out) { plain::add_blocks(slopes.data(), x.data(), rows, blocks, n, out); }, n);
  }
}

}  // namespace
}  // namespace polyhop::float_kernels_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/fingerprint.hpp"
#include "polyhop/core/pair_tiles.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/core/rows.hpp"
#include "unit/core/plain_kernels.hpp"

namespace polyhop::kernels_test {
namespace {

// Every remainder of the lanes and of the widest tile, and a few long rows.
std::vector<Index> sizes() {
  std::vector<Index> out;
  for (Index n = 0; n <= 70; ++n) out.push_back(n);
  out.insert(out.end(), {100, 255, 256, 257, 512, 1000, 1023});
  return out;
}

// Numbers of very different size and of both signs, so that another order of summation shows in the bits.
std::vector<double> numbers(Index count, Index which) {
  Stream stream(1, Purpose::features, which);
  std::vector<double> out(count);
  for (auto& x : out) {
    x = stream.normal();
    x = std::ldexp(x, static_cast<int>(stream.below(41)) - 20);
  }
  return out;
}

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

std::vector<std::uint64_t> bits(const std::vector<double>& x) {
  std::vector<std::uint64_t> out;
  for (const double v : x) out.push_back(bits(v));
  return out;
}

constexpr double untouched = -12345.0;

// Rows as kernels expect them, zeros up to the next line after each, but `shift` numbers off a cache line and with
// `gap` numbers between them that nobody may read.
class LooseRows {
 public:
  LooseRows(Index rows, Index columns, Index shift, Index gap, Index which)
      : stride_(Rows::padded(columns) + gap),
        shift_(shift),
        data_(shift + rows * stride_, std::numeric_limits<double>::quiet_NaN()) {
    const auto content = numbers(rows * columns, which);
    for (Index r = 0; r < rows; ++r) {
      std::fill_n(row(r), Rows::padded(columns), 0.0);
      std::copy_n(content.data() + r * columns, columns, row(r));
    }
  }
  [[nodiscard]] Index stride() const { return stride_; }
  [[nodiscard]] double* row(Index r) { return data_.data() + shift_ + r * stride_; }
  [[nodiscard]] const double* row(Index r) const { return data_.data() + shift_ + r * stride_; }

 private:
  Index stride_;
  Index shift_;
  std::vector<double> data_;
};

TEST(Kernels, DotAddsCoordinatesOfOneLaneInOrderAndLanesByTheTree) {
  const double big = 0x1p53;
  const std::vector<double> ones(32, 1.0);
  std::vector<double> x(32, 0.0);
  // Coordinates 0 and 8 share a lane and cancel there; from left to right the 1 would be lost.
  x[0] = big;
  x[1] = 1;
  x[8] = -big;
  EXPECT_EQ(kernels::dot(x.data(), ones.data(), 32), 1.0);
  // Lanes 0 and 4 meet first.
  std::ranges::fill(x, 0.0);
  x[0] = big;
  x[1] = 1;
  x[4] = -big;
  EXPECT_EQ(kernels::dot(x.data(), ones.data(), 32), 1.0);
  // And before lanes 0 and 1, so here the 1 is lost.
  std::ranges::fill(x, 0.0);
  x[0] = big;
  x[1] = -big;
  x[4] = 1;
  EXPECT_EQ(kernels::dot(x.data(), ones.data(), 32), 0.0);
}

TEST(Kernels, PiecesHaveAsManyLinesAsAllButTheLast) {
  static_assert(kernels::longest_piece == 512);
  EXPECT_EQ(kernels::piece(512, Element::float64), 512);
  EXPECT_EQ(kernels::piece(520, Element::float64), 264);  // 33 and 32 lines
  EXPECT_EQ(kernels::piece(1000, Element::float64), 504);
  EXPECT_EQ(kernels::piece(1024, Element::float64), 512);
  EXPECT_EQ(kernels::piece(1032, Element::float64), 344);  // 43 lines in each of three
  EXPECT_EQ(kernels::piece(1008, Element::float32), 512);  // 32 and 31 lines of 16
}

TEST(Kernels, DotAddsPiecesInOrder) {
  const Index n = 3 * kernels::longest_piece;
  Rows x(1, n);
  const Rows ones(1, n, 1);
  // The 1 is lost in its own piece, so that what cancels the big number in the next one comes too late.
  x(0, 0) = 0x1p53;
  x(0, 1) = 1;
  x(0, kernels::longest_piece) = -0x1p53;
  EXPECT_EQ(kernels::dot(x.data(), ones.data(), n), 0.0);
  // It is lost too in a piece between them, but not behind both.
  x(0, 1) = 0;
  x(0, kernels::longest_piece) = 1;
  x(0, 2 * kernels::longest_piece) = -0x1p53;
  EXPECT_EQ(kernels::dot(x.data(), ones.data(), n), 0.0);
  std::swap(x(0, kernels::longest_piece), x(0, 2 * kernels::longest_piece));
  EXPECT_EQ(kernels::dot(x.data(), ones.data(), n), 1.0);
}

TEST(Kernels, DotMultipliesAndAddsWithOneRounding) {
  // (1 + 2^-52)^2 - (1 + 2^-51) = 2^-104, which two roundings would make 0.
  Rows rows(2, 17);
  rows(0, 0) = -1;
  rows(1, 0) = 1 + 0x1p-51;
  rows(0, 16) = rows(1, 16) = 1 + 0x1p-52;
  EXPECT_EQ(kernels::dot(rows.row(0).data(), rows.row(1).data(), 17), 0x1p-104);
}

TEST(Kernels, DotEqualsItsPlainTwinForAllSizesAndAlignments) {
  for (const Index n : sizes()) {
    for (const Index shift : {0, 1, 2, 3, 7}) {
      const LooseRows x(1, n, shift, 1, 0);
      const LooseRows y(1, n, (3 * shift) % 8, 1, 1);
      EXPECT_EQ(bits(kernels::dot(x.row(0), y.row(0), n)), bits(plain::dot(x.row(0), y.row(0), n)))
          << n << " shifted by " << shift;
    }
  }
}

TEST(Kernels, DotIsSymmetricToTheBit) {
  for (const Index n : sizes()) {
    const LooseRows rows(2, n, 0, 0, 2);
    EXPECT_EQ(bits(kernels::dot(rows.row(0), rows.row(1), n)), bits(kernels::dot(rows.row(1), rows.row(0), n))) << n;
  }
}

TEST(Kernels, DotPassesOnWhatIsNotFinite) {
  Rows x(1, 20, 1.0);
  const Rows ones(1, 20, 1.0);
  x(0, 17) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(kernels::dot(x.data(), ones.data(), 20), std::numeric_limits<double>::infinity());
  x(0, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(kernels::dot(x.data(), ones.data(), 20)));
}

TEST(Kernels, SquaredDistanceEqualsItsPlainTwinForAllSizesAndAlignments) {
  for (const Index n : sizes()) {
    for (const Index shift : {0, 1, 2, 5}) {
      const LooseRows x(1, n, shift, 1, 3);
      const LooseRows y(1, n, (3 * shift) % 8, 1, 4);
      EXPECT_EQ(bits(kernels::squared_distance(x.row(0), y.row(0), n)),
                bits(plain::squared_distance(x.row(0), y.row(0), n)))
          << n << " shifted by " << shift;
    }
  }
}

TEST(Kernels, SquaredDistanceOfThreeFourIsTwentyFive) {
  Rows rows(2, 2);
  rows(0, 0) = 1;
  rows(0, 1) = 2;
  rows(1, 0) = 4;
  rows(1, 1) = -2;
  EXPECT_EQ(kernels::squared_distance(rows.row(0).data(), rows.row(1).data(), 2), 25.0);
  EXPECT_EQ(kernels::squared_distance(rows.row(0).data(), rows.row(0).data(), 2), 0.0);
}

TEST(Kernels, ScaleEqualsItsPlainTwinAndStopsAtTheEnd) {
  const auto x = numbers(1040, 4);
  for (const Index n : sizes()) {
    for (const Index shift : {0, 1, 3}) {
      std::vector<double> got(n + 9, untouched);
      std::vector<double> expected = got;
      kernels::scale(-1.0 / 3, x.data() + shift, got.data() + 1, n);
      plain::scale(-1.0 / 3, x.data() + shift, expected.data() + 1, n);
      EXPECT_EQ(bits(got), bits(expected)) << n << " shifted by " << shift;
    }
  }
}

TEST(Kernels, AddScaledEqualsItsPlainTwinAndStopsAtTheEnd) {
  const auto x = numbers(1040, 5);
  const auto y = numbers(1040, 6);
  for (const Index n : sizes()) {
    for (const Index shift : {0, 1, 3}) {
      std::vector<double> got(n + 9, untouched);
      std::vector<double> expected = got;
      kernels::add_scaled(1.0 / 3, x.data() + shift, y.data() + 2 * shift, got.data() + 1, n);
      plain::add_scaled(1.0 / 3, x.data() + shift, y.data() + 2 * shift, expected.data() + 1, n);
      EXPECT_EQ(bits(got), bits(expected)) << n << " shifted by " << shift;
    }
  }
}

TEST(Kernels, AddScaledMayWriteOverItsSecondOperand) {
  const auto x = numbers(1023, 5);
  for (const Index n : sizes()) {
    auto y = numbers(n, 6);
    std::vector<double> expected(y.size());
    plain::add_scaled(0.7, x.data(), y.data(), expected.data(), n);
    kernels::add_scaled(0.7, x.data(), y.data(), y.data(), n);
    EXPECT_EQ(bits(y), bits(expected)) << n;
  }
}

TEST(Kernels, AddDifferenceEqualsItsPlainTwinAndStopsAtTheEnd) {
  const auto x = numbers(1040, 5);
  const auto y = numbers(1040, 6);
  const auto start = numbers(1040, 7);
  for (const Index n : sizes()) {
    for (const Index shift : {0, 1, 3}) {
      auto got = start;
      auto expected = start;
      kernels::add_difference(1.0 / 3, x.data() + shift, y.data() + 2 * shift, got.data() + 1, n);
      plain::add_difference(1.0 / 3, x.data() + shift, y.data() + 2 * shift, expected.data() + 1, n);
      EXPECT_EQ(bits(got), bits(expected)) << n << " shifted by " << shift;
    }
  }
}

TEST(Kernels, AddDifferenceOfExchangedOperandsIsTheOppositeToTheBit) {
  const auto x = numbers(1023, 5);
  const auto y = numbers(1023, 6);
  std::vector<double> there(x.size());
  std::vector<double> back(x.size());
  kernels::add_difference(0.3, x.data(), y.data(), there.data(), 1023);
  kernels::add_difference(0.3, y.data(), x.data(), back.data(), 1023);
  for (std::size_t j = 0; j < x.size(); ++j) EXPECT_EQ(there[j], -back[j]) << j;
}

TEST(Kernels, MomentsEqualTheirPlainTwinAndStopAtTheEnd) {
  const auto h = numbers(1040, 5);
  const auto start = numbers(1040, 6);
  for (const Index n : sizes()) {
    for (const Index shift : {0, 1, 3}) {
      auto m = start;
      auto v = start;
      auto expected_m = start;
      auto expected_v = start;
      kernels::moments(0.9, 0.999, -1.0 / 3, h.data() + shift, m.data() + 1, v.data() + 2, n);
      plain::moments(0.9, 0.999, -1.0 / 3, h.data() + shift, expected_m.data() + 1, expected_v.data() + 2, n);
      EXPECT_EQ(bits(m), bits(expected_m)) << n << " shifted by " << shift;
      EXPECT_EQ(bits(v), bits(expected_v)) << n << " shifted by " << shift;
    }
  }
}

TEST(Kernels, MomentsAverageTheGradientAndItsSquare) {
  std::vector<double> m = {4};
  std::vector<double> v = {8};
  const std::vector<double> h = {3};
  kernels::moments(0.5, 0.75, -2, h.data(), m.data(), v.data(), 1);  // g = -6
  EXPECT_EQ(m[0], 2 - 3);
  EXPECT_EQ(v[0], 6 + 9);
}

TEST(Kernels, RaiseEqualsItsPlainTwinAndStopsAtTheEnd) {
  const auto v = numbers(1040, 5);
  const auto start = numbers(1040, 6);
  for (const Index n : sizes()) {
    for (const Index shift : {0, 1, 3}) {
      auto got = start;
      auto expected = start;
      kernels::raise(0.9, v.data() + shift, got.data() + 1, n);
      plain::raise(0.9, v.data() + shift, expected.data() + 1, n);
      EXPECT_EQ(bits(got), bits(expected)) << n << " shifted by " << shift;
    }
  }
}

TEST(Kernels, RaiseNeverLowers) {
  std::vector<double> u = {4, 4};
  const std::vector<double> v = {8, 2};
  kernels::raise(0.25, v.data(), u.data(), 2);
  EXPECT_EQ(u, (std::vector<double>{1 + 6, 4}));
}

TEST(Kernels, ScaledStepEqualsItsPlainTwinAndStopsAtTheEnd) {
  const auto m = numbers(1040, 5);
  const auto u = numbers(1040, 6);  // half of them below the floor
  const auto x = numbers(1040, 7);
  for (const Index n : sizes()) {
    for (const Index shift : {0, 1, 3}) {
      std::vector<double> got(n + 9, untouched);
      std::vector<double> expected = got;
      kernels::scaled_step(0.3, m.data() + shift, u.data() + 2 * shift, 1e-4, 1e-3, x.data() + shift, got.data() + 1,
                           n);
      plain::scaled_step(0.3, m.data() + shift, u.data() + 2 * shift, 1e-4, 1e-3, x.data() + shift, expected.data() + 1,
                         n);
      EXPECT_EQ(bits(got), bits(expected)) << n << " shifted by " << shift;
    }
  }
}

TEST(Kernels, ScaledStepDividesByTheRootOfWhatIsAboveTheFloor) {
  const std::vector<double> m = {3, 6};
  const std::vector<double> u = {4, -1};
  std::vector<double> x = {10, 10};
  kernels::scaled_step(2, m.data(), u.data(), 1, 1, x.data(), x.data(), 2);  // out may be x
  EXPECT_EQ(x, (std::vector<double>{10 - 6.0 / 3, 10 - 12.0 / 2}));
}

// Four rows over five sources: with no entry, one, two and five of them.
struct SparseExample {
  std::vector<Index> offset = {0, 0, 1, 3, 8};
  std::vector<std::int32_t> slot = {4, 0, 3, 0, 1, 2, 3, 4};
  std::vector<double> weight = {1.0 / 3, 0.7, 0.3, 0.2, 1e-3, -0.4, 0.11, 5.0};
  [[nodiscard]] SparseView view() const { return {offset.data(), slot.data(), weight.data()}; }
};

TEST(Kernels, FoldAddsEveryEighthInOrder) {
  for (const Index n : {1, 7, 8, 9, 100, 1003}) {
    Rows x(2, n);
    Stream stream(static_cast<std::uint64_t>(n), Purpose::features);
    stream.normals(x.row(0));
    for (double& sign : x.row(1)) sign = stream.below(2) == 0 ? 1 : -1;
    std::array<double, kernels::folds> expected{};
    for (Index m = 0; m < n; ++m) expected[m % kernels::folds] += x(0, m) * x(1, m);
    std::array<double, kernels::folds> found{};
    kernels::fold(x.row(0).data(), x.row(1).data(), n, found.data());
    EXPECT_EQ(found, expected) << n;
  }
}

TEST(Kernels, CombineEqualsItsPlainTwinAndWritesOnlyTheRowsAskedFor) {
  const SparseExample a;
  const std::vector<std::int32_t> every = {0, 1, 2, 3};
  const std::vector<std::int32_t> some = {3, 1};
  for (const Index columns : sizes()) {
    for (const Index gap : {0, 1, 8}) {
      const LooseRows x(5, columns, gap, gap, 7);
      const Index stride = Rows::padded(columns) + 2 * gap;
      for (const auto* rows : {&every, &some}) {
        std::vector<double> got(4 * stride + 1, untouched);
        std::vector<double> expected = got;
        const auto count = static_cast<Index>(rows->size());
        kernels::combine(a.view(), rows->data(), count, x.row(0), x.stride(), columns, got.data() + 1, stride);
        plain::combine(a.view(), rows->data(), count, x.row(0), x.stride(), columns, expected.data() + 1, stride);
        EXPECT_EQ(bits(got), bits(expected)) << columns << " columns, " << gap << " numbers between rows";
      }
    }
  }
}

TEST(Kernels, CombineBlendsWhatItMakesAndWhatItOverwritesAsBlendDoes) {
  const SparseExample a;
  const std::vector<std::int32_t> some = {3, 1};
  for (const Index columns : sizes()) {
    for (const double earlier : {0.0, 0.4}) {
      const LooseRows x(5, columns, 0, 0, 7);
      const Rows before(4, columns, 0.3);
      Rows got = before;
      Rows expected = before;
      Rows out(4, columns, 0.7);
      for (const Index r : some) kernels::blend(earlier, out.row(r).data(), expected.row(r).data(), columns);
      kernels::combine(a.view(), some.data(), 2, x.row(0), x.stride(), columns, out.data(), out.stride(),
                       {0.1, got.data(), got.stride(), earlier});
      for (const Index r : some) kernels::blend(0.1, out.row(r).data(), expected.row(r).data(), columns);
      for (Index r = 0; r < 4; ++r) {
        EXPECT_TRUE(std::ranges::equal(got.row(r), expected.row(r))) << columns << " columns, row " << r;
        const double* end = got.data() + r * got.stride() + Rows::padded(columns);
        EXPECT_EQ(std::count(std::as_const(got).row(r).data() + columns, end, 0.0), Rows::padded(columns) - columns);
      }
    }
  }
}

TEST(Kernels, CombineOfAnAveragingMatrixIsTheAverage) {
  const std::vector<Index> offset = {0, 2, 4};
  const std::vector<std::int32_t> slot = {0, 1, 0, 1};
  const std::vector<double> weight = {0.5, 0.5, 0.25, 0.75};
  const std::vector<std::int32_t> rows = {0, 1};
  Rows x(2, 3);
  std::ranges::copy(std::vector<double>{1, 2, 3}, x.row(0).begin());
  std::ranges::copy(std::vector<double>{5, 6, 7}, x.row(1).begin());
  Rows out(2, 3, untouched);
  kernels::combine({offset.data(), slot.data(), weight.data()}, rows.data(), 2, x.data(), x.stride(), 3, out.data(),
                   out.stride());
  EXPECT_EQ(std::vector<double>(out.row(0).begin(), out.row(0).end()), (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(std::vector<double>(out.row(1).begin(), out.row(1).end()), (std::vector<double>{4, 5, 6}));
}

TEST(Kernels, ProductsEqualTheirPlainTwinForAllTileRemainders) {
  for (const Index rows : {0, 1, 2, 3, 4, 5, 6, 7, 9, 12, 15}) {
    for (Index points = 0; points <= 5 * kernels::product_tile; points += kernels::product_tile) {
      for (const Index columns : {0, 1, 2, 3, 15, 16, 17, 33, 100}) {
        for (const Index pad : {0, 1, 8}) {
          const Index h_stride = columns + pad;
          const Index wt_stride = points + pad;
          const Index out_stride = points + pad;
          const auto h = numbers(rows * h_stride + 1, 11);
          const auto wt = numbers(columns * wt_stride + 1, 12);
          std::vector<double> got(rows * out_stride + 1, untouched);
          std::vector<double> expected = got;
          kernels::products(h.data() + 1, h_stride, rows, wt.data() + 1, wt_stride, points, columns, got.data() + 1,
                            out_stride);
          plain::products(h.data() + 1, h_stride, rows, wt.data() + 1, wt_stride, points, columns, expected.data() + 1,
                          out_stride);
          EXPECT_EQ(bits(got), bits(expected))
              << rows << " rows, " << points << " points, " << columns << " columns, padded by " << pad;
        }
      }
    }
  }
}

TEST(Kernels, ProductsOfALongRowEqualTheirPlainTwin) {
  const Index points = 3 * kernels::product_tile;
  const auto h = numbers(3 * 1023, 13);
  const auto wt = numbers(1023 * points, 14);
  std::vector<double> got(3 * points);
  std::vector<double> expected = got;
  kernels::products(h.data(), 1023, 3, wt.data(), points, points, 1023, got.data(), points);
  plain::products(h.data(), 1023, 3, wt.data(), points, points, 1023, expected.data(), points);
  EXPECT_EQ(bits(got), bits(expected));
}

// The places of rows that stand one behind the other, one number off a cache line.
std::vector<const double*> places(const std::vector<double>& numbers, Index rows, Index n) {
  std::vector<const double*> out;
  for (Index r = 0; r < rows; ++r) out.push_back(numbers.data() + 1 + r * n);
  return out;
}

TEST(Kernels, BlockDotsEqualTheirPlainTwinForAllTileRemainders) {
  for (Index rows = 0; rows <= 7; ++rows) {
    for (const Index blocks : {1, 2, 10}) {
      for (const Index n : sizes()) {
        const auto h = numbers(rows * n + 1, 15);
        const auto y = numbers(blocks * n + 1, 16);
        const auto x = places(h, rows, n);
        std::vector<double> got(rows * blocks + 1, untouched);
        std::vector<double> expected = got;
        kernels::block_dots(x.data(), rows, y.data() + 1, blocks, n, got.data());
        plain::block_dots(x.data(), rows, y.data() + 1, blocks, n, expected.data());
        EXPECT_EQ(bits(got), bits(expected)) << rows << " rows, " << blocks << " blocks of " << n;
      }
    }
  }
}

TEST(Kernels, AddBlocksEqualsItsPlainTwinForAllTileRemainders) {
  for (Index rows = 0; rows <= 9; ++rows) {
    for (const Index blocks : {1, 2, 10}) {
      for (const Index n : sizes()) {
        const auto h = numbers(rows * n + 1, 17);
        const auto a = numbers(rows * blocks, 18);
        const auto x = places(h, rows, n);
        std::vector<double> got = numbers(blocks * n + 1, 19);
        std::vector<double> expected = got;
        kernels::add_blocks(a.data(), x.data(), rows, blocks, n, got.data());
        plain::add_blocks(a.data(), x.data(), rows, blocks, n, expected.data());
        EXPECT_EQ(bits(got), bits(expected)) << rows << " rows, " << blocks << " blocks of " << n;
      }
    }
  }
}

// Runs the test for every variant that this machine has.
template <class Test>
void with_every_variant(Test test) {
  const std::string best = kernels::instruction_set();
  for (const char* variant : kernels::variants()) {
    ASSERT_TRUE(kernels::use_variant(variant));
    test(variant);
  }
  ASSERT_TRUE(kernels::use_variant(best));
}

TEST(Kernels, AddSquaresEqualsItsPlainTwinForAllTileRemainders) {
  with_every_variant([](const char* variant) {
    for (const Index samples : {0, 1, 3, 16}) {
      for (Index columns = 0; columns <= 9; ++columns) {
        const auto a = numbers(samples * kernels::strip, 30);
        const auto h = numbers(samples * columns + 1, 31);
        const std::vector<float> narrow(h.begin(), h.end());
        std::vector<double> got = numbers(columns * kernels::strip + 1, 32);
        std::vector<double> expected = got;
        const auto x = places(h, samples, columns);
        kernels::add_squares(a.data(), x.data(), samples, columns, got.data());
        plain::add_squares(a.data(), x.data(), samples, columns, expected.data());
        EXPECT_EQ(bits(got), bits(expected)) << variant << ": " << samples << " samples, " << columns << " columns";
        std::vector<const float*> y;
        for (Index j = 0; j < samples; ++j) y.push_back(narrow.data() + j * columns);
        kernels::add_squares(a.data(), y.data(), samples, columns, got.data());
        plain::add_squares(a.data(), y.data(), samples, columns, expected.data());
        EXPECT_EQ(bits(got), bits(expected)) << variant << ": " << samples << " samples, " << columns << " columns";
      }
    }
  });
}

TEST(Kernels, SubtractProductsEqualsItsPlainTwinForAllTileRemainders) {
  with_every_variant([](const char* variant) {
    for (const Index count : {0, 1, 5, 64, 65, 130}) {
      for (Index rows = 0; rows <= 9; ++rows) {
        const Index stride = rows + 3;
        const auto a = numbers(count * stride + 1, 33);
        const auto b = numbers(count * kernels::strip + 1, 34);
        std::vector<double> got = numbers(rows * kernels::strip + 1, 35);
        std::vector<double> expected = got;
        kernels::subtract_products(a.data(), stride, b.data(), count, got.data(), rows);
        plain::subtract_products(a.data(), stride, b.data(), count, expected.data(), rows);
        EXPECT_EQ(bits(got), bits(expected)) << variant << ": " << count << " products, " << rows << " rows";
      }
    }
  });
}

TEST(Kernels, DivideAndAddTwoRoundEveryOperation) {
  with_every_variant([](const char* variant) {
    for (const Index n : sizes()) {
      const auto x = numbers(n, 36);
      const auto y = numbers(n, 37);
      std::vector<double> got = numbers(n + 1, 38);
      std::vector<double> expected = got;
      kernels::add_two(0.7, x.data(), -1.0 / 3, y.data(), got.data(), n);
      kernels::divide(3, got.data(), n);
      for (Index j = 0; j < n; ++j) expected[j] = ((expected[j] + 0.7 * x[j]) + -1.0 / 3 * y[j]) / 3;
      EXPECT_EQ(bits(got), bits(expected)) << variant << ": " << n;
    }
  });
}

// What the twins cannot show, being compiled by the same compiler for the same machine. A number that differs here
// breaks the promise of equal bits: it is never to be replaced by what a machine gives.
std::string kernel_fingerprint() {
  Fingerprint fingerprint;
  const SparseExample a;
  const std::vector<std::int32_t> every = {0, 1, 2, 3};
  for (const Index n : sizes()) {
    const LooseRows rows(5, n, 1, 3, 20);
    const std::vector<const double*> x = {rows.row(0), rows.row(1), rows.row(2), rows.row(3)};
    fingerprint.add(kernels::dot(x[0], x[1], n));
    fingerprint.add(kernels::squared_distance(x[0], x[1], n));
    std::vector<double> out(4 * rows.stride());
    kernels::combine(a.view(), every.data(), 4, rows.row(0), rows.stride(), n, out.data(), rows.stride());
    fingerprint.add(out);
    std::vector<double> dots(a.slot.size());
    std::vector<const void*> places;
    for (Index r = 0; r < 5; ++r) places.push_back(rows.row(r));
    PairTiles(a.view(), 4, nullptr, n).multiply(places.data(), places.data(), n, dots.data());
    fingerprint.add(dots);

    std::vector<double> m = numbers(n, 21);
    std::vector<double> v = numbers(n, 22);
    kernels::scale(-1.0 / 3, x[0], out.data(), n);
    kernels::add_scaled(0.7, x[1], out.data(), out.data(), n);
    kernels::add_difference(0.3, x[2], x[3], out.data(), n);
    kernels::moments(0.9, 0.999, -1.0 / 3, out.data(), m.data(), v.data(), n);
    kernels::raise(0.9, m.data(), v.data(), n);
    kernels::scaled_step(0.3, m.data(), v.data(), 1e-4, 1e-3, x[0], out.data(), n);
    fingerprint.add(std::span(out).first(n));

    const Index points = 2 * kernels::product_tile;
    const auto wt = numbers(n * points, 23);
    std::vector<double> products(4 * points);
    kernels::products(rows.row(0), rows.stride(), 4, wt.data(), points, points, n, products.data(), points);
    fingerprint.add(products);
    const auto blocks = numbers(3 * n, 24);
    std::vector<double> factors(4 * 3);
    kernels::block_dots(x.data(), 4, blocks.data(), 3, n, factors.data());
    fingerprint.add(factors);
    std::vector<double> sums(3 * n);
    kernels::add_blocks(factors.data(), x.data(), 4, 3, n, sums.data());
    fingerprint.add(sums);
  }
  return hexadecimal(fingerprint.value());
}

TEST(Kernels, GiveTheSameBitsOnEveryMachine) {
  const std::string best = kernels::instruction_set();
  for (const char* variant : kernels::variants()) {
    ASSERT_TRUE(kernels::use_variant(variant));
    EXPECT_STREQ(kernels::instruction_set(), variant);
    EXPECT_EQ(kernel_fingerprint(), "4fcfeab390fb0316") << variant;
  }
  ASSERT_TRUE(kernels::use_variant(best));
}

// All variants, and rows of both types: an odd row is left over, and a factor that is not finite must not reach the
// zeros behind a row.
template <class T>
void expect_rows_like_twins(const std::string& variant) {
  for (const Index count : {0, 1, 2, 9}) {
    for (const Index n : sizes()) {
      Rows x(count + 1, n, 0, element_of<T>);
      Rows y = x;
      const auto content = numbers(2 * n * count, 25);
      std::vector<const void*> places;
      for (Index r = 0; r < count; ++r) {
        for (Index j = 0; j < n; ++j) {
          x.as<T>(r)[j] = static_cast<T>(content[2 * (r * n + j)]);
          y.as<T>(r)[j] = static_cast<T>(content[2 * (r * n + j) + 1]);
        }
        places.push_back(x.place(r));
      }
      std::vector<double> got(count);
      std::vector<double> expected(count);
      kernels::dot_rows(places.data(), y.as<T>(), y.stride(), count, n, got.data());
      plain::dot_rows(places.data(), y.as<T>(), y.stride(), count, n, expected.data());
      EXPECT_EQ(bits(got), bits(expected)) << variant << ", " << count << " rows of " << n;
      for (const Index stride : {x.stride(), Index{0}}) {  // 0: the same row for all
        const T* z = x.as<T>();
        kernels::dot_difference_rows(places.data(), y.as<T>(), y.stride(), z, stride, count, n, got.data());
        plain::dot_difference_rows(places.data(), y.as<T>(), y.stride(), z, stride, count, n, expected.data());
        EXPECT_EQ(bits(got), bits(expected)) << variant << ", " << count << " rows of " << n << ", every " << stride;
        kernels::dot_difference_rows(places.data(), z, stride, y.as<T>(), y.stride(), count, n, got.data());
        plain::dot_difference_rows(places.data(), z, stride, y.as<T>(), y.stride(), count, n, expected.data());
        EXPECT_EQ(bits(got), bits(expected)) << variant << ", " << count << " rows of " << n << ", every " << stride;
      }
      std::vector<double> factors = numbers(count, 26);
      if (count > 2) factors[1] = std::numeric_limits<double>::infinity();
      Rows out = y.zeros(count + 1);
      Rows expected_out = out;
      kernels::add_scaled_rows(factors.data(), places.data(), y.as<T>(), y.stride(), count, n, out.as<T>(),
                               out.stride());
      plain::add_scaled_rows(factors.data(), places.data(), y.as<T>(), y.stride(), count, n, expected_out.as<T>(),
                             out.stride());
      EXPECT_EQ(std::memcmp(out.place(0), expected_out.place(0), static_cast<std::size_t>(out.bytes())), 0)
          << variant << ", " << count << " rows of " << n;
    }
  }
}

TEST(Kernels, RowsInOneCallEqualTheirPlainTwins) {
  const std::string best = kernels::instruction_set();
  for (const char* variant : kernels::variants()) {
    ASSERT_TRUE(kernels::use_variant(variant));
    expect_rows_like_twins<double>(variant);
    expect_rows_like_twins<float>(variant);
  }
  ASSERT_TRUE(kernels::use_variant(best));
}

TEST(Kernels, AVariantThatIsNotThereIsNotUsed) {
  const std::string before = kernels::instruction_set();
  EXPECT_FALSE(kernels::use_variant("x86-64-v9"));
  EXPECT_EQ(kernels::instruction_set(), before);
}

TEST(Kernels, CombineOfManyRowsEqualsItsPlainTwin) {
  constexpr Index rows = 700;  // read from end to end, unlike a few of them
  const LooseRows x(rows, 37, 0, 0, 12);
  std::vector<Index> offset = {0};
  std::vector<std::int32_t> slot, every;
  for (Index r = 0; r < rows; ++r) {
    every.push_back(static_cast<std::int32_t>(r));
    for (const Index l : {r, (r + 1) % rows, (r + 13) % rows}) slot.push_back(static_cast<std::int32_t>(l));
    offset.push_back(static_cast<Index>(slot.size()));
  }
  const auto weight = numbers(static_cast<Index>(slot.size()), 13);
  const SparseView a = {offset.data(), slot.data(), weight.data()};
  std::vector<double> got(rows * x.stride(), untouched);
  std::vector<double> expected = got;
  kernels::combine(a, every.data(), rows, x.row(0), x.stride(), 37, got.data(), x.stride());
  plain::combine(a, every.data(), rows, x.row(0), x.stride(), 37, expected.data(), x.stride());
  EXPECT_EQ(bits(got), bits(expected));
}

}  // namespace
}  // namespace polyhop::kernels_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/packed_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace polyhop::packed_matrix_test {
namespace {

PackedMatrix matrix_of(Index size, const std::vector<double>& triangle) {
  PackedMatrix out(size);
  std::ranges::copy(triangle, out.numbers().begin());
  return out;
}

std::vector<double> triangle(const PackedMatrix& matrix) { return {matrix.numbers().begin(), matrix.numbers().end()}; }

TEST(PackedMatrix, MultipliesByBothTriangles) {
  const PackedMatrix matrix = matrix_of(3, {1, 2, 3, 4, 5, 6});
  std::vector<double> out(3);
  matrix.multiply(std::vector<double>{1, 10, 100}, out);
  EXPECT_EQ(out, (std::vector<double>{321, 542, 653}));
}

TEST(PackedMatrix, TakesSquares) {
  PackedMatrix matrix = matrix_of(2, {1, 2, 3});
  matrix.add_squares(2, std::vector<double>{1, 3}, -1, std::vector<double>{0, 1});
  EXPECT_EQ(triangle(matrix), (std::vector<double>{3, 8, 20}));
}

// Sums run over the columns in order, several rows at a time or not.
TEST(PackedMatrix, MultipliesInOrderOfTheColumns) {
  for (const Index size : {1, 7, 8, 9, 16, 17, 40}) {
    PackedMatrix matrix(size);
    std::vector<double> x(size);
    std::vector<double> expected(size);
    std::vector<double> out(size);
    const auto entry = [](Index r, Index s) { return 1 / static_cast<double>(3 + r * s + 7 * (r + s)); };
    auto to = matrix.numbers().begin();
    for (Index r = 0; r < size; ++r) {
      x[r] = 1 / static_cast<double>(r % 5 + 3);
      for (Index s = r; s < size; ++s) *to++ = entry(r, s);
    }
    for (Index r = 0; r < size; ++r) {
      for (Index s = 0; s < size; ++s) expected[r] += entry(r, s) * x[s];
    }
    matrix.multiply(x, out);
    EXPECT_EQ(out, expected) << size;
  }
}

TEST(PackedMatrix, TakesNumbersInBands) {
  const Index size = 70;
  const TriangleBands bands(size);
  PackedMatrix matrix(size);
  Index first = 0;
  // Column after column of rows 0 to 31, then of 32 to 63, then of 64 to 69.
  std::vector<double> numbers;
  for (const Index band : {0, 32, 64}) {
    for (Index s = band; s < size; ++s) {
      for (Index r = band; r <= std::min(s, band + 31); ++r) numbers.push_back(static_cast<double>(100 * r + s));
    }
  }
  ASSERT_EQ(bands.numbers(), static_cast<Index>(numbers.size()));
  for (; first < bands.numbers(); first += 37) {
    const auto some = std::min<Index>(37, bands.numbers() - first);
    matrix.set(bands, first, std::span(numbers).subspan(first, some));
  }
  for (Index r = 0; r < size; ++r) {
    for (Index s = r; s < size; ++s) EXPECT_EQ(std::as_const(matrix).row(r)[s], 100 * r + s);
  }
}

}  // namespace
}  // namespace polyhop::packed_matrix_test

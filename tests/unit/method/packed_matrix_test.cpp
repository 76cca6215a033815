// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/packed_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
  matrix.add_square(2, std::vector<double>{1, 3});
  EXPECT_EQ(triangle(matrix), (std::vector<double>{3, 8, 21}));
}

}  // namespace
}  // namespace polyhop::packed_matrix_test

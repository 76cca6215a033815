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

TEST(PackedMatrix, TakesSquaresAndADiagonal) {
  PackedMatrix matrix = matrix_of(2, {1, 2, 3});
  matrix.add_square(2, std::vector<double>{1, 3});
  EXPECT_EQ(triangle(matrix), (std::vector<double>{3, 8, 21}));
  matrix.add_diagonal(std::vector<double>{10, 100});
  EXPECT_EQ(triangle(matrix), (std::vector<double>{13, 8, 121}));
}

TEST(PackedMatrix, SolvesByItsFactors) {
  // (2 1 1; 0 3 1; 0 0 1) squared
  PackedMatrix matrix = matrix_of(3, {4, 2, 2, 10, 4, 3});
  std::vector<double> x = {1, 2, 3};
  std::vector<double> b(3);
  matrix.multiply(x, b);
  matrix.factor();
  EXPECT_EQ(triangle(matrix), (std::vector<double>{2, 1, 1, 3, 1, 1}));
  matrix.solve(b);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(b[j], x[j], 1e-14);
}

TEST(PackedMatrix, MovesNothingAlongWhatIsNotThere) {
  // The second number is twice the first, the third is never seen.
  PackedMatrix matrix = matrix_of(3, {1, 2, 0, 4, 0, 0});
  matrix.factor();
  std::vector<double> x = {3, 6, 0};
  matrix.solve(x);
  EXPECT_EQ(x, (std::vector<double>{3, 0, 0}));
}

}  // namespace
}  // namespace polyhop::packed_matrix_test

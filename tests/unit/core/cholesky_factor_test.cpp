// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/cholesky_factor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "polyhop/core/random.hpp"

namespace polyhop::cholesky_factor_test {
namespace {

using Numbers = std::vector<double>;

PackedMatrix matrix_of(Index size, const Numbers& triangle) {
  PackedMatrix out(size);
  std::ranges::copy(triangle, out.numbers().begin());
  return out;
}

TEST(CholeskyFactor, SolvesByItsNumbers) {
  // (2 1 1; 0 3 1; 0 0 1) squared, 1 of its diagonal given apart
  const PackedMatrix matrix = matrix_of(3, {3, 2, 2, 9, 4, 2});
  CholeskyFactor u(3);
  u.take(matrix, Numbers{1, 1, 1});
  EXPECT_EQ((Numbers{u(0, 0), u(0, 1), u(0, 2), u(1, 1), u(1, 2), u(2, 2)}), (Numbers{2, 1, 1, 3, 1, 1}));
  Numbers x = {4 + 4 + 6, 2 + 20 + 12, 2 + 8 + 9};  // of (1, 2, 3)
  u.solve(x);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(x[j], static_cast<double>(j + 1), 1e-14);
}

TEST(CholeskyFactor, MovesNothingAlongWhatIsNotThere) {
  // The second number is twice the first, the third is never seen.
  const PackedMatrix matrix = matrix_of(3, {1, 2, 0, 4, 0, 0});
  CholeskyFactor u(3);
  u.take(matrix, Numbers(3));
  Numbers x = {3, 6, 0};
  u.solve(x);
  EXPECT_EQ(x, (Numbers{3, 0, 0}));
}

// The same, row by row: each row, and what it explains is taken from those below.
std::vector<Numbers> row_by_row(const PackedMatrix& matrix, const Numbers& diagonal) {
  const Index size = matrix.size();
  std::vector<Numbers> u(size, Numbers(size));
  for (Index r = 0; r < size; ++r) {
    std::copy(matrix.row(r) + r, matrix.row(r) + size, u[r].begin() + r);
    u[r][r] += diagonal[r];
  }
  for (Index r = 0; r < size; ++r) {
    double whole = u[r][r];
    for (Index s = 0; s < r; ++s) whole += u[s][r] * u[s][r];
    if (!(u[r][r] > 1e-11 * whole)) {
      std::ranges::fill(u[r], 0.0);
      continue;
    }
    const double root = std::sqrt(u[r][r]);
    for (Index s = r; s < size; ++s) u[r][s] /= root;
    for (Index t = r + 1; t < size; ++t) {
      for (Index s = t; s < size; ++s) u[t][s] -= u[r][t] * u[r][s];
    }
  }
  return u;
}

Numbers solved(const std::vector<Numbers>& u, Numbers x) {
  const auto size = static_cast<Index>(u.size());
  for (Index r = 0; r < size; ++r) {
    x[r] = u[r][r] == 0 ? 0 : x[r] / u[r][r];
    for (Index s = r + 1; s < size; ++s) x[s] -= u[r][s] * x[r];
  }
  for (Index r = size - 1; r >= 0; --r) {
    for (Index s = r + 1; s < size; ++s) x[r] -= u[r][s] * x[s];
    x[r] = u[r][r] == 0 ? 0 : x[r] / u[r][r];
  }
  return x;
}

// Strips and tiles change no bit: matrices of full and of low rank, in the last strip all sizes.
TEST(CholeskyFactor, EqualsTheOneMadeRowByRow) {
  for (const Index size : {1, 5, 31, 32, 33, 36, 63, 64, 97, 150}) {
    for (const Index rank : {size, size / 2 + 1, Index{3}}) {
      Stream stream(7, Purpose::features, size * 1000 + rank);
      PackedMatrix matrix(size);
      for (Index n = 0; n < rank; ++n) {
        Numbers x(size);
        for (double& number : x) number = stream.normal();
        matrix.add_squares(1, x, 0, x);
      }
      const Numbers diagonal(size, rank == 3 ? 0.25 : 0.0);
      Numbers x(size);
      for (double& number : x) number = stream.normal();
      const auto expected = row_by_row(matrix, diagonal);
      CholeskyFactor u(size);
      for (int again = 0; again < 2; ++again) u.take(matrix, diagonal);
      for (Index r = 0; r < size; ++r) {
        for (Index s = r; s < size; ++s)
          ASSERT_EQ(u(r, s), expected[r][s]) << size << " " << rank << " " << r << " " << s;
      }
      const Numbers solution = solved(expected, x);
      u.solve(x);
      EXPECT_EQ(x, solution) << size << " " << rank;
    }
  }
}

}  // namespace
}  // namespace polyhop::cholesky_factor_test

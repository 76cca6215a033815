// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/rows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace polyhop::rows_test {
namespace {

Rows counted(Index rows, Index columns) {
  Rows out(rows, columns);
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < columns; ++c) out(r, c) = static_cast<double>(100 * r + c);
  }
  return out;
}

void expect_counted(const Rows& rows, Index count, Index columns) {
  ASSERT_EQ(rows.rows(), count);
  ASSERT_EQ(rows.columns(), columns);
  for (Index r = 0; r < count; ++r) {
    for (Index c = 0; c < columns; ++c) EXPECT_EQ(rows(r, c), static_cast<double>(100 * r + c)) << r << ", " << c;
  }
}

TEST(Rows, EveryRowStartsOnACacheLine) {
  for (Index columns = 1; columns <= 20; ++columns) {
    const Rows rows(3, columns);
    EXPECT_GE(rows.stride(), columns);
    for (Index r = 0; r < 3; ++r) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(rows.row(r).data()) % 64, 0U) << columns << " columns, row " << r;
    }
  }
}

TEST(Rows, StrideIsTheNumberOfColumnsRoundedUpToALine) {
  EXPECT_EQ(Rows(2, 1).stride(), 8);
  EXPECT_EQ(Rows(2, 8).stride(), 8);
  EXPECT_EQ(Rows(2, 9).stride(), 16);
  // A line more where it would be a multiple of eight lines.
  EXPECT_EQ(Rows(2, 63).stride(), 72);
  EXPECT_EQ(Rows(2, 64).stride(), 72);
  EXPECT_EQ(Rows(2, 65).stride(), 72);
  EXPECT_EQ(Rows(2, 128, 0, Element::float32).stride(), 144);
  EXPECT_EQ(Rows::padded(0), 0);
  EXPECT_EQ(Rows::padded(17), 24);
}

TEST(Rows, StartFilledWithZerosBehindEachRow) {
  const Rows sevens(2, 3, 7);
  const Rows nothing(2, 3);
  for (Index r = 0; r < 2; ++r) {
    for (Index c = 0; c < sevens.stride(); ++c) {
      EXPECT_EQ(sevens.data()[r * sevens.stride() + c], c < 3 ? 7 : 0) << r << ", " << c;
      EXPECT_EQ(nothing.data()[r * nothing.stride() + c], 0) << r << ", " << c;
    }
  }
}

TEST(Rows, ARowIsAViewOfItsColumns) {
  Rows rows = counted(3, 5);
  EXPECT_EQ(rows.row(1).size(), 5U);
  EXPECT_EQ(rows.row(2)[4], 204);
  rows.row(1)[0] = -1;
  EXPECT_EQ(rows(1, 0), -1);
  EXPECT_EQ(rows.row(1).data(), rows.data() + rows.stride());
}

TEST(Rows, ACopyIsEqualAndIndependent) {
  Rows first = counted(3, 10);
  Rows second = first;
  expect_counted(second, 3, 10);
  EXPECT_EQ(second.data()[second.stride() - 1], 0) << "zeros behind the row are copied too";
  second(0, 0) = -1;
  EXPECT_EQ(first(0, 0), 0);
  first(2, 9) = -2;
  EXPECT_EQ(second(2, 9), 209);
}

TEST(Rows, AMoveTakesTheMemoryAlong) {
  Rows first = counted(2, 3);
  const double* const memory = first.data();
  const Rows second = std::move(first);
  EXPECT_EQ(second.data(), memory);
  expect_counted(second, 2, 3);
}

TEST(Rows, AssignmentReplacesShapeAndContent) {
  Rows target = counted(5, 5);
  const Rows source = counted(2, 3);
  target = source;
  expect_counted(target, 2, 3);
  expect_counted(source, 2, 3);
  target = counted(4, 1);
  expect_counted(target, 4, 1);
}

TEST(Rows, AssignmentToItselfChangesNothing) {
  Rows rows = counted(2, 3);
  const Rows& same = rows;
  rows = same;
  expect_counted(rows, 2, 3);
}

TEST(Rows, SwapExchangesShapesAndContents) {
  Rows a = counted(2, 3);
  Rows b = counted(4, 1);
  swap(a, b);
  expect_counted(a, 4, 1);
  expect_counted(b, 2, 3);
}

TEST(Rows, MayBeEmpty) {
  const Rows nothing;
  EXPECT_EQ(nothing.rows(), 0);
  EXPECT_EQ(nothing.columns(), 0);
  const Rows copy = nothing;
  EXPECT_EQ(copy.rows(), 0);
  const Rows no_columns(3, 0);
  EXPECT_EQ(no_columns.rows(), 3);
  EXPECT_TRUE(no_columns.row(2).empty());
}

}  // namespace
}  // namespace polyhop::rows_test

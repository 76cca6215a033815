// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/csv_cell.hpp"

#include <gtest/gtest.h>

namespace polyhop::csv_cell_test {
namespace {

TEST(CsvCell, QuotesWhatWouldEndACellOrALine) {
  EXPECT_EQ(csv_cell("a b"), "a b");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_cell("a\rb"), "\"a\rb\"");
  EXPECT_EQ(csv_cell("a\"b"), "\"a\"\"b\"");
}

TEST(CsvCell, NumbersWithASignAreNoFormulas) {
  EXPECT_EQ(csv_cell("+5"), "+5");
  EXPECT_EQ(csv_cell("-2.5e3"), "-2.5e3");
  EXPECT_EQ(csv_cell("+5a"), "'+5a");
  EXPECT_EQ(csv_cell("=1"), "'=1");
  EXPECT_EQ(csv_cell("@x,y"), "\"'@x,y\"");
}

}  // namespace
}  // namespace polyhop::csv_cell_test

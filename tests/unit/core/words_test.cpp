// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/words.hpp"

#include <gtest/gtest.h>

namespace polyhop::words_test {
namespace {

TEST(CountOf, HasAPluralForAllButOne) {
  EXPECT_EQ(count_of(0, "run"), "0 runs");
  EXPECT_EQ(count_of(1, "run"), "1 run");
  EXPECT_EQ(count_of(2, "run"), "2 runs");
  EXPECT_EQ(count_of(1, "link carries", "links carry"), "1 link carries");
  EXPECT_EQ(count_of(3, "link carries", "links carry"), "3 links carry");
}

TEST(Series, HasCommasAndAWordBeforeTheLast) {
  EXPECT_EQ(series({}), "");
  EXPECT_EQ(series({"a"}), "a");
  EXPECT_EQ(series({"a", "b"}), "a and b");
  EXPECT_EQ(series({"a", "b", "c"}, "or"), "a, b or c");
}

TEST(DurationText, HasNoExponents) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(0.00013), "0.13 ms");
  EXPECT_EQ(duration_text(0.042), "42 ms");
  EXPECT_EQ(duration_text(0.42), "0.42 s");
  EXPECT_EQ(duration_text(4.24), "4.2 s");
  EXPECT_EQ(duration_text(9.97), "10 s");
  EXPECT_EQ(duration_text(99.4), "99 s");
  EXPECT_EQ(duration_text(220), "4 min");
  EXPECT_EQ(duration_text(5900), "98 min");
  EXPECT_EQ(duration_text(9000), "2.5 h");
  EXPECT_EQ(duration_text(1e6), "278 h");
}

}  // namespace
}  // namespace polyhop::words_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/loss_of_target.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace polyhop::loss_of_target_test {
namespace {

std::string of_words(const std::vector<std::string>& words) { return loss_of_target(words, {}, 100).loss.name; }
std::string of_numbers(const std::vector<double>& values, Index samples = 100) {
  return loss_of_target({}, values, samples).loss.name;
}

TEST(LossOfTarget, WordsAreClasses) {
  EXPECT_EQ(of_words({"no", "yes"}), "logistic");
  EXPECT_EQ(of_words({"a", "b", "c"}), "softmax");
  EXPECT_EQ(loss_of_target({"no", "yes"}, {}, 2).why, "the target has 2 values (no, yes)");
}

TEST(LossOfTarget, SomeNumbersStandForClasses) {
  for (const std::vector<double>& two : {std::vector<double>{-1, 1}, {0, 1}, {1, 2}})
    EXPECT_EQ(of_numbers(two), "logistic");
  for (const std::vector<double>& more : {std::vector<double>{0, 1, 2}, {1, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}) {
    EXPECT_EQ(of_numbers(more), "softmax");
  }
  EXPECT_EQ(loss_of_target({}, {0, 1, 2}, 6).why, "the target has 3 values (0, 1, 2)");
}

TEST(LossOfTarget, AllOtherNumbersAreNumbers) {
  for (const std::vector<double>& values : {std::vector<double>{1},
                                            {-1, 0, 1},
                                            {0, 2},
                                            {2, 3},
                                            {0, 0.5, 1},
                                            {1, 3, 5},
                                            {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}) {
    EXPECT_EQ(of_numbers(values), "least-squares") << values.size();
  }
  EXPECT_EQ(of_numbers({0, 1, 2}, 5), "least-squares");
  EXPECT_EQ(loss_of_target({}, {1, 3}, 9).why, "the target's values are numbers, not classes");
}

}  // namespace
}  // namespace polyhop::loss_of_target_test

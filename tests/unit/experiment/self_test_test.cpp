// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/self_test.hpp"

#include <gtest/gtest.h>

namespace polyhop::self_test_test {
namespace {

TEST(SelfTest, EveryPromiseIsKeptHere) {
  const auto tests = self_test();
  EXPECT_GE(tests.size(), 4U);
  for (const SelfTest& test : tests) {
    EXPECT_FALSE(test.promise.empty());
    EXPECT_TRUE(test.kept) << test.promise << ": " << test.found;
    EXPECT_TRUE(test.found.empty());
  }
}

}  // namespace
}  // namespace polyhop::self_test_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "polyhop/core/serial_collective.hpp"

namespace polyhop::problem_test {
namespace {

// A problem of which no more is known than every problem has to say.
class Silent final : public Problem {
 public:
  [[nodiscard]] Index agents() const override { return 2; }
  [[nodiscard]] Index dimension() const override { return 1; }
  [[nodiscard]] std::unique_ptr<Oracle> oracle(Block, std::uint64_t) const override { return nullptr; }
  void costs(Block, const Rows&, Rows&) const override {}
};

TEST(Problem, DoesNotKnowItsMinimumUnlessItSaysSo) {
  SerialCollective alone;
  const Reference reference = Silent().minimise(alone, {0, 2});
  EXPECT_FALSE(reference.known);
  EXPECT_FALSE(reference.minimiser.has_value());
  EXPECT_EQ(reference.value, 0);
  EXPECT_TRUE(std::isnan(reference.accuracy));
  EXPECT_EQ(reference.how, "unknown: this problem does not say where its minimum is; excess risk is the risk itself");
}

}  // namespace
}  // namespace polyhop::problem_test

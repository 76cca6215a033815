// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "polyhop/core/index.hpp"

namespace polyhop::real_test {
namespace {

TEST(BlockOf, CoversAllAgentsOnceInOrder) {
  for (Index agents = 0; agents <= 20; ++agents) {
    for (Index workers = 1; workers <= 25; ++workers) {
      Index next = 0;
      for (Index worker = 0; worker < workers; ++worker) {
        const Block block = block_of(agents, workers, worker);
        EXPECT_EQ(block.first, next) << agents << " agents, worker " << worker << " of " << workers;
        next = block.last;
      }
      EXPECT_EQ(next, agents) << workers << " workers";
    }
  }
}

TEST(BlockOf, DealsAsEvenlyAsPossible) {
  for (Index agents = 0; agents <= 20; ++agents) {
    for (Index workers = 1; workers <= 25; ++workers) {
      for (Index worker = 0; worker < workers; ++worker) {
        const Index size = block_of(agents, workers, worker).size();
        EXPECT_GE(size, agents / workers);
        EXPECT_LE(size, (agents + workers - 1) / workers);
      }
    }
  }
}

TEST(Block, HoldsItsFirstAgentAndNotItsLast) {
  const Block block = {2, 5};
  EXPECT_EQ(block.size(), 3);
  EXPECT_FALSE(block.holds(1));
  EXPECT_TRUE(block.holds(2));
  EXPECT_TRUE(block.holds(4));
  EXPECT_FALSE(block.holds(5));
}

}  // namespace
}  // namespace polyhop::real_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/thread_barrier.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "polyhop/core/machine.hpp"

namespace polyhop::thread_barrier_test {
namespace {

// More members than cores sleep at once, fewer look first: both ways are tried.
std::vector<Index> team_sizes() { return {1, 2, 3, usable_threads(0) + 3}; }

TEST(ThreadBarrier, NobodyPassesBeforeAllAreThere) {
  constexpr int rounds = 300;
  for (const Index members : team_sizes()) {
    ThreadBarrier barrier(members);
    std::atomic<Index> arrived = 0;
    std::atomic<Index> early = 0;
    {
      std::vector<std::jthread> threads;
      for (Index m = 0; m < members; ++m) {
        threads.emplace_back([&, m] {
          for (Index round = 1; round <= rounds; ++round) {
            if ((m + round) % 7 == 0) std::this_thread::yield();
            ++arrived;
            barrier.arrive_and_wait();
            if (arrived < members * round) ++early;
            barrier.arrive_and_wait();
          }
        });
      }
    }
    EXPECT_EQ(arrived, members * rounds);
    EXPECT_EQ(early, 0);
  }
}

TEST(ThreadBarrier, BetweenArrivingAndWaitingThereIsTimeForOtherThings) {
  ThreadBarrier barrier(2);
  const auto phase = barrier.arrive();
  std::atomic<bool> passed = false;
  std::jthread other([&] {
    barrier.arrive_and_wait();
    passed = true;
  });
  barrier.wait(phase);
  other.join();
  EXPECT_TRUE(passed);
}

TEST(ThreadBarrier, AMemberThatFailsFreesThoseThatWaitAndThoseThatCome) {
  for (const Index members : team_sizes()) {
    if (members < 2) continue;
    ThreadBarrier barrier(members);
    std::atomic<Index> freed = 0;
    {
      std::vector<std::jthread> threads;
      for (Index m = 1; m < members; ++m) {
        threads.emplace_back([&] {
          try {
            barrier.arrive_and_wait();
          } catch (const Abandoned&) {
            ++freed;
          }
        });
      }
      barrier.abandon();
    }
    EXPECT_EQ(freed, members - 1);
    EXPECT_THROW(barrier.arrive_and_wait(), Abandoned);
  }
}

TEST(ThreadBarrier, LooksOnlyWhereThereIsACoreForEachMember) {
  const Index cores = usable_threads(0);
  EXPECT_GT(ThreadBarrier(cores).spins(), 0);
  EXPECT_EQ(ThreadBarrier(cores + 1).spins(), 0);
  EXPECT_EQ(ThreadBarrier(cores, 2).spins(), 0);
}

}  // namespace
}  // namespace polyhop::thread_barrier_test

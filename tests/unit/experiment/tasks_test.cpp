// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/tasks.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <stdexcept>
#include <vector>

namespace polyhop::tasks_test {
namespace {

TEST(Tasks, EachIsDoneOnceByAnyNumberOfThreads) {
  for (const Index threads : {1, 3, 20}) {
    std::vector<int> done(10);
    std::mutex mutex;
    run_tasks(10, threads, [&](Index n) {
      const std::lock_guard lock(mutex);
      ++done[n];
    });
    EXPECT_EQ(done, std::vector<int>(10, 1)) << threads;
  }
}

TEST(Tasks, AfterAFailureNoneBegins) {
  std::vector<Index> begun;
  const auto task = [&](Index n) {
    begun.push_back(n);
    if (n == 1) throw std::runtime_error("no more");
  };
  EXPECT_THROW(run_tasks(5, 1, task), std::runtime_error);
  EXPECT_EQ(begun, (std::vector<Index>{0, 1}));
}

TEST(SideBySide, TakesWholeTurnsOfRunsThatAreNotLarge) {
  EXPECT_EQ(side_by_side(5, 1e5, 2), 4);
  EXPECT_EQ(side_by_side(1, 1e5, 2), 0);
  EXPECT_EQ(side_by_side(5, 1e5, 1), 5);
  EXPECT_EQ(side_by_side(7, 1e6, 4), 4);
  EXPECT_EQ(side_by_side(5, 1e8, 2), 0);  // each has all threads
  EXPECT_EQ(side_by_side(0, 0, 2), 0);
}

}  // namespace
}  // namespace polyhop::tasks_test

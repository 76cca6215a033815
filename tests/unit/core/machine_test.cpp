// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

namespace polyhop::machine_test {
namespace {

TEST(Machine, KnowsItself) {
  const Machine machine = this_machine();
  EXPECT_FALSE(machine.version.empty());
  EXPECT_FALSE(machine.compiler.empty());
  EXPECT_GE(machine.cores, 1);
  EXPECT_LE(machine.free_bytes, machine.memory_bytes);
  const std::set<std::string> known = {"default", "x86-64-v3", "x86-64-v4"};
  EXPECT_TRUE(known.contains(machine.instruction_set)) << machine.instruction_set;
}

TEST(FindProgram, LooksAlongThePath) {
  const auto shell = find_program("sh");
  ASSERT_TRUE(shell);
  EXPECT_TRUE(shell->ends_with("/sh"));
  EXPECT_FALSE(find_program("there is no such program"));
  EXPECT_FALSE(find_program(""));
}

TEST(Machine, GivesAllCoresUnlessSeveralProcessesShareThem) {
  EXPECT_EQ(usable_threads(3), 3);
  EXPECT_EQ(usable_threads(3, 4), 3);
  EXPECT_EQ(usable_threads(0, 4), 1);
  EXPECT_EQ(usable_threads(0), std::max<Index>(1, std::thread::hardware_concurrency()));
}

TEST(Machine, GivesThreadsWorkThatIsWorthTheirWhile) {
  EXPECT_EQ(paying_threads(0, 8), 1);
  EXPECT_EQ(paying_threads(35e3, 8), 1);  // breast-cancer's 569 samples of 31 numbers
  EXPECT_EQ(paying_threads(299e3, 8), 1);
  EXPECT_EQ(paying_threads(300e3, 8), 2);
  EXPECT_EQ(paying_threads(1e9, 8), 8);
  EXPECT_EQ(paying_threads(1e300, 3), 3);
  EXPECT_EQ(paying_threads(1e9, 1), 1);
}

TEST(Machine, ObeysWhoAsksForThreadsHoweverLittleThereIsToDo) {
  EXPECT_EQ(usable_threads(3, 1, 0.0), 3);
  EXPECT_EQ(usable_threads(3, 4, 1e9), 3);
  EXPECT_EQ(usable_threads(0, 1, 0.0), 1);
  EXPECT_EQ(usable_threads(0, 4, 1e9), 1);
  EXPECT_EQ(usable_threads(0, 1, 1e9), usable_threads(0));
}

}  // namespace
}  // namespace polyhop::machine_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/machine.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

namespace polyhop::machine_test {
namespace {

TEST(Machine, KnowsItself) {
  const Machine machine = this_machine();
  EXPECT_FALSE(machine.version.empty());
  EXPECT_FALSE(machine.compiler.empty());
  EXPECT_GE(machine.cores, 1);
  EXPECT_LE(machine.free_bytes, machine.memory_bytes);
  const std::set<std::string> known = {"plain", "x86-64-v3", "x86-64-v4"};
  EXPECT_TRUE(known.contains(machine.instruction_set)) << machine.instruction_set;
}

// A /proc and /sys of its own.
class OtherRoot : public testing::Test {
 protected:
  OtherRoot() { put("proc/meminfo", "MemTotal:       16000000 kB\nMemAvailable:    2000000 kB\n"); }
  ~OtherRoot() override { std::filesystem::remove_all(root_); }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  [[nodiscard]] double memory() const { return usable_memory(root_.string()); }

  static constexpr double machine = 16000000.0 * 1024;

 private:
  std::filesystem::path root_ = std::filesystem::path(testing::TempDir()) / ("machine_" + std::to_string(getpid()));
};

TEST_F(OtherRoot, WithoutContainersAllMemoryIsUsable) {
  EXPECT_EQ(memory(), machine);
  put("proc/self/cgroup", "0::/user.slice\n");
  put("sys/fs/cgroup/user.slice/memory.max", "max\n");
  EXPECT_EQ(memory(), machine);
}

TEST_F(OtherRoot, TheLeastThatAGroupOrOneAboveItAllowsIsUsable) {
  put("proc/self/cgroup", "0::/slurm/job/step\n");
  put("sys/fs/cgroup/slurm/memory.max", "8000000000\n");
  put("sys/fs/cgroup/slurm/job/memory.max", "2000000000\n");
  put("sys/fs/cgroup/slurm/job/step/memory.max", "max\n");
  EXPECT_EQ(memory(), 2e9);
}

TEST_F(OtherRoot, AContainerThatSeesItsGroupAtTheTopIsFound) {
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/memory.max", "1000000000\n");
  EXPECT_EQ(memory(), 1e9);
}

TEST_F(OtherRoot, GroupsOfTheFirstVersionAreFound) {
  put("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/x\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(memory(), machine);
  put("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "3000000000\n");
  EXPECT_EQ(memory(), 3e9);
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
  constexpr double near = 0.1e-6;
  constexpr double far = 0.5e-6;
  EXPECT_EQ(paying_threads(0, 8, near), 1);
  EXPECT_EQ(paying_threads(35e3, 8, near), 1);  // breast-cancer's 569 samples of 31 numbers
  EXPECT_EQ(paying_threads(299e3, 8, near), 1);
  EXPECT_EQ(paying_threads(300e3, 8, near), 2);
  EXPECT_EQ(paying_threads(300e3, 8, far), 1);
  EXPECT_EQ(paying_threads(6e6, 8, far), 2);
  for (const double distance : {near, far}) {
    EXPECT_EQ(paying_threads(1e9, 8, distance), 8);
    EXPECT_EQ(paying_threads(1e300, 3, distance), 3);
    EXPECT_EQ(paying_threads(1e9, 1, distance), 1);
  }
  EXPECT_EQ(paying_threads(1e9, 8), 8);
  EXPECT_EQ(paying_threads(299e3, 8), 1);
}

TEST(Machine, MeasuresHowFarItsCoresAreApart) {
  const double seconds = round_trip();
  EXPECT_GT(seconds, 1e-9);
  EXPECT_LE(seconds, 1);
}

TEST(Machine, AThreadThatLeavesACoreIsElsewhereAndStaysFree) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const int core = current_core();
  const int now = leave_core(core);
  EXPECT_EQ(now == core, CPU_COUNT(&before) == 1);
  EXPECT_TRUE(CPU_ISSET(now, &before));
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Machine, AThreadWithOneCoreStaysThere) {
  std::jthread([] {
    const int core = current_core();
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
    EXPECT_EQ(leave_core(core), core);
  });
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

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/tasks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace polyhop {
namespace {

TEST(Tasks, UseAllCoresUnlessSeveralProcessesShareThem) {
  EXPECT_EQ(usable_threads(3), 3);
  EXPECT_EQ(usable_threads(3, 4), 3);
  EXPECT_EQ(usable_threads(0, 4), 1);
  EXPECT_EQ(usable_threads(0), std::max<Index>(1, std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace polyhop

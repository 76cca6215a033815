// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/serial_collective.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace polyhop::serial_collective_test {
namespace {

TEST(SerialCollective, BringsRowsToTheirPlacesAndBack) {
  const std::vector<Index> rows = {2, 0};
  const std::vector<double> mine = {5, 6, 1, 2};
  std::vector<double> all(6, -1);
  SerialCollective collective;
  collective.gather(rows, mine, all);
  EXPECT_EQ(all, (std::vector<double>{1, 2, -1, -1, 5, 6}));
  std::vector<double> back(4);
  collective.scatter(rows, back, all);
  EXPECT_EQ(back, mine);
}

}  // namespace
}  // namespace polyhop::serial_collective_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/record.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <variant>

namespace polyhop::record_test {
namespace {

TEST(PointColumns, HaveEveryMemberOfAPointOnce) {
  Point point;
  std::set<const void*> members;
  std::set<std::string_view> names;
  for (const PointColumn& column : point_columns) {
    std::visit([&](const auto member) { members.insert(&(point.*member)); }, column.number);
    names.insert(column.name);
  }
  EXPECT_EQ(members.size(), point_columns.size());
  EXPECT_EQ(names.size(), point_columns.size());
  EXPECT_EQ(sizeof(Point), point_columns.size() * sizeof(double)) << "a member has no column";
}

TEST(PointColumns, ThoseOfAKindKeepTheirOrder) {
  EXPECT_EQ(columns_of<ColumnKind::progress>[0].name, "iteration");
  EXPECT_EQ(columns_of<ColumnKind::progress>[1].name, "seconds");
  EXPECT_EQ(columns_of<ColumnKind::measure>[0].name, "excess_risk");
  EXPECT_EQ(point_counts[0], &Point::rounds);
  EXPECT_EQ(point_counts[6], &Point::gradients);
  EXPECT_EQ(point_counts[7], &Point::crossed_vectors);
}

TEST(PointColumns, SayWhatTheyAre) {
  for (const PointColumn& column : point_columns) {
    EXPECT_FALSE(column.help.empty()) << column.name;
    EXPECT_FALSE(column.help.ends_with('.')) << column.name;
    EXPECT_FALSE(column.unit.empty()) << column.name;
  }
}

TEST(PointColumns, GiveTheirNumberWhateverItsType) {
  Point point;
  point.vectors = 3;
  point.distance = 0.5;
  EXPECT_EQ(number_in(column_of(&Point::vectors), point), 3);
  EXPECT_EQ(number_in(column_of(&Point::distance), point), 0.5);
}

}  // namespace
}  // namespace polyhop::record_test

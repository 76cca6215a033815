// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/network_svg.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "polyhop/core/error.hpp"

namespace polyhop::network_svg_test {
namespace {

NetworkPicture path(std::int32_t agents) {
  NetworkPicture picture{0, agents, {}};
  for (std::int32_t k = 0; k + 1 < agents; ++k) picture.edges.emplace_back(k, k + 1);
  return picture;
}

NetworkPicture ring(std::int32_t agents) {
  NetworkPicture picture = path(agents);
  picture.edges.emplace_back(0, agents - 1);
  return picture;
}

NetworkPicture grid(std::int32_t side) {
  NetworkPicture picture{0, side * side, {}};
  for (std::int32_t r = 0; r < side; ++r) {
    for (std::int32_t c = 0; c < side; ++c) {
      const std::int32_t k = r * side + c;
      if (c + 1 < side) picture.edges.emplace_back(k, k + 1);
      if (r + 1 < side) picture.edges.emplace_back(k, k + side);
    }
  }
  return picture;
}

double apart(const Place& p, const Place& q) { return std::hypot(p.x - q.x, p.y - q.y); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(NetworkLayout, PutsARingOnACircleWithNeighboursOneApart) {
  const auto places = network_layout(ring(12));
  const double radius = apart(places[0], {0, 0});
  for (std::size_t k = 0; k < 12; ++k) {
    EXPECT_NEAR(apart(places[k], {0, 0}), radius, 1e-12);
    EXPECT_NEAR(apart(places[k], places[(k + 1) % 12]), 1, 1e-12);
  }
}

TEST(NetworkLayout, UnrollsAPathIntoALevelLine) {
  const auto places = network_layout(path(8));
  EXPECT_NEAR(apart(places[0], places[7]), 7, 0.2);
  for (const Place& p : places) EXPECT_NEAR(p.y, 0, 0.5);
}

TEST(NetworkLayout, UnfoldsAGrid) {
  const auto places = network_layout(grid(5));
  // Opposite corners: the diagonal lies between the straight line and the way along links.
  EXPECT_GT(apart(places[0], places[24]), 4 * std::sqrt(2.0));
  EXPECT_GT(apart(places[4], places[20]), 4 * std::sqrt(2.0));
  for (const auto& [k, l] : grid(5).edges) {
    const double length = apart(places[k], places[l]);
    EXPECT_GT(length, 0.6) << k << " " << l;
    EXPECT_LT(length, 1.6) << k << " " << l;
  }
}

TEST(NetworkLayout, IsTheSameEveryTime) {
  const auto first = network_layout(grid(4));
  const auto second = network_layout(grid(4));
  for (std::size_t k = 0; k < first.size(); ++k) {
    EXPECT_EQ(first[k].x, second[k].x);
    EXPECT_EQ(first[k].y, second[k].y);
  }
}

TEST(NetworkLayout, RefusesWhatIsTooLargeToDraw) {
  EXPECT_NO_THROW((void)network_layout(path(20)));
  EXPECT_THROW((void)network_layout(path(max_agents_drawn + 1)), Error);
}

TEST(NetworkSvg, DrawsEveryAgentAndEveryLink) {
  const std::string svg = network_svg(grid(3), "grid");
  EXPECT_EQ(count(svg, "<title>agent "), 9U);
  EXPECT_EQ(count(svg, "M"), 12U);
  EXPECT_NE(svg.find("<title>agent 4, 4 neighbours</title>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(NetworkSvg, DrawsOneAgentAndTwo) {
  EXPECT_EQ(count(network_svg({0, 1, {}}, "one"), "<title>agent "), 1U);
  const std::string two = network_svg(path(2), "two");
  EXPECT_EQ(count(two, "<title>agent "), 2U);
  EXPECT_NE(two.find("1 neighbour each"), std::string::npos);
  EXPECT_EQ(two.find("nan"), std::string::npos);
}

TEST(NetworkSvg, EscapesItsTitle) {
  const std::string svg = network_svg(path(3), "a < b & \x1b c");
  EXPECT_NE(svg.find("<title>a &lt; b &amp;  c</title>"), std::string::npos);
}

}  // namespace
}  // namespace polyhop::network_svg_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/gradients.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "polyhop/core/rows.hpp"

namespace polyhop::gradients_test {
namespace {

// Two agents: -2 (3, 4) and 1 (1, 2).
class GradientsTest : public testing::Test {
 protected:
  GradientsTest() : h_(2, 2), x_(1, 2), out_(1, 2) {
    h_(0, 0) = 3;
    h_(0, 1) = 4;
    h_(1, 0) = 1;
    h_(1, 1) = 2;
    x_(0, 0) = 5;
    x_(0, 1) = 7;
    g_ = {{h_.row(0).data(), h_.row(1).data()}, {-2, 1}, 2};
  }
  [[nodiscard]] std::vector<double> out() const { return {out_.row(0).begin(), out_.row(0).end()}; }

  Rows h_, x_, out_;
  Gradients g_;
};

TEST_F(GradientsTest, HaveTheNormOfScaleTimesRow) {
  EXPECT_EQ(g_.squared_norm(0), 100);
  EXPECT_EQ(g_.squared_norm(1), 5);
}

TEST_F(GradientsTest, AreMultipliedWithARow) {
  EXPECT_EQ(g_.dot(0, x_, 0), -86);
  EXPECT_EQ(g_.dot(1, x_, 0), 19);
}

TEST_F(GradientsTest, AreWrittenOut) {
  g_.write(0, out_, 0);
  EXPECT_EQ(out(), (std::vector<double>{-6, -8}));
  g_.write(1, out_, 0);
  EXPECT_EQ(out(), (std::vector<double>{1, 2}));
  g_.write(1, out_, 0, -3);
  EXPECT_EQ(out(), (std::vector<double>{-3, -6}));
}

TEST_F(GradientsTest, AreAddedToARow) {
  g_.add_to(0, 0.5, x_, 0, out_, 0);
  EXPECT_EQ(out(), (std::vector<double>{2, 3}));
  g_.add_to(1, -1, out_, 0, out_, 0);
  EXPECT_EQ(out(), (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace polyhop::gradients_test

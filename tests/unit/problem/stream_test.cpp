// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "support/losses.hpp"
#include "unit/problem/naive.hpp"

namespace polyhop::stream_test {
namespace {

using Samples = std::vector<Index>;

constexpr Index dimension = 3;

// Sample n: features (1, n, -n/2), target (-1)^n.
Real write_sample(Index n, std::span<Real> features) {
  const auto x = static_cast<Real>(n);
  features[0] = 1;
  features[1] = x;
  features[2] = -x / 2;
  return n % 2 == 0 ? 1 : -1;
}

// A stream that notes what it was asked for.
std::shared_ptr<const StreamObjective> noting(Samples& asked, const std::string& loss = "logistic") {
  return std::make_shared<StreamObjective>(dimension, make_loss(loss), [&asked](Index n, std::span<Real> features) {
    asked.push_back(n);
    return write_sample(n, features);
  });
}

// The mean loss of some samples, from the formula.
double expected_value(const Samples& batch, std::span<const Real> w, const std::string& loss) {
  double sum = 0;
  for (const Index n : batch) {
    std::array<Real, dimension> h{};
    const Real y = write_sample(n, h);
    sum += naive::loss({{}, loss}, naive::product(h, w), y);
  }
  return sum / static_cast<double>(batch.size());
}

TEST(StreamObjective, GivesTheMeanLossOfTheBatch) {
  Samples asked;
  const std::vector<Real> w = {0.3, -0.2, 0.7};
  for (const std::string loss : {"least-squares", "logistic"}) {
    const auto stream = noting(asked, loss);
    EXPECT_EQ(stream->dimension(), dimension);
    for (const Samples& batch : {Samples{0}, Samples{1}, Samples{2, 3}, Samples{4, 5}, Samples{6}}) {
      EXPECT_NEAR(stream->value(w, batch), expected_value(batch, w, loss), 1e-14);
    }
  }
}

TEST(StreamObjective, GradientsAreThoseOfFiniteDifferences) {
  Samples asked;
  const auto stream = noting(asked);
  const std::vector<Real> w = {0.3, -0.2, 0.7};
  for (const Samples& batch : {Samples{3}, Samples{2, 3}}) {
    std::vector<Real> gradient(dimension, 99);
    EXPECT_EQ(stream->value_and_gradient(w, batch, gradient), stream->value(w, batch));
    for (std::size_t j = 0; j < w.size(); ++j) {
      constexpr Real h = 1e-5;
      std::vector<Real> up = w;
      std::vector<Real> down = w;
      up[j] += h;
      down[j] -= h;
      EXPECT_NEAR(gradient[j], (stream->value(up, batch) - stream->value(down, batch)) / (2 * h), 1e-8);
    }
  }
  EXPECT_EQ(asked, (Samples{3, 2, 3}));
}

TEST(StreamObjective, ASampleThatIsEvaluatedAgainIsNotAskedForAgain) {
  Samples asked;
  const auto stream = noting(asked);
  const std::vector<Real> w(dimension);
  std::vector<Real> gradient(dimension);
  const Samples batch = {0, 1};
  const Real once = stream->value(w, batch);
  EXPECT_EQ(stream->value_and_gradient(w, batch, gradient), once);
  EXPECT_NE(stream->value(gradient, batch), once);
  EXPECT_EQ(asked, batch);
}

TEST(StreamObjective, CyclicSamplingTakesTheSamplesAsTheyCome) {
  for (const Index size : {1, 2}) {
    Samples asked;
    const ObjectiveProblem problem({noting(asked)}, {size, false}, Sampling::cyclic);
    const auto oracle = problem.oracle({0, 1}, 0);
    const Rows w(1, dimension, 0.1);
    Samples all;
    for (Index i = 0; i < 4; ++i) {
      oracle->draw(i);
      const Evaluation& at_w = oracle->evaluate(w, true);
      Samples batch;
      for (Index n = i * size; n < (i + 1) * size; ++n) batch.push_back(n);
      EXPECT_NEAR(at_w.values[0], expected_value(batch, w.row(0), "logistic"), 1e-14);
      all.insert(all.end(), batch.begin(), batch.end());
    }
    EXPECT_EQ(asked, all);
  }
}

}  // namespace
}  // namespace polyhop::stream_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/softmax_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/reach.hpp"
#include "support/losses.hpp"
#include "unit/core/refusal.hpp"
#include "unit/problem/naive.hpp"

namespace polyhop::softmax_problem_test {
namespace {

constexpr Index classes = 4;
constexpr Index features = 5;  // blocks of 5 numbers: inside a row, with the next class behind them
constexpr Index dimension = classes * features;
constexpr std::uint64_t seed = 11;

struct Model {
  naive::Model linear;  // data, l2, intercept and weights
  [[nodiscard]] SoftmaxProblem problem(Batch batch, bool sparse = false) const {
    const naive::Model own = sparse ? naive::sparse(linear) : linear;
    return {own.data, classes, own.options(batch, Sampling::cyclic)};
  }
};

Model random_model(double l2, bool intercept) {
  Model model = {naive::holey_model("least-squares", l2, features, intercept)};
  Stream stream(3, Purpose::noise);
  for (double& y : model.linear.data.targets) y = static_cast<double>(stream.below(classes));
  return model;
}

// Straight from the formula.
double value(const Model& model, Index k, std::span<const Index> samples, std::span<const double> w) {
  const Dataset& data = model.linear.data;
  double sum = 0;
  for (const Index n : samples) {
    const Index row = data.first(k) + n;
    double of_all = 0;
    double of_target = 0;
    for (Index c = 0; c < classes; ++c) {
      const double z = naive::product(data.features.dense().row(row), w.subspan(c * features));
      of_all += std::exp(z);
      if (c == static_cast<Index>(data.targets[row])) of_target = z;
    }
    sum += std::log(of_all) - of_target;
  }
  double squares = 0;
  for (Index j = 0; j < dimension; ++j) {
    const double x = w[j];
    if (!model.linear.intercept || j % features != features - 1) squares += x * x;
  }
  return model.linear.weight(k) * sum / static_cast<double>(samples.size()) + model.linear.l2 / 2 * squares;
}

void for_each_case(const std::function<void(const Model&, const SoftmaxProblem&, Oracle&, Sampler&)>& check) {
  for (const double l2 : {0.0, 0.3}) {
    for (const bool intercept : {false, true}) {
      for (const Batch batch : {Batch{1, false}, Batch{3, false}, Batch{0, true}}) {
        for (const bool sparse : {false, true}) {
          SCOPED_TRACE("l2 " + std::to_string(l2) + (intercept ? ", intercept" : "") + ", batch " +
                       (batch.all ? "all" : std::to_string(batch.size)) + (sparse ? ", sparse" : ", dense"));
          const Model model = random_model(l2, intercept);
          const SoftmaxProblem problem = model.problem(batch, sparse);
          const auto oracle = problem.oracle({0, 3}, seed);
          Sampler sampler({0, 3}, {5, 3, 4}, batch, Sampling::cyclic, seed);
          oracle->draw(2);
          sampler.draw(2);
          check(model, problem, *oracle, sampler);
        }
      }
    }
  }
}

TEST(SoftmaxProblem, KnowsItsSize) {
  const SoftmaxProblem problem = random_model(0.3, true).problem({1, false});
  EXPECT_EQ(problem.agents(), 3);
  EXPECT_EQ(problem.classes(), classes);
  EXPECT_EQ(problem.features(), features);
  EXPECT_EQ(problem.dimension(), dimension);
  EXPECT_EQ(problem.l2(), 0.3);
  EXPECT_TRUE(problem.intercept());
}

TEST(SoftmaxProblem, EvaluatesTheBatch) {
  const Rows w = naive::random_points(3, dimension);
  for_each_case([&](const Model& model, const SoftmaxProblem&, Oracle& oracle, Sampler& sampler) {
    const Evaluation& at_w = oracle.evaluate(w, true);
    for (Index k = 0; k < 3; ++k) {
      EXPECT_NEAR(at_w.values[k], value(model, k, sampler.indices(k), w.row(k)), 1e-13);
    }
    EXPECT_FALSE(oracle.is_quadratic());
  });
}

TEST(SoftmaxProblem, GradientsAreThoseOfTheFormula) {
  const Rows w = naive::random_points(3, dimension);
  const double h = 1e-5;
  for_each_case([&](const Model& model, const SoftmaxProblem&, Oracle& oracle, Sampler& sampler) {
    const Evaluation& at_w = oracle.evaluate(w, false);
    ASSERT_EQ(at_w.gradients.columns, dimension);
    for (Index k = 0; k < 3; ++k) {
      for (Index j = 0; j < dimension; ++j) {
        Rows moved = w;
        moved(k, j) += h;
        const double up = value(model, k, sampler.indices(k), moved.row(k));
        moved(k, j) -= 2 * h;
        const double down = value(model, k, sampler.indices(k), moved.row(k));
        EXPECT_NEAR(at_w.gradients.scale[k] * at_w.gradients.at(k)[j], (up - down) / (2 * h), 1e-8) << k << ", " << j;
      }
    }
  });
}

// The gradient of the mean loss of some of agent 0's samples: (p_c - [y = c]) h.
std::vector<double> mean_gradient(const Model& model, std::span<const Index> samples, std::span<const double> w) {
  const Dataset& data = model.linear.data;
  std::vector<double> out(dimension);
  for (const Index n : samples) {
    const auto h = data.features.dense().row(n);
    std::vector<double> p(classes);
    double sum = 0;
    for (Index c = 0; c < classes; ++c) sum += p[c] = std::exp(naive::product(h, w.subspan(c * features)));
    for (Index c = 0; c < classes; ++c) {
      const double slope = p[c] / sum - (c == static_cast<Index>(data.targets[n]) ? 1 : 0);
      for (Index j = 0; j < features; ++j) out[c * features + j] += slope * h[j] / static_cast<double>(samples.size());
    }
  }
  return out;
}

TEST(SoftmaxProblem, SecondDerivativesAreThoseOfTheGradients) {
  const Model model = random_model(0, false);
  const std::vector<Index> samples = {4, 0, 2};
  const auto w = naive::random_point(dimension, 1);
  const auto gradient = [&](const std::vector<double>& at) { return mean_gradient(model, samples, at); };
  for (const bool sparse : {false, true}) {
    const auto found = naive::second_derivatives(model.problem({1, false}, sparse), samples, w);
    EXPECT_LT(naive::farthest_from_differences(found, w, gradient), 1e-8);
  }
}

TEST(SoftmaxProblem, ValuesElsewhereAreThoseOfTheAgentsOwnSample) {
  const Rows w = naive::random_points(3, dimension);
  const std::vector<Index> offset = {0, 2, 5, 6};
  const std::vector<std::int32_t> slot = {0, 2, 0, 1, 2, 1};
  const Reach reach = {{offset.data(), slot.data(), nullptr}, 3, 6, w.data(), w.stride(), dimension};
  const std::vector<double> steps = {0.1, 0.2, 0.3};
  for_each_case([&](const Model& model, const SoftmaxProblem&, Oracle& oracle, Sampler& sampler) {
    std::vector<double> at(6);
    std::vector<double> at_point(3);
    std::vector<double> along = {0, 7, 0};
    oracle.values_at(reach, at);
    Rows point(1, dimension);
    std::ranges::copy(w.row(1), point.row(0).begin());
    oracle.values_at_point(point, at_point);
    const Evaluation& at_w = oracle.evaluate(w, false);
    oracle.values_along(w, at_w.gradients, std::vector<Index>{0, 2}, steps, along);
    EXPECT_EQ(along[1], 7) << "nobody asked for it";
    for (Index k = 0; k < 3; ++k) {
      for (auto e = static_cast<std::size_t>(offset[k]); e < static_cast<std::size_t>(offset[k + 1]); ++e) {
        EXPECT_NEAR(at[e], value(model, k, sampler.indices(k), w.row(slot[e])), 1e-13) << "entry " << e;
      }
      EXPECT_NEAR(at_point[k], value(model, k, sampler.indices(k), w.row(1)), 1e-13);
      if (k == 1) continue;
      std::vector<double> moved(w.row(k).begin(), w.row(k).end());
      for (std::size_t j = 0; j < moved.size(); ++j) moved[j] -= steps[k] * at_w.gradients.at(k)[j];
      EXPECT_NEAR(along[k], value(model, k, sampler.indices(k), moved), 1e-13);
    }
  });
}

TEST(SoftmaxProblem, CostsAreThoseOfAllSamplesAndDependOnNoOtherPoint) {
  for_each_case([&](const Model& model, const SoftmaxProblem& problem, Oracle&, Sampler&) {
    const Rows points = naive::random_points(17, dimension);
    Rows costs(3, 17);
    problem.costs({0, 3}, points, costs);
    for (Index k = 0; k < 3; ++k) {
      for (Index p = 0; p < 17; ++p) {
        EXPECT_NEAR(costs(k, p), value(model, k, naive::all_samples(model.linear, k), points.row(p)), 1e-13);
      }
      Rows point(1, dimension);
      std::ranges::copy(points.row(16), point.row(0).begin());
      Rows one(1, 1);
      problem.costs({k, k + 1}, point, one);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(one(0, 0)), std::bit_cast<std::uint64_t>(costs(k, 16)));
    }
  });
}

TEST(SoftmaxProblem, ABlockAnswersToTheBitWhatTheWholeAnswers) {
  const SoftmaxProblem problem = random_model(0.1, true).problem({0, true});
  const auto whole = problem.oracle({0, 3}, seed);
  const auto block = problem.oracle({2, 3}, seed);
  const Rows w = naive::random_points(3, dimension);
  Rows part(1, dimension);
  std::ranges::copy(w.row(2), part.row(0).begin());
  whole->draw(0);
  block->draw(0);
  const Evaluation& all = whole->evaluate(w, true);
  const Evaluation& some = block->evaluate(part, true);
  EXPECT_EQ(some.values[0], all.values[2]);
  for (Index j = 0; j < dimension; ++j) EXPECT_EQ(some.gradients.at(0)[j], all.gradients.at(2)[j]);
}

TEST(SoftmaxProblem, SmoothnessBoundsHowFarTheCostLeavesItsTangent) {
  const Rows w = naive::random_points(3, dimension);
  for_each_case([&](const Model&, const SoftmaxProblem&, Oracle& oracle, Sampler&) {
    std::vector<double> smoothness(3);
    ASSERT_TRUE(oracle.smoothness(smoothness));
    const Evaluation at_w = oracle.evaluate(w, true);
    std::vector<std::vector<double>> gradients;
    for (Index k = 0; k < 3; ++k) gradients.emplace_back(at_w.written.row(k).begin(), at_w.written.row(k).end());
    for (Index trial = 0; trial < 20; ++trial) {
      const std::vector<double> d = naive::random_point(dimension, 100 + trial);
      Rows moved = w;
      for (Index k = 0; k < 3; ++k) {
        for (Index j = 0; j < dimension; ++j) moved(k, j) += d[j];
      }
      const Evaluation& there = oracle.evaluate(moved, true);
      for (std::size_t k = 0; k < 3; ++k) {
        const double tangent = at_w.values[k] + naive::product(gradients[k], d);
        EXPECT_LE(there.values[k], tangent + smoothness[k] / 2 * naive::product(d, d) + 1e-12);
      }
    }
  });
}

TEST(SoftmaxProblem, OfTwoClassesIsTheLogisticLossOfTheirDifference) {
  Dataset data = naive::random_data({5, 3, 4}, 7, true);
  const LinearProblem logistic(data, make_loss("logistic"));
  for (double& y : data.targets) y = y > 0 ? 1 : 0;
  const SoftmaxProblem softmax(data, 2);
  const Rows w = naive::random_points(4, 14);
  Rows difference(4, 7);
  for (Index p = 0; p < 4; ++p) {
    for (Index j = 0; j < 7; ++j) difference(p, j) = w(p, 7 + j) - w(p, j);
  }
  Rows of_two(3, 4);
  Rows of_one(3, 4);
  softmax.costs({0, 3}, w, of_two);
  logistic.costs({0, 3}, difference, of_one);
  for (Index k = 0; k < 3; ++k) {
    for (Index p = 0; p < 4; ++p) EXPECT_NEAR(of_two(k, p), of_one(k, p), 1e-13) << k << ", " << p;
  }
}

TEST(SoftmaxLoss, SurvivesHugePredictions) {
  const std::vector<double> z = {1e4, -1e4, 0};
  std::vector<double> p(3);
  EXPECT_EQ(softmax_loss(z, 0, p.data()), 0);
  EXPECT_EQ(p, (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(softmax_loss(z, 1), 2e4);
  EXPECT_EQ(softmax_loss(z, 2), 1e4);
  EXPECT_TRUE(std::isnan(softmax_loss(std::vector<double>{0, std::nan(""), 1}, 0)));
}

TEST(SoftmaxProblem, RefusesWhatIsNoClass) {
  const auto with = [](double target, Index count) {
    return [=] {
      Dataset data = random_model(0, false).linear.data;
      data.targets[2] = target;
      return SoftmaxProblem(data, count);
    };
  };
  for (const double bad : {-1.0, 0.5, 4.0, std::nan("")}) EXPECT_EQ(refusal(with(bad, 4)).path(), "data") << bad;
  EXPECT_NE(refusal(with(4, 4)).message().find("found target 4"), std::string::npos);
  EXPECT_EQ(refusal(with(0, 1)).path(), "classes");
}

TEST(SoftmaxProblem, TakesTheFirstOfClassesThatAreEquallyLikely) {
  Dataset data;
  data.features = Rows(3, 2, 1.0);
  data.targets = {0, 0, 2};
  data.offset = {0, 3};
  const SoftmaxProblem problem(std::move(data), 3, {});
  const Rows w(1, 6);
  EXPECT_EQ(problem.misclassified({0, 1}, w.data()), 1);
}

TEST(SoftmaxProblem, CountsTheSamplesThatAModelTakesForAnotherClass) {
  const Model model = random_model(0, false);
  const Dataset& data = model.linear.data;
  const Rows w = naive::random_points(1, dimension);
  for (const bool sparse : {false, true}) {
    const SoftmaxProblem problem = model.problem({0, true}, sparse);
    Index total = 0;
    for (Index k = 0; k < 3; ++k) {
      Index wrong = 0;
      for (Index n = data.first(k); n < data.first(k + 1); ++n) {
        std::vector<double> z;
        for (Index c = 0; c < classes; ++c) {
          const auto own = w.row(0).subspan(c * features, features);
          z.push_back(naive::product(data.features.dense().row(n), own));
        }
        const auto best = std::ranges::max_element(z) - z.begin();
        if (static_cast<double>(best) != data.targets[n]) ++wrong;
      }
      EXPECT_EQ(problem.misclassified({k, k + 1}, w.data()), wrong);
      total += wrong;
    }
    EXPECT_GT(total, 0);
    EXPECT_LT(total, 12);
    EXPECT_EQ(problem.misclassified({0, 3}, w.data()), total);
  }
}

}  // namespace
}  // namespace polyhop::softmax_problem_test

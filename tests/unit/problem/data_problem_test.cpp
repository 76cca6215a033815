// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// What linear models on data can have beside a loss: sparse features, weights, an intercept.
#include "polyhop/problem/data_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "polyhop/core/reach.hpp"
#include "polyhop/problem/softmax_problem.hpp"
#include "unit/core/refusal.hpp"
#include "unit/problem/naive.hpp"

namespace polyhop::data_problem_test {
namespace {

using naive::Model;

constexpr std::uint64_t seed = 11;
constexpr Index dimension = 11;

struct Case {
  Model model;  // dense, for the formulas
  Batch batch;
};

// Every loss on holey data with weights, with and without penalty and intercept, dense and sparse.
void for_each_case(const std::function<void(const Case&, const LinearProblem&)>& check) {
  for (const std::string& loss : naive::all_losses) {
    for (const double l2 : {0.0, 0.3}) {
      for (const bool intercept : {false, true}) {
        for (const Batch batch : {Batch{1, false}, Batch{3, false}, Batch{0, true}}) {
          const Case example = {naive::holey_model(loss, l2, dimension, intercept), batch};
          for (const bool sparse : {false, true}) {
            SCOPED_TRACE(loss + ", l2 " + std::to_string(l2) + (intercept ? ", intercept" : "") + ", batch " +
                         (batch.all ? "all" : std::to_string(batch.size)) + (sparse ? ", sparse" : ", dense"));
            check(example, (sparse ? naive::sparse(example.model) : example.model).problem(batch));
          }
        }
      }
    }
  }
}

// The oracle of all agents at iteration 2, and who was drawn.
struct Drawn {
  Drawn(const Case& c, const LinearProblem& problem)
      : oracle(problem.oracle({0, 3}, seed)), sampler({0, 3}, {5, 3, 4}, c.batch, Sampling::cyclic, seed) {
    oracle->draw(2);
    sampler.draw(2);
  }
  std::unique_ptr<Oracle> oracle;
  Sampler sampler;
};

std::vector<double> gradient_of(const Evaluation& evaluation, Index k) {
  std::vector<double> out;
  for (Index j = 0; j < evaluation.gradients.columns; ++j) {
    out.push_back(evaluation.gradients.scale[k] * evaluation.gradients.at(k)[j]);
  }
  return out;
}

double tolerance(double expected) { return 1e-13 * std::max(1.0, std::abs(expected)); }

TEST(DataProblem, EvaluatesValuesAndGradientsOfTheBatch) {
  const Rows w = naive::random_points(3, dimension);
  for_each_case([&](const Case& c, const LinearProblem& problem) {
    const Drawn drawn(c, problem);
    const Evaluation& at_w = drawn.oracle->evaluate(w, true);
    for (Index k = 0; k < 3; ++k) {
      const double value = naive::value(c.model, k, drawn.sampler.indices(k), w.row(k));
      EXPECT_NEAR(at_w.values[k], value, tolerance(value));
      const auto expected = naive::gradient(c.model, k, drawn.sampler.indices(k), w.row(k));
      const auto got = gradient_of(at_w, k);
      for (std::size_t j = 0; j < got.size(); ++j) EXPECT_NEAR(got[j], expected[j], tolerance(expected[j])) << j;
    }
  });
}

TEST(DataProblem, GradientsAreThoseOfTheValues) {
  Rows w = naive::random_points(3, dimension);
  for (Index k = 0; k < 3; ++k) {
    for (double& x : w.row(k)) x *= 0.3;
  }
  for_each_case([&](const Case& c, const LinearProblem& problem) {
    const Drawn drawn(c, problem);
    std::vector<std::vector<double>> gradients;
    for (Index k = 0; k < 3; ++k) gradients.push_back(gradient_of(drawn.oracle->evaluate(w, false), k));
    const double h = 1e-6;
    for (Index j = 0; j < dimension; ++j) {
      Rows moved = w;
      for (Index k = 0; k < 3; ++k) moved(k, j) += h;
      const std::vector<double> up = drawn.oracle->evaluate(moved, true).values;
      for (Index k = 0; k < 3; ++k) moved(k, j) -= 2 * h;
      const std::vector<double> down = drawn.oracle->evaluate(moved, true).values;
      for (std::size_t k = 0; k < 3; ++k) {
        const double given = gradients[k][j];
        EXPECT_NEAR(given, (up[k] - down[k]) / (2 * h), 1e-6 * std::max(1.0, std::abs(given))) << k << ", " << j;
      }
    }
  });
}

TEST(DataProblem, ValuesElsewhereAreThoseOfTheAgentsOwnSample) {
  const Rows w = naive::random_points(3, dimension);
  const std::vector<Index> offset = {0, 2, 5, 6};
  const std::vector<std::int32_t> slot = {0, 2, 0, 1, 2, 1};
  const Reach reach = {{offset.data(), slot.data(), nullptr}, 3, 6, w.data(), w.stride(), dimension};
  const std::vector<double> steps = {0.01, 0.02, 0.03};
  for_each_case([&](const Case& c, const LinearProblem& problem) {
    const Drawn drawn(c, problem);
    std::vector<double> at(6);
    std::vector<double> along(3);
    std::vector<double> at_point(3);
    drawn.oracle->values_at(reach, at);
    Rows point(1, dimension);
    std::ranges::copy(w.row(1), point.row(0).begin());
    drawn.oracle->values_at_point(point, at_point);
    drawn.oracle->values_along(w, drawn.oracle->evaluate(w, false).gradients, std::vector<Index>{0, 1, 2}, steps,
                               along);
    for (Index k = 0; k < 3; ++k) {
      const auto samples = drawn.sampler.indices(k);
      for (auto e = static_cast<std::size_t>(offset[k]); e < static_cast<std::size_t>(offset[k + 1]); ++e) {
        const double expected = naive::value(c.model, k, samples, w.row(slot[e]));
        EXPECT_NEAR(at[e], expected, tolerance(expected)) << "entry " << e;
      }
      const double there = naive::value(c.model, k, samples, w.row(1));
      EXPECT_NEAR(at_point[k], there, tolerance(there));
      std::vector<double> moved = naive::gradient(c.model, k, samples, w.row(k));
      for (std::size_t j = 0; j < moved.size(); ++j) moved[j] = w.row(k)[j] - steps[k] * moved[j];
      const double expected = naive::value(c.model, k, samples, moved);
      EXPECT_NEAR(along[k], expected, 10 * tolerance(expected));
    }
  });
}

TEST(DataProblem, CostsAreThoseOfAllSamples) {
  for_each_case([&](const Case& c, const LinearProblem& problem) {
    for (const Index count : {1, 17}) {
      const Rows points = naive::random_points(count, dimension);
      Rows costs(3, count);
      problem.costs({0, 3}, points, costs);
      for (Index k = 0; k < 3; ++k) {
        for (Index p = 0; p < count; ++p) {
          const double expected = naive::value(c.model, k, naive::all_samples(c.model, k), points.row(p));
          EXPECT_NEAR(costs(k, p), expected, tolerance(expected)) << "agent " << k << ", point " << p;
        }
      }
    }
  });
}

TEST(DataProblem, SmoothnessIsWeighted) {
  for_each_case([&](const Case& c, const LinearProblem& problem) {
    const Drawn drawn(c, problem);
    std::vector<double> smoothness(3);
    if (!drawn.oracle->smoothness(smoothness)) return;
    for (Index k = 0; k < 3; ++k) {
      double sum = 0;
      for (const Index n : drawn.sampler.indices(k)) {
        const auto h = c.model.data.features.dense().row(c.model.data.first(k) + n);
        sum += naive::product(h, h);
      }
      const double mean = problem.max_curvature() * sum / static_cast<double>(drawn.sampler.indices(k).size());
      EXPECT_NEAR(smoothness[k], c.model.weight(k) * mean + c.model.l2, 1e-12);
    }
  });
}

TEST(DataProblem, WeightsByTheNumberOfSamplesMakeTheMeanOfAllSamples) {
  // 12 samples in three agents of 5, 3, 4: K n_k / n.
  Model model = naive::random_model("logistic", 0.1);
  model.weights = {15.0 / 12, 9.0 / 12, 1};
  Model pooled = naive::random_model("logistic", 0.1);
  pooled.data.offset = {0, 12};
  const Rows point = naive::random_points(1, 3);
  Rows costs(3, 1);
  Rows cost(1, 1);
  model.problem().costs({0, 3}, point, costs);
  pooled.problem().costs({0, 1}, point, cost);
  EXPECT_NEAR((costs(0, 0) + costs(1, 0) + costs(2, 0)) / 3, cost(0, 0), 1e-14);
}

// The second of three agents has no samples: its cost is the penalty, whoever asks.
void expect_penalty_of_empty_agent(const DataProblem& problem, const Rows& w) {
  const auto oracle = problem.oracle({0, 3}, seed);
  oracle->draw(2);
  const Evaluation& at_w = oracle->evaluate(w, true);
  const double penalty = problem.penalty(w.row(1).data());
  EXPECT_EQ(at_w.values[1], penalty);
  Rows expected(1, w.columns());
  problem.penalty_gradient(w.row(1).data(), expected.row(0).data());
  EXPECT_EQ(gradient_of(at_w, 1), std::vector<double>(expected.row(0).begin(), expected.row(0).end()));
  const std::vector<Index> offset = {0, 1, 3, 4};
  const std::vector<std::int32_t> slot = {0, 1, 2, 2};
  const Reach reach = {{offset.data(), slot.data(), nullptr}, 3, 4, w.data(), w.stride(), w.columns()};
  std::vector<double> at(4);
  oracle->values_at(reach, at);
  EXPECT_EQ(at[1], penalty);
  EXPECT_EQ(at[2], problem.penalty(w.row(2).data()));
  std::vector<double> along(3);
  oracle->values_along(w, at_w.gradients, std::vector<Index>{0, 1, 2}, std::vector<double>{0, 0, 0}, along);
  EXPECT_EQ(along[1], penalty);
  std::vector<double> smoothness(3);
  if (oracle->smoothness(smoothness)) {
    EXPECT_EQ(smoothness[1], problem.l2());
  }
  Rows costs(3, 3);
  problem.costs({0, 3}, w, costs);
  EXPECT_EQ(costs(1, 1), penalty);
  for (const double value : {at_w.values[0], at_w.values[2], at[0], at[3], along[0], costs(0, 0), costs(2, 2)}) {
    EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(DataProblem, AnAgentWithoutSamplesHasItsPenaltyAlone) {
  for (const double l2 : {0.0, 0.1}) {
    for (const Batch batch : {Batch{0, true}, Batch{1, false}, Batch{2, false}}) {
      for (const Sampling sampling : {Sampling::uniform, Sampling::shuffle, Sampling::cyclic}) {
        for (const std::string& loss : naive::all_losses) {
          Model model = naive::random_model(loss, l2);
          // With one sample and three as many are drawn as there are agents and one more.
          model.data = naive::random_data({3, 0, 1}, 3, true);
          for (double& y : model.data.targets) y = std::abs(y);
          model.weights = {2, 0, 1};
          expect_penalty_of_empty_agent(model.problem(batch, sampling), naive::random_points(3, 3));
          expect_penalty_of_empty_agent(naive::sparse(model).problem(batch, sampling), naive::random_points(3, 3));
        }
        Dataset data = naive::random_data({2, 0, 1}, 3, false);
        data.targets = {0, 1, 2};
        const SoftmaxProblem softmax(std::move(data), 3, {l2, batch, sampling, true, {2, 0, 1}});
        expect_penalty_of_empty_agent(softmax, naive::random_points(3, 9));
      }
    }
  }
}

TEST(DataProblem, OnlyAnAgentWithoutSamplesHasTheWeightZero) {
  Model model = naive::random_model("least-squares");
  model.data = naive::random_data({3, 0, 1}, 3, false);
  EXPECT_EQ(refusal([&] {
              (void)model.problem();
              return 0;
            }).message(),
            "agent 1 has no samples");
  model.weights = {1, 1, 1};
  EXPECT_EQ(refusal([&] {
              (void)model.problem();
              return 0;
            }).path(),
            "weights");
}

TEST(DataProblem, CostsOfManySamplesDependOnNoOtherPoint) {
  // More samples than are predicted at once.
  for (const bool sparse : {false, true}) {
    Model model = {naive::random_data({600, 3, 257}, 5, false), "huber", 0.1};
    if (sparse) model = naive::sparse(model);
    const LinearProblem problem = model.problem();
    const Rows points = naive::random_points(19, 5);
    Rows all(3, 19);
    problem.costs({0, 3}, points, all);
    for (const Index p : {0, 18}) {
      Rows point(1, 5);
      std::ranges::copy(points.row(p), point.row(0).begin());
      for (Index k = 0; k < 3; ++k) {
        Rows one(1, 1);
        problem.costs({k, k + 1}, point, one);
        EXPECT_EQ(std::bit_cast<std::uint64_t>(one(0, 0)), std::bit_cast<std::uint64_t>(all(k, p))) << k << ", " << p;
      }
    }
  }
}

TEST(DataProblem, OneSparseRowIsWrittenOut) {
  const LinearProblem problem =
      naive::sparse(naive::holey_model("least-squares", 0, dimension, false)).problem({1, false});
  const auto oracle = problem.oracle({0, 3}, seed);
  oracle->draw(0);
  const Evaluation& evaluation = oracle->evaluate(naive::random_points(3, dimension), false);
  for (Index k = 0; k < 3; ++k) {
    EXPECT_EQ(evaluation.gradients.row[k], evaluation.written.row(k).data());
  }
}

TEST(DataProblem, WhatOverflowsIsNotFinite) {
  Model model = naive::random_model("poisson");
  model.data.features = Rows(12, 3, 1);
  const LinearProblem problem = model.problem();
  const auto oracle = problem.oracle({0, 3}, seed);
  oracle->draw(0);
  const Evaluation& evaluation = oracle->evaluate(Rows(3, 3, 1e6), true);
  for (const double value : evaluation.values) EXPECT_FALSE(std::isfinite(value));
}

TEST(DataProblem, RefusesTargetsThatTheLossIsNotFor) {
  Dataset data = naive::random_data({2, 2}, 3, true);
  data.targets[1] = 0;
  const auto with = [&](const std::string& loss) { return [&, loss] { LinearProblem(data, make_loss(loss)); }; };
  for (const std::string loss : {"logistic", "smoothed-hinge"}) {
    const auto error = refusal(with(loss));
    EXPECT_EQ(error.path(), "data");
    EXPECT_NE(error.message().find("found target 0"), std::string::npos) << error.message();
  }
  data.targets = {0, 3, 0.5, -1};
  EXPECT_NE(refusal(with("poisson")).message().find("found target -1"), std::string::npos);
  data.targets[3] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(with("poisson")).path(), "data");
  data.targets[3] = 2;
  EXPECT_NO_THROW(with("poisson")());
}

TEST(DataProblem, RefusesWeightsThatAreNotOneForEachAgent) {
  const auto with = [](std::vector<double> weights) {
    return [weights] {
      Model model = naive::random_model("least-squares");
      model.weights = weights;
      (void)model.problem();
    };
  };
  EXPECT_EQ(refusal(with({1, 2})).path(), "weights");
  EXPECT_NE(refusal(with({1, 2})).message().find("found 2"), std::string::npos);
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    EXPECT_NE(refusal(with({1, bad, 1})).message().find("agent 1"), std::string::npos) << bad;
  }
}

TEST(DataProblem, TheWorkOfAGradientIsThatOfTheFeaturesThatAreThere) {
  Dataset data;
  data.features = Features::sparse(100, {0, 1, 4, 6}, {7, 1, 2, 3, 50, 99}, {1, 1, 1, 1, 1, 1});
  data.targets = {0, 1, 2};
  data.offset = {0, 1, 3};
  // Agent 0 has a sample of 1 number, agent 1 two samples of 5 numbers together; 3 classes.
  EXPECT_EQ(SoftmaxProblem(data, 3, {.batch = {0, true}}).gradient_work(), 2 * 3 * (1 + 5));
  EXPECT_EQ(SoftmaxProblem(data, 3, {.batch = {1, false}}).gradient_work(), 2 * 3 * (1 + 2.5));
  // A batch larger than what an agent has takes some of its samples several times.
  EXPECT_EQ(SoftmaxProblem(data, 3, {.batch = {4, false}}).gradient_work(), 2 * 3 * (4 * 1 + 4 * 2.5));
}

}  // namespace
}  // namespace polyhop::data_problem_test

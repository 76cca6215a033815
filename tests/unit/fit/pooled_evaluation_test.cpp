// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/pooled_evaluation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/core/serial_collective.hpp"
#include "polyhop/network/runtime.hpp"
#include "support/networks.hpp"

namespace polyhop::pooled_evaluation_test {
namespace {

Model model_of(const std::string& loss, Index classes) {
  Model model;
  model.options.loss = builtin_loss(loss);
  for (Index c = 0; c < classes; ++c) model.classes.push_back("class " + std::to_string(c));
  return model;
}

// Samples of agents that have more the higher their numbers, around `center`, with scores that often tie; targets as
// the loss takes them.
std::vector<ScoredSamples> samples_of(const Model& model, Index agents, Index of_first, double center = 0) {
  const Task task = model.options.loss.task;
  const auto classes = static_cast<Index>(model.classes.size());
  const Index rows = task == Task::classes ? classes : 1;
  std::vector<ScoredSamples> out;
  for (Index k = 0; k < agents; ++k) {
    Stream stream(7, Purpose::features, k);
    auto& [scores, targets] = out.emplace_back(ScoredSamples{Rows(rows, of_first * (k + 1)), {}});
    for (Index n = 0; n < scores.columns(); ++n) {
      for (Index c = 0; c < rows; ++c) scores(c, n) = center + std::round(20 * stream.normal()) / 16;
      const double first = scores(0, n) - center;
      const double noisy = first + stream.normal();
      targets.push_back(task == Task::two_classes ? (noisy > 0 ? 1 : -1)
                        : task == Task::classes   ? static_cast<double>(stream.below(classes))
                        : task == Task::counts    ? std::floor(std::exp(std::abs(noisy)))
                                                  : 1000 + noisy);
    }
  }
  return out;
}

ModelEvaluation by_one(const Model& model, const std::vector<ScoredSamples>& agents) {
  SerialCollective collective;
  return evaluate_pooled(model, agents, collective);
}

// The same of all samples in one place.
ModelEvaluation of_pooled_samples(const Model& model, const std::vector<ScoredSamples>& agents) {
  Index count = 0;
  for (const auto& of_agent : agents) count += of_agent.scores.columns();
  Rows scores(agents.front().scores.rows(), count);
  std::vector<double> targets;
  for (const auto& of_agent : agents) {
    for (Index n = 0; n < of_agent.scores.columns(); ++n) {
      const auto sample = static_cast<Index>(targets.size());
      for (Index c = 0; c < scores.rows(); ++c) scores(c, sample) = of_agent.scores(c, n);
      targets.push_back(of_agent.targets[n]);
    }
  }
  return evaluate_scores(model, scores, targets);
}

double auc(const ModelEvaluation& evaluation) {
  for (const auto& [key, value] : evaluation.metrics) {
    if (key == "auc") return value;
  }
  return -1;
}

TEST(PooledEvaluation, IsThatOfAllSamplesInOnePlace) {
  for (const Model& model : {model_of("least-squares", 0), model_of("huber", 0), model_of("poisson", 0),
                             model_of("logistic", 2), model_of("smoothed-hinge", 2), model_of("softmax", 4)}) {
    const auto agents = samples_of(model, 5, 11);
    const ModelEvaluation pooled = by_one(model, agents);
    const ModelEvaluation plain = of_pooled_samples(model, agents);
    EXPECT_EQ(pooled.samples, plain.samples);
    ASSERT_EQ(pooled.metrics.size(), plain.metrics.size());
    for (std::size_t m = 0; m < plain.metrics.size(); ++m) {
      EXPECT_EQ(pooled.metrics[m].first, plain.metrics[m].first);
      EXPECT_NEAR(pooled.metrics[m].second, plain.metrics[m].second, 1e-13 * (1 + std::abs(plain.metrics[m].second)))
          << model.options.loss.name << ' ' << plain.metrics[m].first;
    }
    EXPECT_EQ(pooled.confusion, plain.confusion);
    ASSERT_EQ(pooled.classes.size(), plain.classes.size());
    for (std::size_t c = 0; c < plain.classes.size(); ++c) {
      EXPECT_EQ(pooled.classes[c].name, plain.classes[c].name);
      EXPECT_EQ(pooled.classes[c].samples, plain.classes[c].samples);
      EXPECT_EQ(pooled.classes[c].recall, plain.classes[c].recall);
    }
  }
}

TEST(PooledEvaluation, HasTheSameBitsOnSeveralWorkers) {
  for (const Model& model : {model_of("least-squares", 0), model_of("logistic", 2), model_of("softmax", 3)}) {
    const auto agents = samples_of(model, 7, 9);
    const ModelEvaluation alone = by_one(model, agents);
    std::vector<ModelEvaluation> found(3);
    launch_threads(test::network_of(Topology::ring, 7), 1, 3, [&](Worker& worker) {
      const Block block = worker.network.block();
      const auto own = std::span(agents).subspan(block.first);
      found[worker.number] = evaluate_pooled(model, own.first(block.size()), worker.collective);
    });
    for (const ModelEvaluation& evaluation : found) {
      EXPECT_EQ(evaluation.metrics, alone.metrics);
      EXPECT_EQ(evaluation.confusion, alone.confusion);
    }
  }
}

TEST(PooledEvaluation, TheAreaUnderTheCurveIsExactForFewSamplesAndCloseForMany) {
  const Model model = model_of("logistic", 2);
  // Scores that differ in their last bits alone, of both signs, and zeros of both signs.
  const double far = 1e9;
  for (const double center : {0.0, far, -far}) {
    const auto few = samples_of(model, 4, 100, center);
    EXPECT_EQ(auc(by_one(model, few)), auc(of_pooled_samples(model, few)));
    const auto many = samples_of(model, 4, 5000, center);
    EXPECT_NEAR(auc(by_one(model, many)), auc(of_pooled_samples(model, many)), 2e-4);
  }
  std::vector<ScoredSamples> zeros(1, {Rows(1, 2), {-1, 1}});
  zeros[0].scores(0, 0) = 0.0;
  zeros[0].scores(0, 1) = -0.0;
  EXPECT_EQ(auc(by_one(model, zeros)), 0.5);
}

TEST(PooledEvaluation, WhatIsNotDefinedIsNotANumber) {
  const Model classes = model_of("logistic", 2);
  auto agents = samples_of(classes, 2, 5);
  agents[1].scores(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(auc(by_one(classes, agents))));
  agents = samples_of(classes, 2, 5);
  for (auto& of_agent : agents) of_agent.targets.assign(of_agent.targets.size(), 1);
  EXPECT_TRUE(std::isnan(auc(by_one(classes, agents))));
  const Model numbers = model_of("least-squares", 0);
  agents = samples_of(numbers, 2, 5);
  for (auto& of_agent : agents) of_agent.targets.assign(of_agent.targets.size(), 3);
  const ModelEvaluation flat = by_one(numbers, agents);
  EXPECT_EQ(flat.metrics[2].first, "r2");
  EXPECT_TRUE(std::isnan(flat.metrics[2].second));
}

}  // namespace
}  // namespace polyhop::pooled_evaluation_test

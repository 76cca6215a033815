// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/linear_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "polyhop/core/reach.hpp"
#include "unit/core/refusal.hpp"
#include "unit/problem/naive.hpp"

namespace polyhop::linear_problem_test {
namespace {

using naive::Model;

// Every loss, with and without penalty, for batches of one, three and all, with the sampler that the oracle has too.
struct Case {
  Model model;
  Batch batch;
  Sampling sampling;
  [[nodiscard]] std::string name() const {
    return model.loss + ", l2 " + std::to_string(model.l2) + ", batch " +
           (batch.all ? "all" : std::to_string(batch.size)) + ", " + name_of(sampling);
  }
};

constexpr std::uint64_t seed = 11;

void for_each_case(const std::function<void(const Case&, const LinearProblem&, Oracle&, Sampler&)>& check) {
  for (const std::string& loss : naive::all_losses) {
    for (const double l2 : {0.0, 0.3}) {
      for (const Batch batch : {Batch{1, false}, Batch{3, false}, Batch{0, true}}) {
        for (const Sampling sampling : {Sampling::uniform, Sampling::shuffle, Sampling::cyclic}) {
          const Case example = {naive::random_model(loss, l2), batch, sampling};
          SCOPED_TRACE(example.name());
          const LinearProblem problem = example.model.problem(batch, sampling);
          const auto oracle = problem.oracle({0, 3}, seed);
          Sampler sampler({0, 3}, {5, 3, 4}, batch, sampling, seed);
          check(example, problem, *oracle, sampler);
        }
      }
    }
  }
}

std::vector<double> gradient_of(const Evaluation& evaluation, Index k) {
  std::vector<double> out;
  for (Index j = 0; j < evaluation.gradients.columns; ++j) {
    out.push_back(evaluation.gradients.scale[k] * evaluation.gradients.at(k)[j]);
  }
  return out;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t j = 0; j < got.size(); ++j) EXPECT_NEAR(got[j], expected[j], tolerance) << "coordinate " << j;
}

TEST(LinearProblem, EvaluatesValuesAndGradientsOfTheBatch) {
  const Rows w = naive::random_points(3, 3);
  for_each_case([&](const Case& c, const LinearProblem&, Oracle& oracle, Sampler& sampler) {
    for (const Index i : {0, 1, 5}) {
      oracle.draw(i);
      sampler.draw(i);
      const Evaluation& evaluation = oracle.evaluate(w, true);
      ASSERT_EQ(evaluation.gradients.size(), 3);
      ASSERT_EQ(evaluation.gradients.columns, 3);
      for (Index k = 0; k < 3; ++k) {
        EXPECT_NEAR(evaluation.values[k], naive::value(c.model, k, sampler.indices(k), w.row(k)), 1e-13);
        expect_near(gradient_of(evaluation, k), naive::gradient(c.model, k, sampler.indices(k), w.row(k)), 1e-13);
      }
    }
  });
}

TEST(LinearProblem, GradientsAreThoseOfTheValues) {
  const Rows w = naive::random_points(3, 3);
  const double h = 1e-5;
  for_each_case([&](const Case&, const LinearProblem&, Oracle& oracle, Sampler&) {
    oracle.draw(2);
    std::vector<std::vector<double>> gradients;
    for (Index k = 0; k < 3; ++k) gradients.push_back(gradient_of(oracle.evaluate(w, false), k));
    for (Index j = 0; j < 3; ++j) {
      Rows moved = w;
      for (Index k = 0; k < 3; ++k) moved(k, j) += h;
      const std::vector<double> up = oracle.evaluate(moved, true).values;
      for (Index k = 0; k < 3; ++k) moved(k, j) -= 2 * h;
      const std::vector<double> down = oracle.evaluate(moved, true).values;
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(gradients[k][j], (up[k] - down[k]) / (2 * h), 1e-8) << k << ", " << j;
      }
    }
  });
}

// Away from the corners of the losses, and where they are no lines: there something else stands for their curvature.
TEST(LinearProblem, SecondDerivativesAreThoseOfTheGradients) {
  for (const std::string& loss : naive::all_losses) {
    const Model model = naive::random_model(loss);
    const LinearProblem dense = model.problem();
    const LinearProblem sparse = naive::sparse(model).problem();
    std::size_t compared = 0;
    for (Index point = 0; point < 8; ++point) {
      const auto w = naive::random_point(3, point);
      std::vector<Index> samples;
      for (const Index n : naive::all_samples(model, 0)) {
        const double z = naive::product(model.data.features.dense().row(n), w);
        const double y = model.data.targets[n];
        const bool on_a_line = (loss == "huber" && std::abs(z - y) > model.delta - 1e-3) ||
                               (loss == "smoothed-hinge" && (y * z < 1e-3 || y * z > 1 - 1e-3));
        if (!on_a_line) samples.push_back(n);
      }
      if (samples.empty()) continue;
      compared += samples.size();
      const auto gradient = [&](const std::vector<double>& at) { return naive::gradient(model, 0, samples, at); };
      for (const LinearProblem* problem : {&dense, &sparse}) {
        const auto found = naive::second_derivatives(*problem, samples, w);
        EXPECT_LT(naive::farthest_from_differences(found, w, gradient), 1e-8) << loss;
      }
    }
    EXPECT_GE(compared, 4) << loss;
  }
}

TEST(LinearProblem, ByHand) {
  // One agent, samples (1, 2) -> 3 and (0, 1) -> -1, at w = (1, 0): z = 1 and 0, z - y = -2 and 1.
  Dataset data;
  data.features = Rows(2, 2);
  data.features.dense()(0, 0) = 1;
  data.features.dense()(0, 1) = 2;
  data.features.dense()(1, 1) = 1;
  data.targets = {3, -1};
  data.offset = {0, 2};
  const Model model = {data, "least-squares", 0.5};
  const LinearProblem problem = model.problem();
  const auto oracle = problem.oracle({0, 1}, 0);
  Rows w(1, 2);
  w(0, 0) = 1;
  oracle->draw(0);
  const Evaluation& evaluation = oracle->evaluate(w, true);
  // (4/2 + 1/2)/2 + 0.25 and ((-2, -4) + (0, 1))/2 + (0.5, 0)
  EXPECT_EQ(evaluation.values[0], 1.5);
  EXPECT_EQ(gradient_of(evaluation, 0), (std::vector<double>{-0.5, -1.5}));
}

TEST(LinearProblem, AGradientOfOneSampleIsNeverWrittenOut) {
  const LinearProblem problem = naive::random_model("least-squares").problem({1, false});
  const auto oracle = problem.oracle({0, 3}, seed);
  oracle->draw(1);
  const Evaluation& evaluation = oracle->evaluate(naive::random_points(3, 3), false);
  // Cyclic: iteration 1 takes sample 1 of each agent, whose samples begin at 0, 5 and 8.
  EXPECT_EQ(evaluation.gradients.row[0], problem.data().features.dense().row(1).data());
  EXPECT_EQ(evaluation.gradients.row[1], problem.data().features.dense().row(6).data());
  EXPECT_EQ(evaluation.gradients.row[2], problem.data().features.dense().row(9).data());
}

TEST(LinearProblem, ABlockAnswersToTheBitWhatTheWholeAnswers) {
  for (const Batch batch : {Batch{1, false}, Batch{3, false}, Batch{0, true}}) {
    const LinearProblem problem = naive::random_model("logistic", 0.1).problem(batch, Sampling::shuffle);
    const auto whole = problem.oracle({0, 3}, seed);
    const auto block = problem.oracle({1, 3}, seed);
    const Rows w = naive::random_points(3, 3);
    Rows part(2, 3);
    for (Index k = 0; k < 2; ++k) std::ranges::copy(w.row(k + 1), part.row(k).begin());
    for (Index i = 0; i < 10; ++i) {
      whole->draw(i);
      block->draw(i);
      const Evaluation& all = whole->evaluate(w, true);
      const Evaluation& some = block->evaluate(part, true);
      for (Index k = 0; k < 2; ++k) {
        EXPECT_EQ(some.values[k], all.values[k + 1]);
        EXPECT_EQ(gradient_of(some, k), gradient_of(all, k + 1));
      }
    }
  }
}

// Who holds whose row: agent 0 those of points 0 and 2, agent 1 all four, agent 2 point 3 alone.
struct ReachByHand {
  Rows points = naive::random_points(4, 3);
  std::vector<Index> offset = {0, 2, 6, 7};
  std::vector<std::int32_t> slot = {0, 2, 0, 1, 2, 3, 3};
  [[nodiscard]] Reach view() const {
    return {{offset.data(), slot.data(), nullptr}, 3, 7, points.data(), points.stride(), 3};
  }
};

TEST(LinearProblem, ValuesAtAReachAreThoseOfTheAgentsOwnSample) {
  const ReachByHand reach;
  for_each_case([&](const Case& c, const LinearProblem&, Oracle& oracle, Sampler& sampler) {
    for (const Index i : {0, 4}) {
      oracle.draw(i);
      sampler.draw(i);
      std::vector<double> values(7);
      oracle.values_at(reach.view(), values);
      for (Index k = 0; k < 3; ++k) {
        for (Index e = reach.offset[k]; e < reach.offset[k + 1]; ++e) {
          EXPECT_NEAR(values[e], naive::value(c.model, k, sampler.indices(k), reach.points.row(reach.slot[e])), 1e-13)
              << "agent " << k << ", entry " << e;
        }
      }
    }
  });
}

std::vector<double> along(std::span<const double> w, const std::vector<double>& g, double a) {
  std::vector<double> out;
  for (std::size_t j = 0; j < g.size(); ++j) out.push_back(w[j] - a * g[j]);
  return out;
}

TEST(LinearProblem, ValuesAlongTheGradientAreThoseOfTheAgentsOwnSample) {
  const Rows w = naive::random_points(3, 3);
  const std::vector<Index> agents = {0, 2};
  const std::vector<double> steps = {0.3, std::nan(""), 1e-3};
  for_each_case([&](const Case& c, const LinearProblem&, Oracle& oracle, Sampler& sampler) {
    for (const Index i : {0, 4}) {
      oracle.draw(i);
      sampler.draw(i);
      const Evaluation& at_w = oracle.evaluate(w, true);
      const std::vector<double> before = at_w.values;
      std::vector<double> values = {0, 7, 0};
      oracle.values_along(w, at_w.gradients, agents, steps, values);
      EXPECT_EQ(values[1], 7) << "nobody asked for it";
      EXPECT_EQ(at_w.values, before);
      for (const Index k : agents) {
        const auto gradient = naive::gradient(c.model, k, sampler.indices(k), w.row(k));
        expect_near(gradient_of(at_w, k), gradient, 1e-13);
        EXPECT_NEAR(values[k], naive::value(c.model, k, sampler.indices(k), along(w.row(k), gradient, steps[k])), 1e-13)
            << "agent " << k;
      }
    }
  });
}

TEST(LinearProblem, ValuesAlongTheGradientDependOnNoOtherAgent) {
  for (const Batch batch : {Batch{1, false}, Batch{3, false}}) {
    const LinearProblem problem = naive::random_model("logistic", 0, 37).problem(batch, Sampling::shuffle);
    const auto oracle = problem.oracle({0, 3}, seed);
    const Rows w = naive::random_points(3, 37);
    oracle->draw(2);
    const Evaluation& at_w = oracle->evaluate(w, false);
    const std::vector<double> steps = {0.1, 0.2, 0.3};
    std::vector<double> together(3);
    std::vector<double> alone(3);
    oracle->values_along(w, at_w.gradients, std::vector<Index>{0, 1, 2}, steps, together);
    for (const Index k : {2, 0, 1}) oracle->values_along(w, at_w.gradients, std::vector<Index>{k}, steps, alone);
    EXPECT_EQ(alone, together);
  }
}

TEST(LinearProblem, ValuesAtOnePointAreOnTheCurrentSample) {
  const Rows point = naive::random_points(1, 3);
  for_each_case([&](const Case& c, const LinearProblem&, Oracle& oracle, Sampler& sampler) {
    oracle.draw(3);
    sampler.draw(3);
    std::vector<double> values(3);
    oracle.values_at_point(point, values);
    for (Index k = 0; k < 3; ++k) {
      EXPECT_NEAR(values[k], naive::value(c.model, k, sampler.indices(k), point.row(0)), 1e-13);
    }
  });
}

TEST(LinearProblem, SmoothnessIsTheMeanSquaredNormTimesTheCurvature) {
  for_each_case([&](const Case& c, const LinearProblem& problem, Oracle& oracle, Sampler& sampler) {
    oracle.draw(3);
    sampler.draw(3);
    std::vector<double> smoothness(3);
    ASSERT_EQ(oracle.smoothness(smoothness), c.model.loss != "poisson") << "e^z bends without bound";
    if (c.model.loss == "poisson") return;
    for (Index k = 0; k < 3; ++k) {
      double sum = 0;
      for (const Index n : sampler.indices(k)) {
        const auto h = problem.data().features.dense().row(problem.data().first(k) + n);
        sum += naive::product(h, h);
      }
      const double curvature = c.model.loss == "logistic" ? 0.25 : 1;
      EXPECT_NEAR(smoothness[k], curvature * sum / static_cast<double>(sampler.indices(k).size()) + c.model.l2, 1e-13);
    }
  });
}

TEST(LinearProblem, SmoothnessBoundsHowFarTheCostLeavesItsTangent) {
  const Rows w = naive::random_points(3, 3);
  for_each_case([&](const Case&, const LinearProblem&, Oracle& oracle, Sampler&) {
    oracle.draw(1);
    std::vector<double> smoothness(3);
    if (!oracle.smoothness(smoothness)) return;
    const Evaluation at_w = oracle.evaluate(w, true);
    std::vector<std::vector<double>> gradients;
    for (Index k = 0; k < 3; ++k) gradients.push_back(gradient_of(at_w, k));
    for (Index trial = 0; trial < 20; ++trial) {
      const std::vector<double> d = naive::random_point(3, 100 + trial);
      Rows moved = w;
      for (Index k = 0; k < 3; ++k) {
        for (Index j = 0; j < 3; ++j) moved(k, j) += d[j];
      }
      const Evaluation& there = oracle.evaluate(moved, true);
      for (std::size_t k = 0; k < 3; ++k) {
        const double tangent = at_w.values[k] + naive::product(gradients[k], d);
        EXPECT_LE(there.values[k], tangent + smoothness[k] / 2 * naive::product(d, d) + 1e-12);
      }
    }
  });
}

TEST(LinearProblem, IsQuadraticForLeastSquaresWithoutPenalty) {
  for_each_case([&](const Case& c, const LinearProblem&, Oracle& oracle, Sampler&) {
    EXPECT_EQ(oracle.is_quadratic(), c.model.loss == "least-squares" && c.model.l2 == 0);
  });
}

TEST(LinearProblem, CostsAreThoseOfAllSamples) {
  for_each_case([&](const Case& c, const LinearProblem& problem, Oracle&, Sampler&) {
    for (const Index count : {1, 2, 15, 16, 17, 40}) {
      const Rows points = naive::random_points(count, 3);
      for (const Block block : {Block{0, 3}, Block{1, 3}, Block{2, 3}}) {
        Rows costs(block.size(), count);
        problem.costs(block, points, costs);
        for (Index k = 0; k < block.size(); ++k) {
          for (Index p = 0; p < count; ++p) {
            const Index agent = block.first + k;
            EXPECT_NEAR(costs(k, p), naive::value(c.model, agent, naive::all_samples(c.model, agent), points.row(p)),
                        1e-12)
                << "agent " << agent << ", point " << p << " of " << count;
          }
        }
      }
    }
  });
}

TEST(LinearProblem, CostsDependOnNoOtherPointAndNoOtherAgent) {
  const LinearProblem problem = naive::random_model("huber", 0.1, 37).problem();
  const Rows points = naive::random_points(19, 37);
  Rows all(3, 19);
  problem.costs({0, 3}, points, all);
  for (Index k = 0; k < 3; ++k) {
    for (Index p = 0; p < 19; ++p) {
      Rows point(1, 37);
      std::ranges::copy(points.row(p), point.row(0).begin());
      Rows one(1, 1);
      problem.costs({k, k + 1}, point, one);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(one(0, 0)), std::bit_cast<std::uint64_t>(all(k, p))) << k << ", " << p;
    }
  }
}

TEST(LinearProblem, CountsEvaluations) {
  const LinearProblem problem = naive::random_model("least-squares").problem({1, false});
  const auto oracle = problem.oracle({0, 3}, seed);
  const Rows w = naive::random_points(3, 3);
  const ReachByHand reach;
  std::vector<double> values(7);
  oracle->draw(0);
  EXPECT_EQ(oracle->evaluations().values, 0);
  EXPECT_EQ(oracle->evaluations().gradients, 0);
  oracle->evaluate(w, false);
  EXPECT_EQ(oracle->evaluations().values, 0);
  EXPECT_EQ(oracle->evaluations().gradients, 3);
  oracle->evaluate(w, true);
  EXPECT_EQ(oracle->evaluations().values, 3);
  EXPECT_EQ(oracle->evaluations().gradients, 6);
  oracle->values_at(reach.view(), values);
  EXPECT_EQ(oracle->evaluations().values, 10);
  const std::vector<double> steps(3, 0.1);
  oracle->values_along(w, oracle->evaluate(w, false).gradients, std::vector<Index>{0, 2}, steps, values);
  EXPECT_EQ(oracle->evaluations().values, 12);
  oracle->values_at_point(naive::random_points(1, 3), {values.data(), 3});
  EXPECT_EQ(oracle->evaluations().values, 12) << "a known optimum is a study's, and not charged";
}

TEST(LinearProblem, KnowsItsSize) {
  const LinearProblem problem = naive::random_model("huber", 0.25, 7).problem();
  EXPECT_EQ(problem.agents(), 3);
  EXPECT_EQ(problem.dimension(), 7);
  EXPECT_EQ(problem.l2(), 0.25);
  EXPECT_EQ(problem.data().samples(1), 3);
}

TEST(LinearProblem, RefusesAnAgentWithoutSamples) {
  Model model = {naive::random_data({2, 0, 1}, 3, false)};
  const auto error = refusal([&] { return model.problem(); });
  EXPECT_STREQ(error.what(), "data: agent 1 has no samples");
}

TEST(LinearProblem, CountsTheSamplesThatAModelTakesForTheOtherClass) {
  for (const std::string& loss : naive::all_losses) {
    for (const bool sparse : {false, true}) {
      SCOPED_TRACE(loss);
      const Model model = naive::holey_model(loss, 0, 3, false);
      const LinearProblem problem = (sparse ? naive::sparse(model) : model).problem();
      const Rows w = naive::random_points(1, 3);
      if (!naive::has_classes(loss)) {
        EXPECT_EQ(problem.misclassified({0, 3}, w.data()), -1);
        continue;
      }
      Index total = 0;
      for (Index k = 0; k < 3; ++k) {
        Index wrong = 0;
        for (Index n = model.data.first(k); n < model.data.first(k + 1); ++n) {
          const double z = naive::product(model.data.features.dense().row(n), w.row(0));
          if (z * model.data.targets[n] <= 0) ++wrong;
        }
        EXPECT_EQ(problem.misclassified({k, k + 1}, w.data()), wrong);
        total += wrong;
      }
      EXPECT_GT(total, 0);
      EXPECT_LT(total, 12);
      EXPECT_EQ(problem.misclassified({0, 3}, w.data()), total);
    }
  }
}

}  // namespace
}  // namespace polyhop::linear_problem_test

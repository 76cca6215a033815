// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/gradient_estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/problem/costs.hpp"
#include "polyhop/problem/objective.hpp"
#include "polyhop/problem/softmax_problem.hpp"
#include "support/memory_scope.hpp"
#include "support/trial.hpp"
#include "unit/core/refusal.hpp"
#include "unit/problem/naive.hpp"

namespace polyhop::gradient_estimate_test {
namespace {

using Kind = GradientEstimate;

std::vector<double> row_of(const Gradients& g, Index k) {
  Rows out(1, g.columns, 0, g.element);
  g.write(k, out, 0);
  std::vector<double> numbers(g.columns);
  read_row(out, 0, numbers);
  return numbers;
}

Rows models(Index agents, Index dimension, std::uint64_t seed, Element element = Element::float64) {
  return converted(test::normal_models({0, agents}, dimension, seed), element);
}

// A sample (h, y) costs (h w - y)^2 / 2.
TEST(GradientEstimate, SagaByHand) {
  const auto problem = test::problem_of({{{1, 1}, {2, 0}, {0, 5}}});  // slopes of samples: w - 1, 2w, 0 h
  const auto oracle = make_oracle(*problem, {0, 1}, 0, Kind::saga);
  const auto at = [&](Index i, double w) {
    oracle->draw(i);  // in turn
    Rows point(1, 1);
    point(0, 0) = w;
    return row_of(oracle->evaluate(point, false).gradients, 0)[0];
  };
  EXPECT_DOUBLE_EQ(at(0, 3), 2);             // nothing is remembered: the sample's own
  EXPECT_DOUBLE_EQ(at(1, 3), 12 + 2 / 3.0);  // h = 2: 2 * 6, and the mean of 2, 0, 0
  EXPECT_DOUBLE_EQ(at(2, 3), 0 + 14 / 3.0);  // h = 0
  EXPECT_DOUBLE_EQ(at(3, 4), 3 - 2 + 14 / 3.0);
  EXPECT_DOUBLE_EQ(at(4, 4), 16 - 12 + 15 / 3.0);
  EXPECT_EQ(oracle->evaluations().gradients, 5);
}

TEST(GradientEstimate, ASampleThatIsDrawnTwiceIsRememberedOnce) {
  const auto problem = test::problem_of({{{1, 1}}}, "least-squares", 0, {2, false});
  const auto oracle = make_oracle(*problem, {0, 1}, 0, Kind::saga);
  Rows point(1, 1, 3);
  oracle->draw(0);
  EXPECT_DOUBLE_EQ(row_of(oracle->evaluate(point, false).gradients, 0)[0], 2);
  point(0, 0) = 5;
  oracle->draw(1);
  EXPECT_DOUBLE_EQ(row_of(oracle->evaluate(point, false).gradients, 0)[0], 4);
}

TEST(GradientEstimate, LsvrgBeginsWithTheGradientOfAllSamples) {
  const auto problem = test::problem_of({{{1, 1}, {2, 0}, {0, 5}}});
  const auto oracle = make_oracle(*problem, {0, 1}, 0, Kind::lsvrg);
  Rows point(1, 1, 3);
  oracle->draw(0);
  EXPECT_DOUBLE_EQ(row_of(oracle->evaluate(point, false).gradients, 0)[0], 14 / 3.0);
  EXPECT_EQ(oracle->evaluations().gradients, 1 + 1 + 3);  // at w, at u, and three batches of one
}

TEST(GradientEstimate, LsvrgMovesOnAsOftenAsItPassesItsSamples) {
  const auto problem = test::problem_of({{{1, 1}, {2, 0}, {0, 5}, {1, 2}}, {{1, 1}, {2, 0}, {0, 5}, {1, 2}}});
  const auto oracle = make_oracle(*problem, {0, 2}, 7, Kind::lsvrg);
  Index moves = 0;
  for (Index i = 0; i < 4000; ++i) {
    const Index before = oracle->evaluations().gradients;
    oracle->draw(i);
    (void)oracle->evaluate(models(2, 1, 1), false);
    const Index extra = oracle->evaluations().gradients - before - 4;
    ASSERT_TRUE(extra == 0 || extra == 4 || extra == 8) << extra;
    moves += extra / 4;
  }
  EXPECT_NEAR(static_cast<double>(moves), 2000, 150);
}

// Agent k of a softmax model as a user would write it, sample after sample.
class Softmax final : public Objective {
 public:
  Softmax(const SoftmaxProblem& problem, Index agent) : problem_(problem), agent_(agent) {}
  [[nodiscard]] Index dimension() const override { return problem_.dimension(); }
  [[nodiscard]] Index samples() const override { return problem_.data().samples(agent_); }
  [[nodiscard]] double value(std::span<const double>, std::span<const Index>) const override { return 0; }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    const Index width = problem_.features();
    std::ranges::fill(gradient, 0.0);
    for (const Index sample : batch) {
      const Index n = problem_.data().first(agent_) + sample;
      const auto h = problem_.data().features.dense().row(n);
      std::vector<double> p(problem_.classes());
      double sum = 0;
      for (Index c = 0; c < problem_.classes(); ++c) {
        for (Index j = 0; j < width; ++j) p[c] += w[c * width + j] * h[j];
        sum += p[c] = std::exp(p[c]);
      }
      for (Index c = 0; c < problem_.classes(); ++c) {
        const double slope = p[c] / sum - (static_cast<double>(c) == problem_.data().targets[n] ? 1 : 0);
        for (Index j = 0; j < width; ++j) {
          gradient[c * width + j] += slope * h[j] / static_cast<double>(batch.size());
        }
      }
    }
    return 0;
  }

 private:
  const SoftmaxProblem& problem_;
  Index agent_;
};

std::unique_ptr<SoftmaxProblem> softmax_problem(Batch batch, Element element = Element::float64) {
  Dataset data = naive::random_data({30, 17}, 5, false);
  for (std::size_t n = 0; n < data.targets.size(); ++n) data.targets[n] = static_cast<double>(n % 3);
  LinearOptions options;
  options.batch = batch;
  options.element = element;
  return std::make_unique<SoftmaxProblem>(std::move(data), 3, options);
}

// What remembers slopes and what remembers gradients is the same.
TEST(GradientEstimate, FewNumbersASampleStandForItsGradient) {
  for (const Index batch : {1, 3, 14}) {
    const auto few = softmax_problem({batch, false});
    std::vector<std::shared_ptr<const Objective>> agents;
    for (Index k = 0; k < 2; ++k) agents.push_back(std::make_shared<Softmax>(*few, k));
    const ObjectiveProblem whole(agents, {batch, false});
    for (const Kind kind : {Kind::saga, Kind::lsvrg}) {
      const auto x = make_oracle(*few, {0, 2}, 5, kind);
      const auto y = make_oracle(whole, {0, 2}, 5, kind);
      for (Index i = 0; i < 40; ++i) {
        const Rows w = models(2, few->dimension(), static_cast<std::uint64_t>(i));
        x->draw(i);
        y->draw(i);
        const auto& gx = x->evaluate(w, false).gradients;
        const auto& gy = y->evaluate(w, false).gradients;
        for (Index k = 0; k < 2; ++k) {
          const auto a = row_of(gx, k);
          const auto b = row_of(gy, k);
          for (std::size_t j = 0; j < a.size(); ++j) ASSERT_NEAR(a[j], b[j], 1e-13) << name_of(kind) << ", " << i;
        }
      }
    }
  }
}

naive::Model weighted_model(const std::string& loss) {
  naive::Model model;
  model.data = naive::random_data_for(loss, {6}, 4);
  model.loss = loss;
  model.l2 = 0.3;
  model.intercept = true;
  model.weights = {1.7};
  return model;
}

// The estimate at w from the n-th sample after each sample was drawn once, elsewhere; none where lsvrg then moved on.
std::optional<std::vector<double>> after_all(const LinearProblem& problem, Kind kind, std::uint64_t seed, Index n,
                                             const Rows& w) {
  const auto oracle = make_oracle(problem, {0, 1}, seed, kind);
  for (Index i = 0; i < 6; ++i) {
    oracle->draw(i);
    (void)oracle->evaluate(models(1, 4, static_cast<std::uint64_t>(i)), false);
  }
  const Index before = oracle->evaluations().gradients;
  oracle->draw(6 + n);
  auto v = row_of(oracle->evaluate(w, false).gradients, 0);
  if (oracle->evaluations().gradients - before > 2) return {};
  return v;
}

// With penalty, weights and intercept, the mean of the estimates over all that may be drawn is the gradient of all.
TEST(GradientEstimate, HasNoBias) {
  const Rows w = models(1, 4, 8);
  for (const std::string& loss : naive::all_losses) {
    const naive::Model model = weighted_model(loss);
    const LinearProblem problem = model.problem({1, false}, Sampling::cyclic);
    const auto g = naive::risk_gradient(model, w.row(0));
    for (const Kind kind : {Kind::saga, Kind::lsvrg}) {
      bool found = false;
      for (std::uint64_t seed = 0; seed < 50 && !found; ++seed) {
        std::vector<double> mean(4);
        found = true;
        for (Index n = 0; n < 6; ++n) {
          const auto v = after_all(problem, kind, seed, n, w);
          found = found && v;
          for (std::size_t j = 0; v && j < 4; ++j) mean[j] += (*v)[j] / 6;
        }
        for (std::size_t j = 0; found && j < 4; ++j) EXPECT_NEAR(mean[j], g[j], 1e-12) << loss << " " << name_of(kind);
      }
      EXPECT_TRUE(found);
    }
  }
}

// Rules that take differences of gradients on one sample get those of the batch: what is remembered cancels.
TEST(GradientEstimate, DiffersBetweenPointsAsTheBatchDoes) {
  for (const Element element : {Element::float64, Element::float32}) {
    const auto problem = softmax_problem({4, false}, element);
    const Rows w = models(2, problem->dimension(), 1, element);
    const Rows other = models(2, problem->dimension(), 2, element);
    const auto plain = problem->oracle({0, 2}, 5);
    for (const Kind kind : {Kind::saga, Kind::lsvrg}) {
      const auto oracle = make_oracle(*problem, {0, 2}, 5, kind);
      const double tolerance = element == Element::float64 ? 1e-13 : 1e-5;
      for (Index i = 0; i < 9; ++i) {
        oracle->draw(i);
        plain->draw(i);
        const auto here = row_of(oracle->evaluate(w, false).gradients, 1);
        const auto there = row_of(oracle->evaluate_elsewhere(other).gradients, 1);
        const auto plain_here = row_of(plain->evaluate(w, false).gradients, 1);
        const auto plain_there = row_of(plain->evaluate_elsewhere(other).gradients, 1);
        for (std::size_t j = 0; j < here.size(); ++j) {
          ASSERT_NEAR(there[j] - here[j], plain_there[j] - plain_here[j], tolerance) << name_of(kind) << ", " << i;
        }
      }
    }
  }
}

TEST(GradientEstimate, SparseFeaturesAreRememberedAsDenseOnes) {
  const auto dense = softmax_problem({2, false});
  naive::Model model;
  model.data = dense->data();
  LinearOptions options;
  options.batch = {2, false};
  const SoftmaxProblem same(naive::sparse(model).data, 3, options);
  for (const Kind kind : {Kind::saga, Kind::lsvrg}) {
    const auto x = make_oracle(*dense, {0, 2}, 5, kind);
    const auto y = make_oracle(same, {0, 2}, 5, kind);
    for (Index i = 0; i < 20; ++i) {
      const Rows w = models(2, dense->dimension(), static_cast<std::uint64_t>(i));
      x->draw(i);
      y->draw(i);
      const auto a = row_of(x->evaluate(w, false).gradients, 0);
      const auto b = row_of(y->evaluate(w, false).gradients, 0);
      for (std::size_t j = 0; j < a.size(); ++j) ASSERT_NEAR(a[j], b[j], 1e-13) << name_of(kind) << ", " << i;
    }
  }
}

TEST(GradientEstimate, OfAllSamplesIsTheirGradient) {
  const auto problem = test::problem_of({{{1, 1}, {2, 0}}}, "least-squares", 0, {0, true});
  for (const Kind kind : {Kind::saga, Kind::lsvrg}) {
    const auto oracle = make_oracle(*problem, {0, 1}, 0, kind);
    EXPECT_TRUE(oracle->is_exact());
    StateRegistry state;
    oracle->register_state(state);
    EXPECT_TRUE(state.entries().empty());
  }
}

TEST(GradientEstimate, RefusesSamplesWithoutEnd) {
  class Endless final : public Objective {
   public:
    [[nodiscard]] Index dimension() const override { return 1; }
    [[nodiscard]] Index samples() const override { return endless_samples; }
    [[nodiscard]] double value(std::span<const double>, std::span<const Index>) const override { return 0; }
    double value_and_gradient(std::span<const double>, std::span<const Index>, std::span<double>) const override {
      return 0;
    }
  };
  const ObjectiveProblem problem(std::vector<std::shared_ptr<const Objective>>{std::make_shared<Endless>()});
  const auto error = refusal([&] { return make_oracle(problem, {0, 1}, 0, Kind::saga); });
  EXPECT_EQ(error.path(), "gradient");
  EXPECT_NE(error.message().find("infinitely many samples"), std::string::npos) << error.message();
}

// Costs of one's own are remembered by vectors, as many as there are samples.
TEST(GradientEstimate, SaysWhatMemoryItWouldTakeBeforeItTakesAny) {
  class Long final : public Objective {
   public:
    [[nodiscard]] Index dimension() const override { return 1000; }
    [[nodiscard]] Index samples() const override { return 500; }
    [[nodiscard]] double value(std::span<const double>, std::span<const Index>) const override { return 0; }
    double value_and_gradient(std::span<const double>, std::span<const Index>, std::span<double>) const override {
      return 0;
    }
  };
  const auto cost = std::make_shared<Long>();
  const ObjectiveProblem problem(std::vector<std::shared_ptr<const Objective>>{cost, cost}, {.size = 1, .all = false});
  const MemoryScope scope(memory_held() + 5e6);
  const auto error = refusal([&] { return make_oracle(problem, {0, 2}, 0, Kind::saga); });
  EXPECT_EQ(error.path(), "gradient");
  EXPECT_EQ(error.message().find("\"saga\" would remember 500000 numbers per agent, 8 MB for 2 agents; the memory "
                                 "limit is "),
            0)
      << error.message();
  EXPECT_NE(error.message().find("or use \"lsvrg\""), std::string::npos) << error.message();
  EXPECT_NE(make_oracle(problem, {0, 2}, 0, Kind::lsvrg), nullptr);
}

TEST(GradientEstimate, BelongsToNoValue) {
  const auto problem = test::problem_of({{{1, 1}, {2, 0}}});
  const auto oracle = make_oracle(*problem, {0, 1}, 0, Kind::saga);
  oracle->draw(0);
  EXPECT_THROW((void)oracle->evaluate(Rows(1, 1), true), Error);
}

}  // namespace
}  // namespace polyhop::gradient_estimate_test

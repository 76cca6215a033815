// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/objective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/core/reach.hpp"
#include "polyhop/core/serial_collective.hpp"
#include "polyhop/problem/problem_options.hpp"
#include "support/bowls.hpp"
#include "support/counted_costs.hpp"
#include "unit/core/refusal.hpp"
#include "unit/problem/naive.hpp"

namespace polyhop::objective_test {
namespace {

using naive::Model;

// Agent k of a model, as a user would write it.
class OneAgent final : public Objective {
 public:
  OneAgent(std::shared_ptr<const Model> model, Index agent) : model_(std::move(model)), agent_(agent) {}
  [[nodiscard]] Index dimension() const override { return model_->data.features.columns(); }
  [[nodiscard]] Index samples() const override { return model_->data.samples(agent_); }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index> batch) const override {
    return naive::value(*model_, agent_, batch, w);
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    std::ranges::copy(naive::gradient(*model_, agent_, batch, w), gradient.begin());
    return value(w, batch);
  }

 private:
  std::shared_ptr<const Model> model_;
  Index agent_;
};

// w_1^2 + 10 w_2 + w_3^4, whose gradient is off by `error` in one coordinate.
class Polynomial final : public Objective {
 public:
  Polynomial() = default;
  Polynomial(std::size_t wrong, double error) : wrong_(wrong), error_(error) {}
  [[nodiscard]] Index dimension() const override { return 3; }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index>) const override {
    return w[0] * w[0] + 10 * w[1] + std::pow(w[2], 4);
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    gradient[0] = 2 * w[0];
    gradient[1] = 10;
    gradient[2] = 4 * std::pow(w[2], 3);
    gradient[wrong_] += error_;
    return value(w, batch);
  }

 private:
  std::size_t wrong_ = 0;
  double error_ = 0;
};

const std::vector<double> somewhere = {1, 2, -3};

TEST(CheckGradient, PassesARightOne) {
  const auto check = check_gradient(Polynomial(), somewhere);
  EXPECT_TRUE(check.passed()) << "coordinate " << check.coordinate << " is off by " << check.worst_error;
  const auto far = check_gradient(Polynomial(), std::vector<double>{1e6, -1e6, 100});
  EXPECT_TRUE(far.passed()) << "coordinate " << far.coordinate << " is off by " << far.worst_error;
}

TEST(CheckGradient, NamesTheWrongCoordinate) {
  // At (1, 2, -3) the gradient is (2, 10, -108).
  const auto check = check_gradient(Polynomial(1, 2.5), somewhere);
  EXPECT_FALSE(check.passed());
  EXPECT_EQ(check.coordinate, 1);
  EXPECT_EQ(check.given, 12.5);
  EXPECT_NEAR(check.expected, 10, 1e-8);
  EXPECT_NEAR(check.worst_error, 0.2, 1e-8);
}

TEST(CheckGradient, MeasuresSmallGradientsAbsolutely) {
  // The gradient of the first coordinate is 0 there, and 1e-3 is given.
  const auto check = check_gradient(Polynomial(0, 1e-3), std::vector<double>{0, 0, 0});
  EXPECT_EQ(check.coordinate, 0);
  EXPECT_NEAR(check.worst_error, 1e-3, 1e-8);
  EXPECT_FALSE(check.passed());
  EXPECT_TRUE(check.passed(1e-2));
}

TEST(CheckGradient, FindsWhatIsNotFinite) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const std::size_t wrong : {0U, 1U, 2U}) {
      const auto check = check_gradient(Polynomial(wrong, bad), somewhere);
      EXPECT_FALSE(check.passed());
      EXPECT_EQ(check.coordinate, static_cast<Index>(wrong));
    }
  }
}

TEST(CheckGradient, UsesAllSamples) {
  for (const std::string loss : {"least-squares", "logistic", "huber"}) {
    const auto model = std::make_shared<const Model>(naive::random_model(loss, 0.2));
    for (Index k = 0; k < 3; ++k) {
      const auto w = naive::random_point(3, k);
      const auto check = check_gradient(OneAgent(model, k), w);
      EXPECT_TRUE(check.passed()) << loss << ", agent " << k << ": " << check.worst_error;
      EXPECT_EQ(check.given, naive::gradient(*model, k, naive::all_samples(*model, k), w)[check.coordinate]);
    }
  }
}

TEST(CheckGradient, ChecksOneAgentOfMany) {
  const test::CountedCosts costs({std::make_shared<Polynomial>(), std::make_shared<Polynomial>(1, 2.5)});
  EXPECT_TRUE(check_gradient(costs, 0, somewhere).passed());
  const auto check = check_gradient(costs, 1, somewhere);
  EXPECT_FALSE(check.passed());
  EXPECT_EQ(check.coordinate, 1);
  EXPECT_EQ(check.given, 12.5);
}

TEST(CheckGradient, RefusesAPointOfAnotherDimension) {
  EXPECT_STREQ(refusal([] {
                 return check_gradient(Polynomial(), std::vector<double>{1, 2});
               }).what(),
               "w: has 2 numbers, expected 3");
}

std::vector<std::shared_ptr<const Objective>> objectives_of(const std::shared_ptr<const Model>& model) {
  std::vector<std::shared_ptr<const Objective>> out;
  for (Index k = 0; k < model->data.agents(); ++k) out.push_back(std::make_shared<OneAgent>(model, k));
  return out;
}

TEST(ObjectiveProblem, EqualsALinearProblemWithTheSameCosts) {
  const auto model = std::make_shared<const Model>(naive::random_model("least-squares", 0.2));
  const Rows w = naive::random_points(3, 3);
  // Every agent holds its own row and the next one's.
  const std::vector<Index> offset = {0, 2, 4, 6};
  const std::vector<std::int32_t> slot = {0, 1, 1, 2, 2, 0};
  const Reach reach = {{offset.data(), slot.data(), nullptr}, 3, 6, w.data(), w.stride(), 3};
  for (const Batch batch : {Batch{1, false}, Batch{3, false}, Batch{0, true}}) {
    for (const Sampling sampling : {Sampling::uniform, Sampling::shuffle, Sampling::cyclic}) {
      const LinearProblem linear = model->problem(batch, sampling);
      const ObjectiveProblem general(objectives_of(model), batch, sampling);
      const auto expected = linear.oracle({0, 3}, 7);
      const auto got = general.oracle({0, 3}, 7);
      for (Index i = 0; i < 6; ++i) {
        expected->draw(i);
        got->draw(i);
        const Evaluation& e = expected->evaluate(w, true);
        const Evaluation& g = got->evaluate(w, true);
        for (std::size_t k = 0; k < 3; ++k) {
          EXPECT_NEAR(g.values[k], e.values[k], 1e-13);
          for (Index j = 0; j < 3; ++j) {
            EXPECT_NEAR(g.gradients.scale[k] * g.gradients.at(k)[j], e.gradients.scale[k] * e.gradients.at(k)[j],
                        1e-13);
          }
        }
        std::vector<double> from_linear(6);
        std::vector<double> from_general(6);
        expected->values_at(reach, from_linear);
        got->values_at(reach, from_general);
        for (std::size_t n = 0; n < 6; ++n) EXPECT_NEAR(from_general[n], from_linear[n], 1e-13) << "entry " << n;
        const std::vector<Index> agents = {1, 2};
        const std::vector<double> steps = {0, 0.25, 0.01};
        from_linear = from_general = {3, 3, 3};
        expected->values_along(w, e.gradients, agents, steps, from_linear);
        got->values_along(w, g.gradients, agents, steps, from_general);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(from_general[k], from_linear[k], 1e-13) << "agent " << k;
        EXPECT_EQ(from_general[0], 3) << "nobody asked for it";
        const Rows point = naive::random_points(1, 3);
        expected->values_at_point(point, from_linear);
        got->values_at_point(point, from_general);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(from_general[k], from_linear[k], 1e-13) << "agent " << k;
      }
    }
  }
}

TEST(ObjectiveProblem, EvaluatesABlockInOneCallWithTheBitsOfSeparateObjectives) {
  const auto model = std::make_shared<const Model>(naive::random_model("logistic", 0.2));
  const auto costs = std::make_shared<test::CountedCosts>(objectives_of(model));
  const ObjectiveProblem together(costs, {2, false});
  const ObjectiveProblem apart(objectives_of(model), {2, false});
  const auto got = together.oracle({1, 3}, 7);
  const auto expected = apart.oracle({1, 3}, 7);
  const Rows w = naive::random_points(2, 3);
  const Rows points = naive::random_points(3, 3);
  const std::vector<Index> offset = {0, 2, 5};
  const std::vector<std::int32_t> slot = {1, 2, 0, 1, 2};
  const Reach reach = {{offset.data(), slot.data(), nullptr}, 2, 5, points.data(), points.stride(), 3};
  for (Index i = 0; i < 3; ++i) {
    got->draw(i);
    expected->draw(i);
    const Evaluation& g = got->evaluate(w, true);
    const Evaluation& e = expected->evaluate(w, true);
    EXPECT_EQ(g.values, e.values);
    for (Index k = 0; k < 2; ++k) EXPECT_TRUE(std::ranges::equal(g.written.row(k), e.written.row(k)));
    auto calls = costs->calls();
    ASSERT_EQ(calls.size(), 1);
    EXPECT_EQ(calls[0].points, w.data()) << "the models were copied";
    EXPECT_EQ(calls[0].owners, (std::vector<Index>{1, 2}));
    EXPECT_TRUE(calls[0].with_gradients);

    std::vector<double> from_both(5);
    std::vector<double> from_each(5);
    got->values_at(reach, from_both);
    expected->values_at(reach, from_each);
    EXPECT_EQ(from_both, from_each);
    calls = costs->calls();
    ASSERT_EQ(calls.size(), 1);
    EXPECT_EQ(calls[0].owners, (std::vector<Index>{1, 1, 2, 2, 2}));
    EXPECT_FALSE(calls[0].with_gradients);

    from_both = from_each = {3, 3};
    got->values_along(w, g.gradients, std::vector<Index>{1}, std::vector<double>{0, 0.25}, from_both);
    expected->values_along(w, e.gradients, std::vector<Index>{1}, std::vector<double>{0, 0.25}, from_each);
    EXPECT_EQ(from_both, from_each);
    calls = costs->calls();
    ASSERT_EQ(calls.size(), 1);
    EXPECT_EQ(calls[0].owners, (std::vector<Index>{2}));

    got->values_at_point(points, from_both);
    expected->values_at_point(points, from_each);
    EXPECT_EQ(from_both, from_each);
    EXPECT_EQ(costs->calls().size(), 1);
  }
  Rows of_both(2, 3);
  Rows of_each(2, 3);
  together.costs({1, 3}, points, of_both);
  apart.costs({1, 3}, points, of_each);
  for (Index k = 0; k < 2; ++k) EXPECT_TRUE(std::ranges::equal(of_both.row(k), of_each.row(k)));
  EXPECT_EQ(costs->calls().size(), 1);
}

// w_1 + shift, of many unknowns.
class Wide final : public Objective {
 public:
  explicit Wide(double shift) : shift_(shift) {}
  [[nodiscard]] Index dimension() const override { return Index{1} << 20; }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index>) const override { return w[0] + shift_; }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    std::ranges::fill(gradient, double{0});
    gradient[0] = 1;
    return value(w, batch);
  }

 private:
  double shift_;
};

TEST(ObjectiveProblem, GathersNoMoreThan32Megabytes) {
  // Points of 8 MB: four in a call.
  const auto costs = std::make_shared<test::CountedCosts>(
      std::vector<std::shared_ptr<const Objective>>{std::make_shared<Wide>(10), std::make_shared<Wide>(20)});
  const ObjectiveProblem problem(costs);
  const auto oracle = problem.oracle({0, 2}, 0);
  Rows w(2, problem.dimension());
  w(1, 0) = 1;
  const std::vector<Index> offset = {0, 3, 6};
  const std::vector<std::int32_t> slot = {0, 1, 0, 1, 0, 1};
  const Reach reach = {{offset.data(), slot.data(), nullptr}, 2, 6, w.data(), w.stride(), w.columns()};
  std::vector<double> out(6);
  oracle->values_at(reach, out);
  EXPECT_EQ(out, (std::vector<double>{10, 11, 10, 21, 20, 21}));
  const auto calls = costs->calls();
  ASSERT_EQ(calls.size(), 2);
  EXPECT_EQ(calls[0].owners, (std::vector<Index>{0, 0, 0, 1}));
  EXPECT_EQ(calls[1].owners, (std::vector<Index>{1, 1}));
}

TEST(ObjectiveProblem, CountsWhatIsEvaluatedAlongTheGradient) {
  const ObjectiveProblem problem({std::make_shared<Polynomial>(), std::make_shared<Polynomial>()});
  const auto oracle = problem.oracle({0, 2}, 0);
  oracle->draw(0);
  const Rows w(2, 3, 1.0);
  const Evaluation& at_w = oracle->evaluate(w, false);
  std::vector<double> values(2);
  oracle->values_along(w, at_w.gradients, std::vector<Index>{1}, std::vector<double>{0, 0.5}, values);
  // At (1, 1, 1) the gradient is (2, 10, 4): w - g/2 = (0, -4, -1).
  EXPECT_EQ(values[1], -39);
  EXPECT_EQ(oracle->evaluations().values, 1);
}

TEST(ObjectiveProblem, CostsAreThoseOfAllSamples) {
  const auto model = std::make_shared<const Model>(naive::random_model("huber", 0.2));
  const ObjectiveProblem problem(objectives_of(model));
  EXPECT_EQ(problem.agents(), 3);
  EXPECT_EQ(problem.dimension(), 3);
  const Rows points = naive::random_points(4, 3);
  Rows costs(2, 4);
  problem.costs({1, 3}, points, costs);
  for (Index k = 0; k < 2; ++k) {
    for (Index p = 0; p < 4; ++p) {
      EXPECT_EQ(costs(k, p), naive::value(*model, k + 1, naive::all_samples(*model, k + 1), points.row(p)));
    }
  }
}

TEST(ObjectiveProblem, ABlockHasItsOwnAgents) {
  const auto model = std::make_shared<const Model>(naive::random_model("least-squares"));
  const ObjectiveProblem problem(objectives_of(model), {1, false}, Sampling::uniform);
  const auto whole = problem.oracle({0, 3}, 7);
  const auto block = problem.oracle({2, 3}, 7);
  const Rows points(3, 3, 0.5);
  const Rows point(1, 3, 0.5);
  for (Index i = 0; i < 10; ++i) {
    whole->draw(i);
    block->draw(i);
    EXPECT_EQ(block->evaluate(point, true).values[0], whole->evaluate(points, true).values[2]);
  }
}

TEST(ObjectiveProblem, KnowsNoSmoothness) {
  const ObjectiveProblem problem({std::make_shared<Polynomial>()});
  const auto oracle = problem.oracle({0, 1}, 0);
  std::vector<double> out(1);
  EXPECT_FALSE(oracle->smoothness(out));
  EXPECT_FALSE(oracle->is_quadratic());
}

TEST(ObjectiveProblem, RefusesNoAgents) {
  EXPECT_STREQ(refusal([] { return ObjectiveProblem(std::vector<std::shared_ptr<const Objective>>()); }).what(),
               "objectives: found none, expected at least one agent");
}

TEST(ObjectiveProblem, RefusesUnlikeDimensions) {
  const auto model = std::make_shared<const Model>(naive::random_model("least-squares", 0, 5));
  const std::vector<std::shared_ptr<const Objective>> unlike = {std::make_shared<Polynomial>(),
                                                                std::make_shared<OneAgent>(model, 0)};
  EXPECT_STREQ(refusal([&] { return ObjectiveProblem(unlike); }).what(),
               "objectives: agent 1 has dimension 5, agent 0 has 3");
}

TEST(ObjectiveProblem, RefusesAnAgentWithoutSamples) {
  const auto model = std::make_shared<const Model>(Model{naive::random_data({2, 0}, 3, false)});
  EXPECT_STREQ(refusal([&] { return ObjectiveProblem(objectives_of(model)); }).what(),
               "objectives: agent 1 has no samples");
  const ObjectiveProblem together(std::make_shared<test::CountedCosts>(objectives_of(model)));
  EXPECT_STREQ(refusal([&] { return together.oracle({0, 2}, 0); }).what(), "costs: agent 1 has no samples");
}

// Samples without end, of which it notes those that it is asked for.
class Endless final : public Objective {
 public:
  [[nodiscard]] Index dimension() const override { return 3; }
  [[nodiscard]] Index samples() const override { return endless_samples; }
  [[nodiscard]] double value(std::span<const double>, std::span<const Index> batch) const override {
    asked.insert(asked.end(), batch.begin(), batch.end());
    return 0;
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    std::ranges::fill(gradient, 0.0);
    return value(w, batch);
  }
  mutable std::vector<Index> asked;
};

TEST(ObjectiveProblem, CyclicSamplingTakesEndlessSamplesAsTheyCome) {
  for (const Index size : {1, 2}) {
    const auto stream = std::make_shared<Endless>();
    const ObjectiveProblem problem({stream}, {size, false}, Sampling::cyclic);
    const auto oracle = problem.oracle({0, 1}, 0);
    for (Index i = 0; i < 4; ++i) {
      oracle->draw(i);
      (void)oracle->evaluate(Rows(1, 3), true);
    }
    std::vector<Index> expected(4 * size);
    std::iota(expected.begin(), expected.end(), Index{0});
    EXPECT_EQ(stream->asked, expected);
  }
}

TEST(ObjectiveProblem, RefusesTheMeanOfEndlessSamples) {
  const ObjectiveProblem problem({std::make_shared<Polynomial>(), std::make_shared<Endless>()});
  Rows out(2, 1);
  EXPECT_STREQ(refusal<Error>([&] {
                 problem.costs({0, 2}, Rows(1, 3), out);
                 return 0;
               }).what(),
               "agent 1 has infinitely many samples, so there is no mean over all of them");
}

Reference minimum_of(const Problem& problem) {
  SerialCollective alone;
  return problem.minimise(alone, {0, problem.agents()});
}

TEST(ObjectiveProblem, IsLeastWhereALinearProblemWithTheSameCostsIs) {
  for (const std::string loss : {"least-squares", "logistic", "poisson"}) {
    SCOPED_TRACE(loss);
    const auto model = std::make_shared<const Model>(naive::random_model(loss, 0.2));
    const Reference expected = minimum_of(model->problem());
    const Reference found = minimum_of(ObjectiveProblem(objectives_of(model)));
    ASSERT_TRUE(found.known) << found.how;
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR((*found.minimiser)[j], expected.minimiser.value()[j], 1e-8);
    EXPECT_NEAR(found.value, expected.value, 1e-14);
    EXPECT_LE(found.accuracy, 1e-14);
    EXPECT_GE(found.accuracy, 0);
    EXPECT_EQ(found.how, "L-BFGS, then Newton's method on differences of gradients");
  }
}

TEST(ObjectiveProblem, HasItsMinimumByHand) {
  // The sum of w^2 / 2 and 3 (w - 4)^2 / 2 + 7 is least at 3: the mean of 4.5 and 8.5.
  for (const double scale : {1e-9, 1.0, 1e9}) {
    const Reference found = minimum_of(test::bowls({{{scale}, {0}}, {{3 * scale}, {4}, 7 * scale}}));
    ASSERT_TRUE(found.known) << found.how;
    EXPECT_NEAR((*found.minimiser)[0], 3, 1e-8);
    EXPECT_NEAR(found.value, 6.5 * scale, 1e-14 * scale);
  }
  // Where the search starts at the minimum.
  const Reference zero = minimum_of(test::bowls({{{1, 2}, {0, 0}}}));
  ASSERT_TRUE(zero.known) << zero.how;
  EXPECT_EQ(*zero.minimiser, (std::vector<double>{0, 0}));
  EXPECT_EQ(zero.value, 0);
}

TEST(ObjectiveProblem, IsSolvedForThroughTheOptions) {
  ProblemOptions options;
  EXPECT_EQ(make_reference(options.reference, test::bowls({{{1}, {2}}})).minimiser->size(), 1);
  options.reference = {false, 0.5};
  EXPECT_EQ(make_reference(options.reference, test::bowls({{{1}, {2}}})).value, 0.5);
}

// A function of one number and its derivative.
class Curve final : public Objective {
 public:
  using Function = std::function<double(double)>;
  Curve(Function value, Function slope) : value_(std::move(value)), slope_(std::move(slope)) {}
  [[nodiscard]] Index dimension() const override { return 1; }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index>) const override { return value_(w[0]); }
  double value_and_gradient(std::span<const double> w, std::span<const Index>,
                            std::span<double> gradient) const override {
    gradient[0] = slope_(w[0]);
    return value_(w[0]);
  }

 private:
  Function value_;
  Function slope_;
};

Reference minimum_of(Curve::Function value, Curve::Function slope) {
  return minimum_of(ObjectiveProblem({std::make_shared<Curve>(std::move(value), std::move(slope))}));
}

void expect_unknown(const Reference& reference, const std::string& why) {
  EXPECT_FALSE(reference.known);
  EXPECT_FALSE(reference.minimiser.has_value());
  EXPECT_EQ(reference.value, 0);
  EXPECT_TRUE(std::isnan(reference.accuracy));
  EXPECT_EQ(reference.how, "unknown: " + why + "; excess risk is the risk itself");
}

TEST(ObjectiveProblem, SaysWhenItsMinimumIsUnknown) {
  const std::string diverged = "the search for a minimum did not converge, or there is none";
  const std::string not_convex = "two starting points lead to different costs, so the problem is not convex";
  const std::string not_finite = "the cost at 0, where the search for a minimum starts, is not finite";
  {
    SCOPED_TRACE("a slope without end");
    expect_unknown(minimum_of([](double w) { return 3 - w; }, [](double) { return -1; }), diverged);
  }
  {
    SCOPED_TRACE("ever slower, without end");
    expect_unknown(minimum_of([](double w) { return -std::log(1 + w); }, [](double w) { return -1 / (1 + w); }),
                   diverged);
  }
  {
    SCOPED_TRACE("two wells, and a top between them at 0");
    expect_unknown(
        minimum_of([](double w) { return (w * w - 1) * (w * w - 1); }, [](double w) { return 4 * w * (w * w - 1); }),
        not_convex);
  }
  {
    // The second search starts in the higher of two wells, and ends there.
    SCOPED_TRACE("two wells, and a way down from 0 into the lower one");
    const double tilt = Stream(0, Purpose::start).normal() > 0 ? 0.3 : -0.3;
    expect_unknown(minimum_of([=](double w) { return (w * w - 1) * (w * w - 1) + tilt * w; },
                              [=](double w) { return 4 * w * (w * w - 1) + tilt; }),
                   not_convex);
  }
  {
    SCOPED_TRACE("not a number");
    expect_unknown(minimum_of([](double w) { return std::log(w - 1); }, [](double w) { return 1 / (w - 1); }),
                   not_finite);
  }
  expect_unknown(minimum_of(ObjectiveProblem({std::make_shared<Polynomial>(), std::make_shared<Endless>()})),
                 "there are infinitely many samples, so no cost is a mean over all of them");
}

TEST(ObjectiveProblem, IsMinimisedBesideAnEdge) {
  // w - log(w + 1/2) is least at 1/2, and not finite at and below -1/2.
  const Reference found =
      minimum_of([](double w) { return w - std::log(w + 0.5); }, [](double w) { return 1 - 1 / (w + 0.5); });
  ASSERT_TRUE(found.known) << found.how;
  EXPECT_NEAR((*found.minimiser)[0], 0.5, 1e-8);
  EXPECT_NEAR(found.value, 0.5, 1e-14);
}

TEST(ObjectiveProblem, AnErrorOfACostEndsTheSearch) {
  for (const int last : {0, 1, 5}) {
    int calls = 0;
    const auto slope = [&](double w) {
      if (calls++ == last) throw Error("out of luck");
      return std::exp(w) - 3;
    };
    EXPECT_STREQ(refusal<Error>([&] { return minimum_of([](double w) { return std::exp(w) - 3 * w; }, slope); }).what(),
                 "out of luck");
    EXPECT_EQ(calls, last + 1) << "it went on";
  }
}

}  // namespace
}  // namespace polyhop::objective_test

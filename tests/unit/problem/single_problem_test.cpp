// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Problems in single precision against the same problems in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/problem/objective.hpp"
#include "polyhop/problem/problem_options.hpp"
#include "polyhop/problem/softmax_problem.hpp"
#include "unit/core/refusal.hpp"
#include "unit/problem/naive.hpp"

namespace polyhop::single_problem_test {
namespace {

constexpr std::uint64_t seed = 11;
constexpr Index dimension = 11;

double near_to(double expected) { return 2e-5 * std::max(1.0, std::abs(expected)); }

// Everything that oracles of the two answer, at points that both can hold.
void expect_near(const Problem& single, const Problem& twice, const std::string& name) {
  SCOPED_TRACE(name);
  ASSERT_EQ(single.element(), Element::float32);
  const Index agents = twice.agents();
  const Block block{0, agents};
  const Rows rounded = converted(naive::random_points(agents, twice.dimension()), Element::float32);
  const Rows points = converted(rounded, Element::float64);
  const auto got = single.oracle(block, seed);
  const auto expected = twice.oracle(block, seed);
  got->draw(3);
  expected->draw(3);
  const Evaluation& here = got->evaluate(rounded, true);
  const Evaluation& there = expected->evaluate(points, true);
  Rows written(agents, twice.dimension());
  write_out(there.gradients, written);
  for (Index k = 0; k < agents; ++k) {
    EXPECT_NEAR(here.values[k], there.values[k], near_to(there.values[k]));
    for (Index j = 0; j < twice.dimension(); ++j) {
      EXPECT_NEAR(here.gradients.scale[k] * static_cast<double>(here.gradients.at<float>(k)[j]), written(k, j),
                  near_to(written(k, j)));
    }
  }
  const auto compare = [&](const std::vector<double>& x, const std::vector<double>& y) {
    for (std::size_t n = 0; n < x.size(); ++n) EXPECT_NEAR(x[n], y[n], near_to(y[n]));
  };
  std::vector<double> one(agents);
  std::vector<double> other(agents);
  const std::vector<double> steps(agents, 0.1);
  std::vector<Index> all;
  for (Index k = 0; k < agents; ++k) all.push_back(k);
  got->values_along(rounded, here.gradients, all, steps, one);
  expected->values_along(points, there.gradients, all, steps, other);
  compare(one, other);
  got->values_at_point(rounded, one);
  expected->values_at_point(points, other);
  compare(one, other);
  const bool known = expected->smoothness(other);
  ASSERT_EQ(got->smoothness(one), known);
  if (known) compare(one, other);

  // Each agent holds the point of every agent.
  std::vector<Index> offset = {0};
  std::vector<std::int32_t> slot;
  for (Index k = 0; k < agents; ++k) {
    for (Index l = 0; l < agents; ++l) slot.push_back(static_cast<std::int32_t>(l));
    offset.push_back(static_cast<Index>(slot.size()));
  }
  const auto reach = [&](const Rows& rows) {
    return Reach{{offset.data(), slot.data(), nullptr},
                 agents,
                 offset.back(),
                 rows.place(0),
                 rows.stride(),
                 rows.columns(),
                 rows.element()};
  };
  one.resize(slot.size());
  other.resize(slot.size());
  got->values_at(reach(rounded), one);
  expected->values_at(reach(points), other);
  compare(one, other);

  Rows costs(agents, agents);
  Rows costs_twice(agents, agents);
  single.costs(block, points, costs);
  twice.costs(block, points, costs_twice);
  for (Index k = 0; k < agents; ++k) {
    for (Index p = 0; p < agents; ++p) EXPECT_NEAR(costs(k, p), costs_twice(k, p), near_to(costs_twice(k, p)));
    EXPECT_EQ(single.misclassified(block, points.row(k).data()), twice.misclassified(block, points.row(k).data()));
  }
}

TEST(SinglePrecisionProblem, OfEveryLossIsNearDoublePrecision) {
  for (const std::string& loss : naive::all_losses) {
    for (const double l2 : {0.0, 0.3}) {
      for (const bool intercept : {false, true}) {
        for (const Batch batch : {Batch{1, false}, Batch{3, false}, Batch{0, true}}) {
          const naive::Model dense = naive::holey_model(loss, l2, dimension, intercept);
          for (const naive::Model& model : {dense, naive::sparse(dense)}) {
            LinearOptions options = model.options(batch, Sampling::shuffle);
            const LinearProblem twice(model.data, make_loss(loss, model.delta), options);
            options.element = Element::float32;
            const LinearProblem single(model.data, make_loss(loss, model.delta), options);
            expect_near(single, twice,
                        loss + " l2 " + std::to_string(l2) + " batch " + std::to_string(batch.size) +
                            (model.data.features.is_sparse() ? " sparse" : " dense") + (intercept ? " intercept" : ""));
            if (l2 == 0) continue;
            options.penalties.assign(dimension, 0.5);
            const LinearProblem scaled(model.data, make_loss(loss, model.delta), options);
            options.element = Element::float64;
            expect_near(scaled, LinearProblem(model.data, make_loss(loss, model.delta), options), "penalties");
          }
        }
      }
    }
  }
}

Dataset classes_of(Dataset data) {
  for (std::size_t n = 0; n < data.targets.size(); ++n) data.targets[n] = static_cast<double>(n % 3);
  return data;
}

TEST(SinglePrecisionProblem, OfClassesIsNearDoublePrecision) {
  const naive::Model dense = naive::holey_model("logistic", 0.3, dimension, false);
  for (const naive::Model& model : {dense, naive::sparse(dense)}) {
    for (const Batch batch : {Batch{1, false}, Batch{0, true}}) {
      LinearOptions options{.l2 = 0.3, .batch = batch, .sampling = Sampling::shuffle};
      const SoftmaxProblem twice(classes_of(model.data), 3, options);
      options.element = Element::float32;
      expect_near(SoftmaxProblem(classes_of(model.data), 3, options), twice, "softmax");
    }
  }
}

// sum_j (w_j - a_j)^2 of an agent, which sees doubles whatever the models are made of.
class Bowl final : public Objective {
 public:
  [[nodiscard]] Index dimension() const override { return 3; }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index>) const override {
    double sum = 0;
    for (std::size_t j = 0; j < w.size(); ++j) sum += (w[j] - 0.1) * (w[j] - 0.1);
    return sum;
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    for (std::size_t j = 0; j < w.size(); ++j) gradient[j] = 2 * (w[j] - 0.1);
    return value(w, batch);
  }
};

TEST(SinglePrecisionProblem, OfOnesOwnSeesDoubles) {
  const std::vector<std::shared_ptr<const Objective>> bowls(4, std::make_shared<Bowl>());
  expect_near(ObjectiveProblem(bowls, {}, Sampling::uniform, Element::float32), ObjectiveProblem(bowls), "bowls");
}

// The mean of very many gradients that are alike: in lanes of float it would stand still at 2^24 of them.
TEST(SinglePrecisionProblem, SumsOfManySamplesAreAddedUpInDouble) {
  constexpr Index samples = 40'000;
  Dataset data;
  Rows rows(samples, 1, 1.0 / 3);
  data.features = std::move(rows);
  data.offset = {0, samples};
  data.targets.assign(samples, -1.0);
  const LinearProblem problem(std::move(data), builtin_loss("least-squares").loss,
                              LinearOptions{.batch = {0, true}, .element = Element::float32});
  const auto oracle = problem.oracle({0, 1}, 0);
  oracle->draw(0);
  const Rows zero(1, 1, 0, Element::float32);
  EXPECT_NEAR(static_cast<double>(oracle->evaluate(zero, false).gradients.at<float>(0)[0]), 1.0 / 3, 1e-6);
}

TEST(SinglePrecisionProblem, MinimiserIsThatOfTheRoundedFeatures) {
  ProblemOptions options;
  options.dimension = 5;
  options.samples = 20;
  options.noise = 0.3;
  const auto twice = make_problem(options, 4, 1);
  options.precision = Element::float32;
  const auto single = make_problem(options, 4, 1);
  Dataset rounded = twice->data();
  rounded.features = single->data().features.widened(0, 80);
  const LinearProblem same(std::move(rounded), builtin_loss("least-squares").loss);
  EXPECT_EQ(make_reference({}, *single).minimiser, make_reference({}, same).minimiser);
  EXPECT_NE(make_reference({}, *single).minimiser, make_reference({}, *twice).minimiser);
}

TEST(SinglePrecisionProblem, RefusesFeaturesWhoseSquaresItCannotHold) {
  for (const double size : {1e30, 1e-30}) {
    Dataset data;
    Rows rows(2, 1, 1);
    rows(1, 0) = size;
    data.features = std::move(rows);
    data.offset = {0, 2};
    data.targets = {1, 1};
    const auto build = [&] {
      return LinearProblem(data, builtin_loss("least-squares").loss, LinearOptions{.element = Element::float32});
    };
    EXPECT_EQ(polyhop::refusal(build).what(),
              "problem.precision: the features of a sample of agent 0 have the norm " +
                  std::string(size > 1 ? "1e+30" : "1e-30") +
                  ", single precision takes 1e-18 to 1e18; rescale them (standardise = true), or use precision = "
                  "\"double\"");
  }
}

TEST(SinglePrecisionProblem, RowsAreNotTakenForDoubles) {
  Rows rows(1, 3, 0, Element::float32);
  for (const auto& use : std::vector<std::function<void()>>{[&] { (void)rows.row(0); }, [&] { (void)rows.data(); },
                                                            [&] { rows(0, 0) = 1; }, [&] { (void)along(rows).at(0); },
                                                            [&] {
                                                              Rows out(1, 3);
                                                              copy(rows, out);
                                                            },
                                                            [&] {
                                                              Rows out(1, 3);
                                                              add_rows(1, rows, 0, rows, 0, out, 0);
                                                            }}) {
    EXPECT_THROW(use(), Error);
  }
}

}  // namespace
}  // namespace polyhop::single_problem_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Every rule and every algorithm in single precision: the recursion of double precision but for its rounding, the same
// bits for any workers and after any stop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/algorithm_sets.hpp"
#include "support/isolated_runtime.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/trial.hpp"

namespace polyhop::precision_test {
namespace {

constexpr std::uint64_t seed = 6;

test::Instance instance_in(Element precision, Batch batch = {1, false}) {
  ProblemOptions options;
  options.dimension = 9;
  options.samples = 4;
  options.noise = 0.1;
  options.model.batch = batch;
  options.precision = precision;
  return test::synthetic_instance(test::network_of(Topology::ring, 5), options, seed);
}

std::vector<test::Pair> everything() {
  std::vector<test::Pair> out = test::algorithm_sets();
  for (const Value& step : test::all_sets()) {
    if (!test::is_exact(step)) out.push_back({"atc", step});
  }
  return out;
}

const std::vector<double>& models(const Snapshot& state) { return state.entries.front().data; }

TEST(SinglePrecision, FollowsDoublePrecision) {
  constexpr Index iterations = 6;
  for (const Batch batch : {Batch{1, false}, Batch{0, true}}) {
    for (const test::Pair& pair : everything()) {
      const auto single = instance_in(Element::float32, pair.of(batch));
      const auto twice = instance_in(Element::float64, pair.of(batch));
      const auto end = [&](const test::Instance& instance) {
        return test::follow(instance, pair.step, iterations, test::serial(), seed, nullptr, 0, pair.algorithm)
            .states.back();
      };
      const Snapshot got = end(single);
      const Snapshot expected = end(twice);
      ASSERT_EQ(got.entries.front().name, expected.entries.front().name);
      double size = 1;
      for (const double x : models(expected)) size = std::max(size, std::abs(x));
      bool rounded = false;
      for (std::size_t n = 0; n < models(got).size(); ++n) {
        EXPECT_NEAR(models(got)[n], models(expected)[n], 1e-3 * size) << pair.text();
        rounded = rounded || models(got)[n] != models(expected)[n];
        EXPECT_EQ(models(got)[n], static_cast<double>(static_cast<float>(models(got)[n]))) << pair.text();
      }
      EXPECT_TRUE(rounded) << pair.text();
    }
  }
}

TEST(SinglePrecision, HasTheSameBitsForAnyWorkersAndAfterAStop) {
  constexpr Index iterations = 6;
  const test::Launch isolated = [](const CombinationMatrix& matrix, VectorType vectors, const Body& body) {
    (void)test::launch_isolated(matrix, vectors, body);
  };
  for (const test::Pair& pair : everything()) {
    const auto instance = instance_in(Element::float32, pair.of({1, false}));
    const auto path = [&](const test::Launch& launch, const Snapshot* resume, Index first) {
      return test::follow(instance, pair.step, iterations, launch, seed, resume, first, pair.algorithm);
    };
    const test::Path whole = path(test::serial(), nullptr, 0);
    const test::Path rest = path(test::threads(3), &whole.states[2], 2);
    EXPECT_TRUE(test::same_bits(rest.states.back(), whole.states.back())) << pair.text();
    EXPECT_TRUE(test::same_bits(path(isolated, nullptr, 0).states.back(), whole.states.back())) << pair.text();
  }
}

TEST(SinglePrecision, StepsAreNotRounded) {
  // 0.1 is no float.
  const auto instance = instance_in(Element::float32);
  launch_serial(instance.matrix, instance.problem->vectors(), [&](Worker& worker) {
    test::Solver solver(*instance.problem, nullptr, test::step_of("constant", {{"value", 0.1}}), worker.network,
                        worker.network.zeros(5), seed);
    solver.iterate(0, worker.network);
    for (const double step : solver.algorithm->steps()) EXPECT_EQ(step, 0.1);
  });
}

}  // namespace
}  // namespace polyhop::precision_test

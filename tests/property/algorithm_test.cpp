// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// What every algorithm promises, whatever its equations: the same bits for any number of workers, after any stop, and
// when each agent holds nothing but what it was sent; and to be charged for all that it sends.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "polyhop/core/random.hpp"
#include "support/algorithm_sets.hpp"
#include "support/isolated_runtime.hpp"
#include "support/networks.hpp"
#include "support/own_costs.hpp"
#include "support/trial.hpp"

namespace polyhop::algorithm_test {
namespace {

constexpr std::uint64_t seed = 6;

test::Instance mild(Batch batch) {
  ProblemOptions options;
  options.dimension = 9;
  options.samples = 4;
  options.noise = 0.1;
  options.model.batch = batch;
  return test::synthetic_instance(test::network_of(Topology::ring, 5), options, seed);
}

TEST(EveryAlgorithm, GivesTheBitsOfAnUnbrokenRunAfterAnyStop) {
  constexpr Index iterations = 7;
  for (const Batch batch : {Batch{1, false}, Batch{0, true}}) {
    for (const test::Pair& pair : test::algorithm_sets()) {
      const auto instance = mild(pair.of(batch));
      const auto path = [&](Index workers, const Snapshot* resume, Index first) {
        return test::follow(instance, pair.step, iterations, test::threads(workers), seed, resume, first,
                            pair.algorithm);
      };
      const test::Path whole = path(2, nullptr, 0);
      for (Index stop = 0; stop <= iterations; ++stop) {
        const test::Path rest = path(3, &whole.states[stop], stop);
        for (std::size_t n = 0; n < rest.states.size(); ++n) {
          ASSERT_TRUE(test::same_bits(rest.states[n], whole.states[stop + n]))
              << pair.text() << ", stopped after " << stop;
        }
      }
    }
  }
}

// Five agents with six samples each of two features, and counts for targets.
test::Instance counts() {
  std::vector<std::vector<std::vector<double>>> samples(5);
  Stream stream(seed, Purpose::features);
  for (auto& own : samples) {
    for (int n = 0; n < 6; ++n) own.push_back({stream.normal(), stream.normal(), static_cast<double>(stream.below(4))});
  }
  return {
      test::network_of(Topology::path, 5), test::problem_of(samples, "poisson", 0, {2, false}, Sampling::uniform), {}};
}

test::Instance noisy(double l2, Batch batch, Index dimension = 4, Element precision = Element::float64) {
  ProblemOptions options;
  options.precision = precision;
  options.dimension = dimension;
  options.samples = 6;
  options.noise = 1;
  options.model.l2 = l2;
  options.model.batch = batch;
  return test::synthetic_instance(test::network_of(Topology::path, 5), options, seed);
}

// Graph-aware steps end after 32, 64, ... iterations; under a penalty and of counts there are none; of counts steps
// fall from the end of some window on.
TEST(Automatic, GivesTheBitsOfAnUnbrokenRunInEveryStage) {
  constexpr Index iterations = 700;
  const auto check = [](const test::Instance& instance, Index last) {
    const auto path = [&](Index workers, const Snapshot* resume, Index first) {
      return test::follow(instance, {}, iterations, test::threads(workers), seed, resume, first, "auto");
    };
    const test::Path whole = path(1, nullptr, 0);
    const auto& entries = whole.states.back().entries;
    const double stage = std::ranges::find(entries, "auto.stage", &Snapshot::Entry::name)->data[0];
    EXPECT_EQ(std::bit_cast<Index>(stage), last);
    for (const Index stop : {0, 1, 16, 31, 32, 33, 34, 50, 64, 65, 128, 129, 257, 641}) {
      const test::Path rest = path(3, &whole.states[stop], stop);
      ASSERT_TRUE(test::same_bits(rest.states.back(), whole.states.back())) << "stopped after " << stop;
    }
  };
  check(noisy(0, {1, false}), 1);
  check(noisy(0.1, {2, false}), 1);
  check(counts(), 2);
}

struct ByEpochs {
  test::Instance instance;
  Index iterations;
  const char* begun_by;
};

// Passes of Newton's method, and with many numbers batches, then whole gradients: six samples per agent, epochs of six
// or three iterations, the turn after 19.
std::vector<ByEpochs> runs_by_epochs() {
  std::vector<ByEpochs> out;
  for (const Element precision : {Element::float64, Element::float32}) {
    out.push_back({noisy(0, {1, false}, 4, precision), 28, "newton.begun"});
    out.push_back({noisy(0.1, {2, false}, 4, precision), 20, "newton.begun"});
    out.push_back({noisy(0, {1, false}, 1001, precision), 49, "quasi_newton.begun"});
  }
  out.push_back({counts(), 20, "newton.begun"});
  return out;
}

TEST(Automatic, GivesTheBitsOfAnUnbrokenRunByEpochs) {
  for (const auto& [instance, iterations, begun_by] : runs_by_epochs()) {
    const auto path = [&, end = iterations](Index workers, const Snapshot* resume, Index first) {
      return test::follow(instance, {}, end, test::threads(workers), seed, resume, first, "auto",
                          GradientEstimate::plain, end);
    };
    const test::Path whole = path(1, nullptr, 0);
    const auto& entries = whole.states.back().entries;
    const double begun = std::ranges::find(entries, begun_by, &Snapshot::Entry::name)->data[0];
    EXPECT_EQ(std::bit_cast<Index>(begun), 1);
    for (Index stop = 0; stop < iterations; ++stop) {
      const test::Path rest = path(3, &whole.states[stop], stop);
      ASSERT_TRUE(test::same_bits(rest.states.back(), whole.states.back())) << "stopped after " << stop;
    }
  }
}

TEST(Automatic, UsesOnlyWhatItWasSentByEpochs) {
  for (const auto& [instance, iterations, begun_by] : runs_by_epochs()) {
    std::vector<Traffic> copied;
    const test::Launch isolated = [&](const CombinationMatrix& matrix, VectorType vectors, const Body& body) {
      copied = test::launch_isolated(matrix, vectors, body);
    };
    const auto path = [&, end = iterations](const test::Launch& launch) {
      return test::follow(instance, {}, end, launch, seed, nullptr, 0, "auto", GradientEstimate::plain, end);
    };
    const test::Path alone = path(isolated);
    ASSERT_EQ(alone.states.back().entries.front().name, "w");
    for (const double x : alone.states.back().entries.front().data) ASSERT_TRUE(std::isfinite(x)) << begun_by;
    EXPECT_TRUE(test::same_bits(alone.states.back(), path(test::serial()).states.back())) << begun_by;
    for (std::size_t k = 0; k < copied.size(); ++k) {
      EXPECT_EQ(alone.traffic[k].vectors, copied[k].vectors);
      EXPECT_EQ(alone.traffic[k].scalars, copied[k].scalars);
    }
  }
}

// Costs given as functions, of agents whose data do not fit.
ObjectiveProblem own_costs(Element precision, Batch batch) {
  ProblemOptions options;
  options.dimension = 3;
  options.samples = 4;
  options.noise = 3;
  const auto costs = std::make_shared<test::OwnCosts>(make_problem(options, 5, seed), "logistic", 0.01);
  return ObjectiveProblem(costs, batch, Sampling::uniform, precision);
}

TEST(Automatic, GivesTheBitsOfAnUnbrokenRunOnOwnCosts) {
  constexpr Index iterations = 72;
  const CombinationMatrix matrix = test::network_of(Topology::path, 5);
  for (const Element precision : {Element::float64, Element::float32}) {
    for (const Batch batch : {Batch{1, false}, Batch{2, false}, Batch{0, true}}) {
      for (const Index end : {Index{0}, iterations}) {
        const ObjectiveProblem problem = own_costs(precision, batch);
        const auto path = [&](const test::Launch& launch, const Snapshot* resume, Index first) {
          return test::follow(matrix, problem, nullptr, {}, iterations, launch, seed, resume, first, "auto",
                              GradientEstimate::plain, end);
        };
        const test::Path whole = path(test::threads(1), nullptr, 0);
        const auto& entries = whole.states.back().entries;
        const double stage = std::ranges::find(entries, "auto.stage", &Snapshot::Entry::name)->data[0];
        EXPECT_EQ(std::bit_cast<Index>(stage), 1);
        EXPECT_TRUE(test::is_finite(whole.states.back()));
        for (Index stop = 0; stop < iterations; ++stop) {
          const test::Path rest = path(test::threads(3), &whole.states[stop], stop);
          ASSERT_TRUE(test::same_bits(rest.states.back(), whole.states.back())) << "stopped after " << stop;
        }
        const test::Path alone = path(test::launch_isolated, nullptr, 0);
        EXPECT_TRUE(test::same_bits(alone.states.back(), whole.states.back()));
      }
    }
  }
}

TEST(EveryAlgorithm, UsesOnlyWhatItWasSentAndIsChargedForIt) {
  constexpr Index iterations = 4;
  for (const test::Pair& pair : test::algorithm_sets()) {
    SCOPED_TRACE(pair.text());
    const auto instance = mild(pair.of({1, false}));
    std::vector<Traffic> copied;
    const test::Launch isolated = [&](const CombinationMatrix& matrix, VectorType vectors, const Body& body) {
      copied = test::launch_isolated(matrix, vectors, body);
    };
    const auto path = test::follow(instance, pair.step, iterations, isolated, seed, nullptr, 0, pair.algorithm);
    const auto serial = test::follow(instance, pair.step, iterations, test::serial(), seed, nullptr, 0, pair.algorithm);
    ASSERT_TRUE(test::is_finite(path.states.back()));
    EXPECT_TRUE(test::same_bits(path.states.back(), serial.states.back()));
    for (std::size_t k = 0; k < copied.size(); ++k) {
      EXPECT_EQ(path.traffic[k].vectors, copied[k].vectors);
      EXPECT_EQ(path.traffic[k].scalars, copied[k].scalars);
      EXPECT_EQ(path.traffic[k].rounds, serial.traffic[0].rounds);
      EXPECT_LE(path.traffic[k].rounds, copied[k].rounds);
      if (pair.name() != "auto" && !test::shares_rounds(pair.step)) {
        EXPECT_EQ(path.traffic[k].rounds, copied[k].rounds);
      }
    }
  }
}

}  // namespace
}  // namespace polyhop::algorithm_test

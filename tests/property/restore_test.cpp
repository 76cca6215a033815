// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Stopped after any iteration, saved, and taken up by another number of workers: the bits of an unbroken run.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/trial.hpp"

namespace polyhop::restore_test {
namespace {

using test::gap;
using test::step_of;

constexpr std::uint64_t seed = 6;

test::Instance noisy(Sampling sampling, Batch batch) {
  ProblemOptions options;
  options.dimension = 9;
  options.samples = 4;
  options.noise = 1;
  options.model.sampling = sampling;
  options.model.batch = batch;
  return test::synthetic_instance(test::network_of(Topology::ring, 5), options, seed);
}

// Everything after each stop must be as if there had been none.
void expect_unbroken(const test::Instance& instance, const Value& step, Index iterations, Index workers, Index others,
                     const Value& algorithm = "atc", GradientEstimate gradient = GradientEstimate::plain) {
  const test::Path whole =
      test::follow(instance, step, iterations, test::threads(workers), seed, nullptr, 0, algorithm, gradient);
  for (Index stop = 0; stop <= iterations; ++stop) {
    const Snapshot& saved = whole.states[stop];
    const test::Path rest =
        test::follow(instance, step, iterations, test::threads(others), seed, &saved, stop, algorithm, gradient);
    for (std::size_t n = 0; n < rest.states.size(); ++n) {
      ASSERT_TRUE(test::same_bits(rest.states[n], whole.states[stop + n]))
          << step.text() << ", stopped after " << stop << " iterations, " << n << " iterations later";
    }
  }
}

TEST(Restore, GivesTheBitsOfAnUnbrokenRunWhereARuleRemembersNothing) {
  const auto instance = noisy(Sampling::shuffle, {3, false});
  for (const Value& step : {gap(), gap({{"bound", "tight"}, {"damping", "norms"}, {"sweeps", 3}}),
                            step_of("decay", {{"value", 0.1}}), step_of("polyak"), step_of("sps", {{"max", 0.1}})}) {
    expect_unbroken(instance, step, 12, 2, 3);
  }
}

TEST(Restore, GivesTheBitsOfAnUnbrokenRunWithTheCapThatRemembers) {
  for (const char* sums : {"mixed", "own"}) {
    for (const char* damping : {"rows", "norms"}) {
      const Value step = gap({{"bound", "tight"}, {"damping", damping}, {"cap", "distance"}, {"sums", sums}});
      // Beyond iteration 50, where the cap begins.
      expect_unbroken(noisy(Sampling::uniform, {1, false}), step, 56, 1, 2);
    }
  }
}

TEST(Restore, GivesTheBitsOfAnUnbrokenRunWhereARuleRemembersItsLastMove) {
  for (const Batch batch : {Batch{1, false}, Batch{0, true}}) {
    for (const Value& step :
         {step_of("adgd"), step_of("adgd", {{"agree", "mean"}}), step_of("barzilai-borwein", {{"agree", "min"}}),
          step_of("barzilai-borwein", {{"kind", "short"}, {"max", 0.1}}), step_of("decsps")}) {
      expect_unbroken(noisy(Sampling::shuffle, batch), step, 8, 2, 3);
    }
  }
}

TEST(Restore, GivesTheBitsOfAnUnbrokenRunWhereGradientsRemember) {
  for (const GradientEstimate gradient : {GradientEstimate::saga, GradientEstimate::lsvrg}) {
    for (const Value& step : {step_of("constant", {{"value", 0.05}}), step_of("adgd")}) {
      expect_unbroken(noisy(Sampling::uniform, {2, false}), step, 12, 2, 3, "exact-diffusion", gradient);
      expect_unbroken(noisy(Sampling::shuffle, {1, false}), step, 12, 3, 1, "gradient-tracking", gradient);
    }
  }
}

TEST(Restore, GivesTheBitsOfAnUnbrokenRunWithALevelThatIsEstimated) {
  // Beyond iteration 99, the end of the second epoch, where levels may rise.
  const auto instance = noisy(Sampling::uniform, {1, false});
  for (const char* rule : {"polyak", "decsps"}) {
    expect_unbroken(instance, step_of(rule, {{"optimum", "estimate"}}), 104, 2, 3);
  }
}

TEST(Restore, GivesTheBitsOfAnUnbrokenRunUnderEverySampling) {
  const Value step = gap({{"bound", "linear"}, {"damping", "rows"}, {"cap", "distance"}});
  for (const Sampling sampling : {Sampling::uniform, Sampling::shuffle, Sampling::cyclic}) {
    for (const Batch batch : {Batch{1, false}, Batch{3, false}, Batch{0, true}}) {
      SCOPED_TRACE(name_of(sampling));
      expect_unbroken(noisy(sampling, batch), step, 14, 3, 1);
    }
  }
}

TEST(Restore, TakesUpEveryRule) {
  const auto instance = noisy(Sampling::uniform, {1, false});
  for (const Value& step : test::all_sets()) {
    const Index iterations = test::is_exact(step) ? 2 : 54;
    const Index stop = iterations - 2;
    const test::Path whole = test::follow(instance, step, iterations, test::serial(), seed);
    const Snapshot& saved = whole.states[stop];
    const test::Path rest = test::follow(instance, step, iterations, test::threads(4), seed, &saved, stop);
    EXPECT_TRUE(test::same_bits(rest.states.back(), whole.states.back())) << step.text();
  }
}

TEST(Restore, RefusesTheStateOfAnotherRule) {
  const auto instance = noisy(Sampling::uniform, {1, false});
  const test::Path path = test::follow(instance, step_of("polyak"), 1, test::serial(), seed);
  EXPECT_THROW(test::follow(instance, gap({{"cap", "distance"}}), 1, test::serial(), seed, &path.states[0]), Error);
}

}  // namespace
}  // namespace polyhop::restore_test

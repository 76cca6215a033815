// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/automatic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "polyhop/network/runtime.hpp"
#include "support/bowls.hpp"
#include "support/networks.hpp"
#include "support/rule_run.hpp"
#include "support/trial.hpp"

namespace polyhop::automatic_test {
namespace {

using test::bowls;
using test::largest_distance;
using test::network_of;
using test::problem_of;
using test::rows_of;

// ---- the watch over progress ----

// The iterations with a verdict among the first `count`, and its ratios; `number(n, agent)` comes in at iteration n.
struct Verdicts {
  std::vector<Index> at;
  std::vector<double> ratio;
};
Verdicts watch(Network& network, Index count, const std::function<double(Index, Index)>& number) {
  const Block block = network.block();
  ProgressWatch progress(block.size(), network.agents());
  std::vector<double> numbers(block.size());
  Verdicts out;
  for (Index n = 0; n < count; ++n) {
    for (Index k = 0; k < block.size(); ++k) numbers[k] = number(n, block.first + k);
    if (!progress.observe(numbers, network)) continue;
    out.at.push_back(n);
    out.ratio.push_back(progress.ratio());
  }
  return out;
}

// first + ... + last - 1
double sum_of(Index first, Index last) { return static_cast<double>((first + last - 1) * (last - first)) / 2; }

TEST(ProgressWatch, JudgesWindowsThatDouble) {
  launch_serial(network_of(Topology::path, 4), 1, [](Worker& worker) {
    const Verdicts found = watch(worker.network, 1100, [](Index n, Index) { return static_cast<double>(n); });
    ASSERT_EQ(found.at, (std::vector<Index>{128, 256, 512, 1024}));
    // Numbers that count the iterations tell which of them each half holds.
    for (std::size_t v = 0; v < found.at.size(); ++v) {
      const Index e = found.at[v];
      EXPECT_EQ(found.ratio[v], sum_of(3 * e / 4, e) / sum_of(e / 2, 3 * e / 4)) << "window that ends at " << e;
    }
  });
}

TEST(ProgressWatch, WaitsLongerForFewAgents) {
  for (const auto& [agents, first] : {std::pair{1, 512}, {2, 256}, {3, 256}, {4, 128}, {9, 128}}) {
    launch_serial(network_of(Topology::path, agents), 1, [first = first](Worker& worker) {
      const Verdicts found = watch(worker.network, 2 * first + 1, [](Index, Index) { return 1.0; });
      EXPECT_EQ(found.at, (std::vector<Index>{first, 2 * first})) << worker.network.agents() << " agents";
      EXPECT_EQ(found.ratio, (std::vector<double>{1, 1}));
    });
  }
}

TEST(ProgressWatch, ComparesSumsOverTheWholeNetwork) {
  // Agent 0 falls from 8 to 1, all others rise from 1 to 3: 32 iterations in each half.
  const auto number = [](Index n, Index agent) -> double {
    const bool late = n >= 96;
    return agent == 0 ? (late ? 1 : 8) : (late ? 3 : 1);
  };
  for (const Index workers : {1, 2, 5}) {
    std::vector<double> ratios(workers);
    launch_threads(network_of(Topology::path, 5), 1, workers, [&](Worker& worker) {
      const Verdicts found = watch(worker.network, 130, number);
      if (found.ratio.size() == 1) ratios[worker.number] = found.ratio[0];
    });
    for (const double ratio : ratios) EXPECT_EQ(ratio, (1 + 4 * 3) / (8.0 + 4 * 1)) << workers << " workers";
  }
}

TEST(ProgressWatch, CallsNothingNoRatio) {
  launch_serial(network_of(Topology::path, 4), 1, [](Worker& worker) {
    EXPECT_EQ(watch(worker.network, 200, [](Index, Index) { return 0.0; }).ratio, std::vector<double>{0});
    // Nothing before, something now.
    const auto late = [](Index n, Index) { return n < 96 ? 0.0 : 1.0; };
    EXPECT_EQ(watch(worker.network, 200, late).ratio, std::vector<double>{0});
  });
}

// A loss that leaves its constant out may fall below 0, where shares mean nothing: whoever supposed 0 was wrong.
TEST(ProgressWatch, CallsCostsBelowZeroStalled) {
  launch_serial(network_of(Topology::path, 4), 1, [](Worker& worker) {
    const double stalled = std::numeric_limits<double>::infinity();
    EXPECT_EQ(watch(worker.network, 200, [](Index, Index) { return -1.0; }).ratio, std::vector<double>{stalled});
    const auto falling = [](Index n, Index) { return n < 96 ? 1.0 : -2.0; };
    EXPECT_EQ(watch(worker.network, 200, falling).ratio, std::vector<double>{stalled});
    EXPECT_EQ(watch(worker.network, 200, [](Index, Index) { return std::nan(""); }).ratio,
              std::vector<double>{stalled});
  });
}

TEST(ProgressWatch, ForgetsEverythingAtARestart) {
  launch_serial(network_of(Topology::path, 4), 1, [](Worker& worker) {
    ProgressWatch progress(4, 4);
    const std::vector<double> large(4, 1000.0);
    const std::vector<double> small(4, 1.0);
    for (Index n = 0; n < 300; ++n) progress.observe(large, worker.network);  // in the window [256, 512)
    progress.restart();
    Index verdict = -1;
    for (Index n = 0; n < 200 && verdict < 0; ++n) {
      if (progress.observe(small, worker.network)) verdict = n;
    }
    EXPECT_EQ(verdict, 128);
    EXPECT_EQ(progress.ratio(), 1);
  });
}

TEST(ProgressWatch, SendsAtVerdictsOnly) {
  launch_serial(network_of(Topology::path, 4), 1, [](Worker& worker) {
    (void)watch(worker.network, 128, [](Index, Index) { return 1.0; });
    EXPECT_EQ(worker.network.algorithm_traffic().rounds, 0);
    (void)watch(worker.network, 129, [](Index, Index) { return 1.0; });
    // Three links to the far end and back; two numbers up and down each of them.
    EXPECT_EQ(worker.network.algorithm_traffic().rounds, 6);
    EXPECT_EQ(worker.network.algorithm_traffic().scalars, 6 * 2);
    EXPECT_EQ(worker.network.algorithm_traffic().vectors, 0);
  });
}

// ---- the algorithm ----

test::RuleRun run_auto(const CombinationMatrix& matrix, const Problem& problem, const Rows& start, Index iterations) {
  return test::run_rule(matrix, problem, {}, start, iterations, "auto");
}

// A whole number of the state, which is kept as its bits.
Index count(const test::RuleRun& run, const char* name) { return std::bit_cast<std::int64_t>(run.named(name)[0]); }

test::Instance synthetic(Topology topology, Index agents, double noise, double spread, bool full, Index dimension = 4) {
  ProblemOptions options;
  options.dimension = dimension;
  options.samples = 6;
  options.noise = noise;
  options.minimiser_spread = spread;
  options.model.batch.all = full;
  return test::synthetic_instance(network_of(topology, agents), options, 5);
}

TEST(Automatic, StaysGraphAwareAndConvergesLinearlyWhereTheDataFit) {
  const auto instance = synthetic(Topology::ring, 5, 0, 0, false, 16);
  const Rows start(5, 16);
  std::vector<double> distance;
  for (const Index iterations : {0, 100, 200, 300, 400}) {
    const auto run = run_auto(instance.matrix, *instance.problem, start, iterations);
    distance.push_back(largest_distance(run.w, instance.reference.minimiser.value()));
    EXPECT_EQ(count(run, "auto.stage"), 0);
    EXPECT_EQ(run.named("auto.cap_factor")[0], iterations > 256 ? 32 : iterations > 128 ? 8 : 2) << iterations;
  }
  for (std::size_t n = 1; n < distance.size(); ++n) EXPECT_LT(distance[n], 0.1 * distance[n - 1]) << n;
  EXPECT_LT(distance.back(), 1e-5);
}

TEST(Automatic, ReachesTheMinimiserWithFullGradientsOfAgentsThatDisagree) {
  for (const auto& [topology, agents] : {std::pair{Topology::ring, 5}, {Topology::path, 3}, {Topology::star, 5}}) {
    const auto instance = synthetic(topology, agents, 0.5, 1, true);
    const auto run = run_auto(instance.matrix, *instance.problem, Rows(agents, 4), 3000);
    EXPECT_LT(largest_distance(run.w, instance.reference.minimiser.value()), 1e-9) << name_of(topology);
    EXPECT_GE(count(run, "auto.stage"), 1);
  }
}

TEST(Automatic, WatchesCorrectedGradientsOverCurvatures) {
  // Stage 1 begins with iteration 128, and its first window 64 iterations later.
  const auto instance = synthetic(Topology::path, 5, 1, 0, false);
  const auto before = run_auto(instance.matrix, *instance.problem, Rows(5, 4), 128 + 64);
  const auto after = run_auto(instance.matrix, *instance.problem, Rows(5, 4), 128 + 65);
  ASSERT_EQ(count(after, "auto.stage"), 1);
  EXPECT_EQ(before.named("auto.early"), std::vector<double>(5, 0.0));
  for (std::size_t k = 0; k < 5; ++k) {
    double moved = 0;  // mu_k^2 ||g_k + d_k||^2
    for (Index j = 0; j < 4; ++j) {
      const double difference = after.w(static_cast<Index>(k), j) - before.w(static_cast<Index>(k), j);
      moved += difference * difference;
    }
    const double mu = after.mu.back()[k];
    EXPECT_NEAR(after.named("auto.early")[k] / (moved / (mu * mu) / after.named("descent.along_gradients")[k]), 1, 1e-9)
        << k;
  }
}

TEST(Automatic, FallsToRestAmongNoiseThatStays) {
  const auto instance = synthetic(Topology::path, 5, 1, 0, false);
  const auto run = run_auto(instance.matrix, *instance.problem, Rows(5, 4), 1200);
  EXPECT_EQ(count(run, "auto.stage"), 2);
  // L_k does not fall any more, so that steps do: by 1/sqrt(1 + tau/200) at least.
  const auto tau = static_cast<double>(count(run, "auto.falling"));
  EXPECT_EQ(tau, 1200 - 1 - 256);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_LE(run.mu.back()[k], run.mu[256][k] / std::sqrt(1 + tau / 200) * (1 + 1e-12)) << k;
    EXPECT_NEAR(run.mu.back()[k] * run.named("descent.along_gradients")[k], 1 / std::sqrt(1 + tau / 200), 1e-12) << k;
  }
}

TEST(Automatic, NeedsNoSmoothness) {
  // One minimiser, and costs of 0 there: stays graph-aware.
  const ObjectiveProblem fitting =
      bowls({{{1, 4}, {1, -2}}, {{10, 3}, {1, -2}}, {{2, 2}, {1, -2}}, {{30, 50}, {1, -2}}});
  const CombinationMatrix matrix = network_of(Topology::path, 4);
  const auto run = run_auto(matrix, fitting, Rows(4, 2), 300);
  EXPECT_LT(largest_distance(run.w, {1, -2}), 1e-9);
  EXPECT_EQ(count(run, "auto.stage"), 0);

  // Four minimisers: (1 + 10 c + ...) / sum of the curvatures, axis by axis.
  const ObjectiveProblem unlike = bowls({{{1, 4}, {1, 0}}, {{10, 3}, {2, 1}}, {{2, 2}, {-3, 5}}, {{3, 5}, {0, -1}}});
  const std::vector<double> best = {(1 + 20 - 6) / 16.0, (3 + 10 - 5) / 14.0};
  const auto other = run_auto(matrix, unlike, Rows(4, 2), 2000);
  EXPECT_LT(largest_distance(other.w, best), 1e-9);
  EXPECT_GE(count(other, "auto.stage"), 1);
}

TEST(Automatic, RestsAtACommonMinimiser) {
  const CombinationMatrix matrix = network_of(Topology::path, 4);
  const Rows best = rows_of({{1, -2}, {1, -2}, {1, -2}, {1, -2}});
  for (const double least : {0.0, 3.0}) {
    const ObjectiveProblem problem = bowls(
        {{{1, 4}, {1, -2}, least}, {{10, 3}, {1, -2}, least}, {{2, 2}, {1, -2}, least}, {{30, 50}, {1, -2}, least}});
    const auto run = run_auto(matrix, problem, best, 700);
    EXPECT_EQ(count(run, "auto.stage"), least > 0 ? 1 : 0);  // costs that do not fall; gradients that are gone
    EXPECT_LT(largest_distance(run.w, {1, -2}), 1e-14);
    EXPECT_TRUE(test::is_finite(run.state));
    for (const auto& mu : run.mu) {
      for (const double step : mu) ASSERT_TRUE(std::isfinite(step));
    }
  }
}

TEST(Automatic, RestsWhereThereIsNothingToLearn) {
  // No features at all: the smoothness is 0, and 1/0 is no step.
  const auto problem = problem_of({{{0, 0, 1}}, {{0, 0, 2}}, {{0, 0, 3}}, {{0, 0, 4}}});
  const Rows start = rows_of({{1, 2}, {1, 2}, {1, 2}, {1, 2}});
  const auto run = run_auto(network_of(Topology::path, 4), *problem, start, 700);
  EXPECT_EQ(count(run, "auto.stage"), 1);
  EXPECT_LT(largest_distance(run.w, {1, 2}), 1e-14);
  EXPECT_EQ(run.mu.back(), std::vector<double>(4, 1.0));
  EXPECT_TRUE(test::is_finite(run.state));
}

TEST(Automatic, LearnsThroughAnAgentThatHasNothingToLearn) {
  // The middle of the path has no features: the others' minimisers are 1 and 4, their curvatures 1 and 4.
  const auto problem = problem_of({{{1, 1}}, {{0, 2}}, {{2, 8}}}, "least-squares", 0, {.size = 1, .all = true});
  const auto run = run_auto(network_of(Topology::path, 3), *problem, Rows(3, 1), 3000);
  EXPECT_GE(count(run, "auto.stage"), 1);
  EXPECT_LT(largest_distance(run.w, {(1 + 4 * 4) / 5.0}), 1e-9);
}

}  // namespace
}  // namespace polyhop::automatic_test

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
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/network/runtime.hpp"
#include "support/bowls.hpp"
#include "support/networks.hpp"
#include "support/own_costs.hpp"
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

// ---- the watch over claims ----

// Claims of `claim(n)` an agent while each goes as far as `way(n)` along one axis; the iteration at which they are
// found broken, or -1.
Index breaks(Index count, const std::function<double(Index)>& claim, const std::function<double(Index)>& way) {
  Index found = -1;
  const ObjectiveProblem problem = bowls({{{1}, {1}}, {{1}, {1}}, {{1}, {1}}});
  launch_serial(network_of(Topology::path, 3), 1, [&](Worker& worker) {
    Rows w(3, 1);
    ClaimWatch watch(w);
    const auto oracle = problem.oracle({0, 3}, 0);
    for (Index n = 0; n < count && found < 0; ++n) {
      oracle->draw(n);
      const Iterate at(n, w, oracle->evaluate(w, true), *oracle);
      if (watch.broken(w, at, worker.network)) found = n;
      for (Index k = 0; k < 3; ++k) w(k, 0) = way(n);
      watch.observe(std::vector<double>(3, claim(n)), w);
    }
  });
  return found;
}

TEST(ClaimWatch, BelievesClaimsThatAreKept) {
  // Ever smaller steps towards 2: what was won of 4 is at most what was gone.
  const auto way = [](Index n) { return 2 - std::pow(0.9, static_cast<double>(n)); };
  EXPECT_EQ(breaks(
                600, [](Index n) { return 0.4 * std::pow(0.81, static_cast<double>(n)); }, way),
            -1);
}

TEST(ClaimWatch, FindsTheSameWayWonAgainAndAgain) {
  // To and fro between 0 and 1, a claim of 1 each time: 16 at the first window's middle, 32 at its end.
  const auto way = [](Index n) { return static_cast<double>(n % 2); };
  EXPECT_EQ(breaks(
                600, [](Index) { return 1.0; }, way),
            32);
  EXPECT_EQ(breaks(
                100, [](Index) { return 3.0 / 32; }, way),
            -1);
  // Small claims come up in a longer window: 3.2 at 64 of [64, 128).
  EXPECT_EQ(breaks(
                600, [](Index) { return 3.2 / 64; }, way),
            128);
}

TEST(ClaimWatch, WaitsWhereClaimsNoLongerGrow) {
  // 4 at once, and nothing after it: not broken, only slow.
  const auto way = [](Index n) { return static_cast<double>(n % 2); };
  EXPECT_EQ(breaks(
                33, [](Index n) { return n == 0 ? 4.0 : 0.0; }, way),
            -1);
}

TEST(ClaimWatch, FindsThatNobodyMoves) {
  EXPECT_EQ(breaks(
                600, [](Index) { return 0.0; }, [](Index) { return 0.0; }),
            16);
  EXPECT_EQ(breaks(
                600, [](Index) { return 0.0; }, [](Index n) { return n == 0 ? 1e-9 : 1.0; }),
            -1);
}

// ---- the watch over the start ----

// The verdicts on agents at `at(n)` whose costs are (w - 1)^2/2 + least, from 3.
std::vector<Index> losing(Index count, const std::function<double(Index)>& at, double least = 0) {
  std::vector<Index> found;
  const ObjectiveProblem problem = bowls({{{1}, {1}, least}, {{1}, {1}, least}, {{1}, {1}, least}});
  launch_serial(network_of(Topology::path, 3), 1, [&](Worker& worker) {
    StartWatch watch(rows_of({{3}, {3}, {3}}));
    const auto oracle = problem.oracle({0, 3}, 0);
    for (Index n = 0; n < count; ++n) {
      oracle->draw(n);
      const Rows w = rows_of({{at(n)}, {at(n)}, {at(n)}});
      if (watch.lost_ground({n, w, oracle->evaluate(w, true), *oracle}, worker.network)) found.push_back(n);
      if (n == count - 1) found.push_back(watch.is_better() ? -1 : -2);
    }
    // Two links to the far end and back, two numbers up and down each of them, after every 16 iterations.
    EXPECT_EQ(worker.network.algorithm_traffic().scalars, (count - 1) / 16 * 2 * 2 * 2);
    EXPECT_EQ(oracle->evaluations().values, 2 * 3 * count);
  });
  return found;
}

TEST(StartWatch, ComparesCostsWithThoseOfTheStart) {
  // The start costs 2; at 1 + 2 sqrt(2.1), it is 4.2.
  const double far = 1 + 2 * std::sqrt(2.1);
  EXPECT_EQ(losing(40, [](Index) { return 2.9; }), (std::vector<Index>{-2}));
  EXPECT_EQ(losing(40, [](Index) { return 3.1; }), (std::vector<Index>{-1}));
  EXPECT_EQ(losing(40, [&](Index) { return far; }), (std::vector<Index>{16, 32, -1}));
  EXPECT_EQ(losing(40, [&](Index n) { return n < 16 ? far : 1; }), (std::vector<Index>{16, -2}));
  EXPECT_EQ(losing(40, [](Index) { return std::nan(""); }), (std::vector<Index>{16, 32, -1}));
  // What all costs have in common counts: 4.2 + 1 is less than twice 2 + 1.
  EXPECT_EQ(losing(
                40, [&](Index) { return far; }, 1),
            (std::vector<Index>{-1}));
}

// ---- the algorithm ----

test::RuleRun run_auto(const CombinationMatrix& matrix, const Problem& problem, const Rows& start, Index iterations) {
  return test::run_rule(matrix, problem, {}, start, iterations, "auto");
}

// The same when the algorithm knows how long the run is.
test::RuleRun run_planned(const test::Instance& instance, Index iterations) {
  const Rows start(instance.problem->agents(), instance.problem->dimension());
  return test::run_rule(instance.matrix, *instance.problem, {}, start, iterations, "auto", nullptr, iterations);
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

// The largest mean cost of all agents' samples over the agents' models.
double largest_cost(const Problem& problem, const Rows& w) {
  Rows costs(problem.agents(), w.rows());
  problem.costs({0, problem.agents()}, w, costs);
  double largest = 0;
  for (Index p = 0; p < w.rows(); ++p) {
    double sum = 0;
    for (Index k = 0; k < problem.agents(); ++k) sum += costs(k, p);
    largest = std::max(largest, sum);
  }
  return largest;
}

TEST(Automatic, StaysGraphAwareAndConvergesLinearlyWhereTheDataFit) {
  for (const auto& [topology, agents] : {std::pair{Topology::ring, 5}, {Topology::star, 7}, {Topology::ring, 1}}) {
    const auto instance = synthetic(topology, agents, 0, 0, false, 16);
    std::vector<double> risk;
    for (const Index iterations : {0, 150, 300, 450, 600}) {
      const auto run = run_auto(instance.matrix, *instance.problem, Rows(agents, 16), iterations);
      risk.push_back(largest_cost(*instance.problem, run.w));
      EXPECT_EQ(count(run, "auto.stage"), 0) << name_of(topology) << agents;
    }
    for (std::size_t n = 1; n < risk.size(); ++n) {
      EXPECT_TRUE(risk[n] < 0.1 * risk[n - 1] || risk[n] < 1e-25) << name_of(topology) << ": " << risk[n];
    }
  }
}

TEST(Automatic, ReachesTheMinimiserOfAgentsThatDisagree) {
  for (const auto& [topology, agents] : {std::pair{Topology::ring, 5}, {Topology::path, 3}, {Topology::star, 5}}) {
    for (const bool full : {true, false}) {
      const auto instance = synthetic(topology, agents, 0.5, 1, full);
      const auto run = run_auto(instance.matrix, *instance.problem, Rows(agents, 4), 4000);
      EXPECT_LT(largest_distance(run.w, instance.reference.minimiser.value()), full ? 1e-9 : 1e-6) << name_of(topology);
      EXPECT_TRUE(full || count(run, "auto.stage") == 1) << name_of(topology);
    }
  }
}

// Linear models, whatever the loss, with all samples: no stages, L-BFGS from the first iteration on.
TEST(Automatic, IsQuasiNewtonWhereGradientsAreWhole) {
  const CombinationMatrix matrix = network_of(Topology::star, 4);
  const std::vector<test::Dense> samples = {{{1, 2, 1}, {0, 1, 1}}, {{3, 1, 1}}, {{1, -1, 1}}, {{-2, 1, 1}}};
  for (const char* loss : {"least-squares", "logistic", "poisson"}) {
    for (const bool all : {true, false}) {
      const auto problem = problem_of(samples, loss, 0, {.size = 1, .all = all});
      const auto run = run_auto(matrix, *problem, Rows(4, 2), 7);
      EXPECT_EQ(run.named("auto.stage").empty(), all) << loss;
      if (!all) continue;
      const auto other = test::run_rule(matrix, *problem, {}, Rows(4, 2), 7, "quasi-newton");
      EXPECT_TRUE(test::same_bits(run.state, other.state)) << loss;
    }
  }
  // A function of one's own keeps to its stages.
  const ObjectiveProblem problem = bowls({{{1, 4}, {1, 0}}, {{10, 3}, {2, 1}}, {{2, 2}, {-3, 5}}, {{3, 5}, {0, -1}}});
  EXPECT_FALSE(run_auto(matrix, problem, Rows(4, 2), 1).named("auto.stage").empty());
}

// Six samples per agent, one per iteration: an epoch has six iterations, and so has a pass.
TEST(Automatic, TakesAPassOfNewtonsMethodPerEpoch) {
  const auto instance = synthetic(Topology::path, 4, 0.5, 1, false);
  const auto run = run_planned(instance, 20);
  EXPECT_EQ(count(run, "auto.epoch"), 6);
  EXPECT_EQ(count(run, "auto.passes_begin"), 0);
  for (const Index i : {0, 4}) EXPECT_EQ(run.mu[i][0], 0) << i;
  EXPECT_EQ(run.mu[5][0], 1);
  EXPECT_LT(largest_distance(run_planned(instance, 6).w, instance.reference.minimiser.value()), 1e-12);
  EXPECT_TRUE(test::same_bits(run.averaged, run.w));
  // With a tenth of all samples to test, the last pass may end with the run: after 4 iterations, but not 3.
  EXPECT_EQ(count(run_planned(instance, 4), "auto.passes_begin"), 0);
  EXPECT_GT(count(run_planned(instance, 3), "auto.passes_begin"), 1000);
  EXPECT_LT(largest_distance(run_planned(instance, 5).w, instance.reference.minimiser.value()), 1e-12);
}

// Predictions of models that are not 0 take half an epoch.
TEST(Automatic, BeginsLaterWhereModelsDoNotBeginAtZero) {
  const auto instance = synthetic(Topology::path, 4, 0.5, 1, false);
  const Rows start = rows_of({{1, 0, 0, 0}, {0, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 0, 0}});
  const auto run = test::run_rule(instance.matrix, *instance.problem, {}, start, 9, "auto", nullptr, 9);
  EXPECT_EQ(count(run, "auto.passes_begin"), 3);
  EXPECT_EQ(run.mu[7][0], 0);
  EXPECT_LT(largest_distance(run.w, instance.reference.minimiser.value()), 1e-12);
}

// Far from the minimum, e^-100 is all the curvature there is: no point along Newton's direction is lower.
TEST(Automatic, GoesOnWithWholeGradientsWhereSecondDerivativesAreLost) {
  const CombinationMatrix matrix = network_of(Topology::path, 3);
  for (const auto& [loss, other, best] :
       {std::tuple{"logistic", -1.0, std::log(4.0)}, {"poisson", 6.0, std::log(2.0)}}) {
    const std::vector<std::vector<double>> own = {{1, 1}, {1, 1}, {1, other}, {1, 1}, {1, 1}};
    const auto problem = problem_of({own, own, own}, loss);
    const Rows start = rows_of({{-100}, {-100}, {-100}});
    // Its first pass ends after an epoch and a half.
    const auto pass = test::run_rule(matrix, *problem, {}, start, 8, "auto", nullptr, 100);
    EXPECT_EQ(count(pass, "auto.turn"), 8) << loss;
    EXPECT_LT(largest_distance(pass.w, {-100}), 1e-12) << loss;
    const auto run = test::run_rule(matrix, *problem, {}, start, 300, "auto", nullptr, 300);
    EXPECT_LT(largest_distance(run.w, {best}), 1e-7) << loss;
    EXPECT_TRUE(test::same_bits(run.averaged, run.w)) << loss;
  }
}

// Where the cost is gone, there is nothing to go on with, however long the run.
TEST(Automatic, RestsWhereAPassLeavesNoCost) {
  for (const char* loss : {"smoothed-hinge", "logistic"}) {
    const auto problem = problem_of({{{1, 1}, {2, 1}}, {{-1, -1}, {-2, -1}}}, loss);
    const auto run = [&](Index iterations) {
      return test::run_rule(network_of(Topology::path, 2), *problem, {}, Rows(2, 1), iterations, "auto", nullptr,
                            iterations);
    };
    const auto shorter = run(40);
    EXPECT_EQ(count(shorter, "auto.passes_begin"), 0) << loss;
    EXPECT_LT(largest_cost(*problem, shorter.w), 1e-13) << loss;
    EXPECT_EQ(run(60).evaluations.gradients, shorter.evaluations.gradients) << loss;
  }
}

// Three epochs and the remainder of the run by batches, then one evaluation of all samples at the end of each epoch,
// the last one in the last iteration.
TEST(Automatic, TakesWholeGradientsOfManyNumbersInALongRun) {
  const auto instance = synthetic(Topology::path, 4, 0.5, 1, false, 1001);
  const auto run = run_planned(instance, 100);
  EXPECT_EQ(count(run, "auto.epoch"), 6);
  EXPECT_EQ(count(run, "auto.turn"), 3 * 6 + 100 % 6);
  EXPECT_LT(largest_cost(*instance.problem, run.w), 1e-9);
  EXPECT_TRUE(test::same_bits(run.averaged, run.w));
  // No iteration has evaluated more than its batch: 4 agents, 100 gradients each, and each sample once more where the
  // descent that remembers met it for the first time.
  EXPECT_LE(run.evaluations.gradients, 4 * (100 + 6));
  const auto shorter = run_planned(instance, 99);
  EXPECT_EQ(count(shorter, "auto.turn"), 3 * 6 + 99 % 6);
}

// From 200 numbers on, five epochs are needed.
TEST(Automatic, TakesSecondDerivativesOfManyNumbersInLongerRunsOnly) {
  const auto instance = synthetic(Topology::path, 4, 0.5, 1, false, 201);
  EXPECT_GT(count(run_planned(instance, 29), "auto.passes_begin"), 1000);
  EXPECT_EQ(count(run_planned(instance, 30), "auto.passes_begin"), 0);
}

TEST(Automatic, TakesStepsThatEndAtZeroInAShortRun) {
  ProblemOptions options;
  options.dimension = 1001;
  options.samples = 6;
  options.noise = 1;
  options.model.l2 = 0.1;
  const auto instance = test::synthetic_instance(network_of(Topology::path, 4), options, 5);
  constexpr Index iterations = 47;  // not quite eight epochs
  const auto run = run_planned(instance, iterations);
  const auto endless = run_auto(instance.matrix, *instance.problem, Rows(4, 1001), iterations);
  EXPECT_GT(count(run, "auto.turn"), iterations);
  EXPECT_FALSE(test::same_bits(run.averaged, run.w));
  for (std::size_t i = 0; i <= iterations / 4; ++i) EXPECT_EQ(run.mu[i], endless.mu[i]) << i;
  for (std::size_t k = 0; k < 4; ++k) EXPECT_LT(run.mu.back()[k], 0.1 * run.mu[iterations / 4][k]) << k;
}

TEST(Automatic, TakesWholeGradientsAtOnceWhereABatchHoldsAllSamples) {
  for (const Index size : {6, 9}) {
    ProblemOptions options;
    options.dimension = 4;
    options.samples = 6;
    options.noise = 1;
    options.model.batch = {.size = size, .all = false};
    const auto instance = test::synthetic_instance(network_of(Topology::star, 4), options, 5);
    const auto run = run_planned(instance, 20);
    EXPECT_EQ(count(run, "auto.turn"), 0) << size;
    EXPECT_LT(largest_distance(run.w, instance.reference.minimiser.value()), 1e-8) << size;
    EXPECT_LE(run.evaluations.gradients, 4 * 20) << size;
  }
}

// Where nothing can be fitted graph-aware steps are not tried at all.
TEST(Automatic, DoesNotTryToFitWhatHasAPenalty) {
  ProblemOptions options;
  options.dimension = 4;
  options.samples = 6;
  options.model.l2 = 0.1;
  const auto instance = test::synthetic_instance(network_of(Topology::path, 4), options, 5);
  const auto run = run_auto(instance.matrix, *instance.problem, Rows(4, 4), 1);
  EXPECT_EQ(count(run, "auto.stage"), 1);
  // 8 + 4 scalars per edge and direction.
  EXPECT_EQ(run.step.vectors, 0);
  EXPECT_EQ(run.step.scalars, 6 * 12);
  EXPECT_EQ(run.step.rounds, 2);
}

// Poisson's curvature has no bound: exact diffusion by curvatures met, then with falling steps.
TEST(Automatic, FallsToRestAmongNoiseThatStays) {
  std::vector<std::vector<std::vector<double>>> samples;
  Stream stream(3, Purpose::features);
  for (int k = 0; k < 5; ++k) {
    auto& own = samples.emplace_back();
    for (int n = 0; n < 6; ++n)
      own.push_back({stream.normal(), stream.normal(), std::round(std::exp(stream.normal()))});
  }
  const auto problem = problem_of(samples, "poisson", 0, {}, Sampling::uniform);
  const auto run = run_auto(network_of(Topology::path, 5), *problem, Rows(5, 2), 1200);
  EXPECT_EQ(count(run, "auto.stage"), 2);
  // L_k does not fall any more, so that steps do: by 1/sqrt(1 + tau/200) at least.
  const auto tau = static_cast<double>(count(run, "auto.falling"));
  EXPECT_GT(tau, 100);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(run.mu.back()[k] * run.named("descent.along_gradients")[k], 1 / std::sqrt(1 + tau / 200), 1e-12) << k;
  }
}

// e^z may be e times as steep one unit further: no move changes the prediction of a sample by more than 3.
TEST(Automatic, GoesNoFurtherThanCountsAllow) {
  const std::vector<std::vector<std::vector<double>>> samples = {{{0.1, 500}, {0.2, 800}, {4, 1}}};
  const auto problem = problem_of(samples, "poisson");
  const auto matrix = network_of(Topology::path, 1);
  double before = 0;
  double farthest = 0;
  for (Index n = 1; n <= 30; ++n) {
    const double w = run_auto(matrix, *problem, Rows(1, 1), n).w.row(0)[0];
    farthest = std::max(farthest, 4 * std::abs(w - before));
    before = w;
  }
  EXPECT_NEAR(farthest, 3, 1e-9);
}

TEST(Automatic, LeavesCostsBelowZeroAlone) {
  // Minima of -1: nothing that supposes 0 may stay.
  const ObjectiveProblem problem = bowls({{{1, 4}, {1, 0}, -1}, {{10, 3}, {2, 1}, -1}, {{2, 2}, {-3, 5}, -1}});
  const auto run = run_auto(network_of(Topology::path, 3), problem, Rows(3, 2), 2000);
  EXPECT_GE(count(run, "auto.stage"), 1);
  EXPECT_LT(largest_distance(run.w, {(1 + 20 - 6) / 13.0, (3 + 10) / 9.0}), 1e-9);
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

// Means of (w - c_n)^2 h_k/2 over samples: their number may have no end.
class Scattered final : public Objective {
 public:
  Scattered(double curvature, double centre, Index samples)
      : curvature_(curvature), centre_(centre), samples_(samples) {}
  [[nodiscard]] Index dimension() const override { return 1; }
  [[nodiscard]] Index samples() const override { return samples_; }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index> batch) const override {
    double sum = 0;
    for (const Index n : batch) sum += curvature_ / 2 * (w[0] - centre(n)) * (w[0] - centre(n));
    return sum / static_cast<double>(batch.size());
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    gradient[0] = 0;
    for (const Index n : batch) gradient[0] += curvature_ * (w[0] - centre(n)) / static_cast<double>(batch.size());
    return value(w, batch);
  }

 private:
  [[nodiscard]] double centre(Index n) const { return centre_ + (n % 2 == 0 ? 1 : -1); }
  double curvature_, centre_;
  Index samples_;
};

ObjectiveProblem scattered(Index samples) {
  return ObjectiveProblem({std::make_shared<Scattered>(1, 0, samples), std::make_shared<Scattered>(3, 4, samples),
                           std::make_shared<Scattered>(2, 1, samples)},
                          {.size = 1});
}
constexpr double scattered_minimum = (3 * 4 + 2 * 1) / 6.0;

TEST(Automatic, RemembersTheSamplesOfOwnCosts) {
  for (const Index end : {0, 2000}) {
    const auto run =
        test::run_rule(network_of(Topology::path, 3), scattered(20), {}, Rows(3, 1), 2000, "auto", nullptr, end);
    EXPECT_EQ(count(run, "auto.stage"), 1);
    EXPECT_LT(largest_distance(run.w, {scattered_minimum}), 1e-9);
  }
}

TEST(Automatic, RemembersNoSamplesThatHaveNoEnd) {
  for (const Index samples : {endless_samples, Index{1} << 22}) {
    const auto run = run_auto(network_of(Topology::path, 3), scattered(samples), Rows(3, 1), 3000);
    EXPECT_EQ(run.named("descent.drawn"), std::vector<double>(3, 0));
    EXPECT_LT(largest_distance(run.w, {scattered_minimum}), 0.3);
    // Half as long without a known end, and divided by the root of 1 + age/200.
    const double age = static_cast<double>(count(run, "descent.age"));
    const std::vector<double> rho = run.named("descent.rho");
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(run.mu.back()[k] * rho[k] * std::sqrt(1 + (age - 1) / 200), 0.5, 1e-12);
    }
    const auto ending =
        test::run_rule(network_of(Topology::path, 3), scattered(samples), {}, Rows(3, 1), 3000, "auto", nullptr, 3000);
    EXPECT_LT(largest_distance(ending.w, {scattered_minimum}), 0.1);
  }
}

// One agent's noisy classes, a word each. GAP's steps, which take the optimal cost for 0, once led thousands of times
// above the start.
TEST(Automatic, ComesBackToItsStartOnNoisyOwnCosts) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    std::vector<std::vector<std::vector<double>>> samples(1);
    Stream stream(seed, Purpose::features);
    for (Index n = 0; n < 40; ++n) {
      std::vector<double> sample(11);
      sample[stream.below(10)] = stream.normal() > 0 ? 1 : -1;
      sample[10] = stream.normal() > 0 ? 1 : -1;
      samples[0].push_back(sample);
    }
    const std::shared_ptr<const DataProblem> data = problem_of(samples, "logistic");
    const ObjectiveProblem problem(std::make_shared<test::OwnCosts>(data, "logistic", 1e-3), {.size = 1});
    const Rows start(1, 10);
    for (Index last = 20; last <= 600; last += 20) {
      const auto run = run_auto(network_of(Topology::path, 1), problem, start, last);
      const double most = (last < 600 ? 4 : 1) * largest_cost(problem, start);
      EXPECT_LT(largest_cost(problem, run.w), most) << seed << ", " << last;
    }
  }
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
  // No features at all: no gradient, no curvature, no step.
  const Rows start = rows_of({{1, 2}, {1, 2}, {1, 2}, {1, 2}});
  for (const char* loss : {"least-squares", "logistic", "huber", "smoothed-hinge", "poisson"}) {
    const bool counts = std::string_view(loss) == "poisson";
    const double other = counts ? 3 : -1;
    const auto problem = problem_of({{{0, 0, 1}}, {{0, 0, other}}, {{0, 0, 1}}, {{0, 0, other}}}, loss);
    const auto run = run_auto(network_of(Topology::path, 4), *problem, start, 700);
    EXPECT_LT(largest_distance(run.w, {1, 2}), 1e-14) << loss;
    EXPECT_TRUE(counts || run.mu.back() == std::vector<double>(4, 0.0)) << loss;
  }
}

TEST(Automatic, BearsSamplesWithoutFeatures) {
  // Documents without a known word, in every stage that batches pass through.
  for (const char* loss : {"least-squares", "logistic", "huber", "smoothed-hinge", "poisson"}) {
    for (const double l2 : {0.0, 0.1}) {
      const auto problem =
          problem_of({{{0, 0, 1}, {2, 1, 1}, {0, 0, 1}}, {{0, 0, 1}, {0, 0, 1}}, {{1, 3, 1}}}, loss, l2);
      for (const Index iterations : {1, 2, 5, 70, 300}) {
        const auto run = run_auto(network_of(Topology::path, 3), *problem, Rows(3, 2), iterations);
        EXPECT_TRUE(test::is_finite(run.state)) << loss << ", " << iterations << " iterations, l2 " << l2;
      }
    }
  }
}

// The first sample of the only agent has no features, so it says nothing about curvature.
TEST(Automatic, BeginsWithASampleThatSaysNothing) {
  const std::shared_ptr<const DataProblem> data =
      problem_of({{{0, 1}, {1, 3}, {2, 2}}}, "least-squares", 0.1, {.size = 1}, Sampling::cyclic);
  const auto built_in = run_auto(network_of(Topology::path, 1), *data, Rows(1, 1), 60);
  EXPECT_EQ(count(built_in, "auto.stage"), 1);
  EXPECT_GT(built_in.w(0, 0), 0.5);
  const ObjectiveProblem own(std::make_shared<test::OwnCosts>(data, "least-squares", 0), {.size = 1}, Sampling::cyclic);
  EXPECT_GT(run_auto(network_of(Topology::path, 1), own, Rows(1, 1), 60).w(0, 0), 0.5);
}

TEST(Automatic, LearnsThroughAnAgentThatHasNothingToLearn) {
  // The middle of the path has no features: the others' minimisers are 1 and 4, their curvatures 1 and 4.
  for (const bool all : {false, true}) {
    const auto problem = problem_of({{{1, 1}}, {{0, 2}}, {{2, 8}}}, "least-squares", 0, {.size = 1, .all = all});
    const auto run = run_auto(network_of(Topology::path, 3), *problem, Rows(3, 1), 3000);
    EXPECT_TRUE(all || count(run, "auto.stage") >= 1);
    EXPECT_LT(largest_distance(run.w, {(1 + 4 * 4) / 5.0}), 1e-9);
  }
}

}  // namespace
}  // namespace polyhop::automatic_test

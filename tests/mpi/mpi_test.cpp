// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Run by mpirun, with any number of ranks up to 12: every rank does the same tests and looks at its own agents.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "mpi/ranks.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/network/mpi/job.hpp"
#include "support/algorithm_sets.hpp"
#include "support/launches_at_once.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/trial.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop {
namespace {

mpi::Job* job = nullptr;
bool impatient = false;

void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// Agents dealt at random: every process has some, in no order.
std::shared_ptr<const Numbering> shuffled(Index agents) {
  auto out = std::make_shared<Numbering>();
  out->agent.resize(agents);
  std::iota(out->agent.begin(), out->agent.end(), 0);
  Stream stream(3, Purpose::shuffle, 0);
  for (std::size_t n = out->agent.size(); n > 1; --n) std::swap(out->agent[n - 1], out->agent[stream.below(n)]);
  out->place.resize(out->agent.size());
  for (std::size_t p = 0; p < out->agent.size(); ++p) {
    out->place[out->agent[p]] = static_cast<std::int32_t>(p);
  }
  return out;
}

// Each rank the more agents the higher its number.
Ownership uneven(Index agents) {
  std::vector<double> cost;
  for (Index k = 0; k < agents; ++k) cost.push_back(static_cast<double>(agents - k));
  return balanced_ownership(cost, job->size());
}

ProblemOptions conditions(std::size_t n, Index dimension) {
  constexpr std::array losses = {"least-squares", "logistic", "huber"};
  constexpr std::array batches = {Batch{1, false}, Batch{3, false}, Batch{0, true}};
  ProblemOptions options;
  options.model.loss = builtin_loss(losses[n % 3]);
  options.model.l2 = 0.1;
  options.dimension = dimension;
  options.samples = 4;
  options.model.batch = batches[n / 3 % 3];
  options.model.sampling = n % 2 == 0 ? Sampling::shuffle : Sampling::uniform;
  return options;
}

// The same instance with its data in the order of the places.
test::Instance placed(const test::Instance& instance, const ProblemOptions& options, const Ownership& ownership,
                      std::uint64_t seed) {
  const std::shared_ptr<const Loss> loss = options.model.loss.loss;
  const Block all = {0, instance.matrix.agents(), ownership.numbering.get()};
  Dataset data =
      synthesise({options.dimension, options.samples, options.noise, options.scale_spread, options.minimiser_spread},
                 all, loss->task() == Task::two_classes, seed);
  return {instance.matrix,
          std::make_unique<LinearProblem>(std::move(data), loss, options.model.l2, options.model.batch,
                                          options.model.sampling),
          instance.reference};
}

void expect_same_bits(const test::Pair& pair, std::size_t n) {
  constexpr std::uint64_t seed = 7;
  const Index agents = n % 2 == 0 ? 14 : 17;
  const Index dimension = n % 2 == 0 ? 9 : 33;
  const Index iterations = test::is_exact(pair.step) ? 3 : 12;
  const auto topology = n % 3 == 0 ? Topology::ring : n % 3 == 1 ? Topology::path : Topology::complete;
  ProblemOptions options = conditions(n, dimension);
  options.model.batch = pair.of(options.model.batch);
  const auto instance = test::synthetic_instance(test::network_of(topology, agents), options, seed);
  const auto expected = test::follow(instance, pair.step, iterations, test::serial(), seed, nullptr, 0, pair.algorithm);
  Ownership own = uneven(agents);
  for (const Index threads : {1, 2}) {
    SCOPED_TRACE(pair.text() + ", " + std::to_string(threads) + " threads, rank " + std::to_string(job->rank()));
    const auto found =
        test::follow(instance, pair.step, iterations, test::over(*job, own, threads), seed, nullptr, 0, pair.algorithm);
    for (std::size_t i = 0; i < found.states.size(); ++i) {
      EXPECT_TRUE(test::same_bits(found.states[i], expected.states[i], own.block(job->rank())))
          << "before iteration " << i;
    }
  }
}

TEST(SameBits, EveryRule) {
  const auto steps = test::all_sets();
  for (std::size_t n = 0; n < steps.size(); ++n) expect_same_bits({"atc", steps[n]}, n);
}

TEST(SameBits, EveryAlgorithm) {
  const auto pairs = test::algorithm_sets();
  for (std::size_t n = 0; n < pairs.size(); ++n) expect_same_bits(pairs[n], n);
}

// `auto` that knows the end of its run: passes of Newton's method, in double and single precision, and whole gradients
// of many numbers. Every rank takes up what one process had saved, after any iteration.
TEST(SameBits, OfRunsByEpochsAfterAnyStop) {
  constexpr std::uint64_t seed = 7;
  const Index agents = 11;
  struct Case {
    Index dimension;
    Index iterations;
    Element precision;
    const char* begun_by;
  };
  const Ownership own = uneven(agents);
  for (const Case& c : {Case{9, 14, Element::float64, "newton.begun"}, Case{9, 14, Element::float32, "newton.begun"},
                        Case{1001, 33, Element::float64, "quasi_newton.begun"}}) {
    ProblemOptions options;
    options.dimension = c.dimension;
    options.samples = 4;
    options.noise = 1;
    options.precision = c.precision;
    const auto instance = test::synthetic_instance(test::network_of(Topology::ring, agents), options, seed);
    const auto path = [&](const test::Launch& launch, const Snapshot* resume, Index first) {
      return test::follow(instance, {}, c.iterations, launch, seed, resume, first, "auto", GradientEstimate::plain,
                          c.iterations);
    };
    const test::Path whole = path(test::serial(), nullptr, 0);
    const auto begun = std::ranges::find(whole.states.back().entries, c.begun_by, &Snapshot::Entry::name);
    ASSERT_EQ(std::bit_cast<Index>(begun->data[0]), 1);
    for (const Index threads : {1, 2}) {
      for (Index stop = 0; stop < c.iterations; ++stop) {
        const auto rest = path(test::over(*job, own, threads), &whole.states[stop], stop);
        for (std::size_t n = 0; n < rest.states.size(); ++n) {
          EXPECT_TRUE(test::same_bits(rest.states[n], whole.states[stop + n], own.block(job->rank())))
              << c.begun_by << ", " << threads << " threads, rank " << job->rank() << ", stopped after " << stop;
        }
      }
    }
  }
}

TEST(SameBits, WhoeverOwnsWhichAgents) {
  constexpr std::uint64_t seed = 7;
  const std::vector<test::Pair> pairs = {{"atc", test::gap()},
                                         {"atc", test::gap({{"damping", "norms"}, {"bound", "linear"}})},
                                         {test::algorithm_of("auto"), {}},
                                         {test::algorithm_of("kuruzov"), {}},
                                         {test::algorithm_of("quasi-newton"), {}}};
  Ownership own = uneven(17);
  own.numbering = shuffled(17);
  for (std::size_t n = 0; n < pairs.size(); ++n) {
    ProblemOptions options = conditions(n, 9);
    options.model.batch = pairs[n].of(options.model.batch);
    const auto instance = test::synthetic_instance(test::network_of(Topology::ring, 17), options, seed);
    const auto by_places = placed(instance, options, own, seed);
    const auto expected =
        test::follow(instance, pairs[n].step, 12, test::serial(), seed, nullptr, 0, pairs[n].algorithm);
    for (const Index threads : {1, 2}) {
      const auto found = test::follow(by_places, pairs[n].step, 12, test::over(*job, own, threads), seed, nullptr, 0,
                                      pairs[n].algorithm);
      SCOPED_TRACE(pairs[n].text() + ", " + std::to_string(threads) + " threads, rank " + std::to_string(job->rank()));
      for (std::size_t i = 0; i < found.states.size(); ++i) {
        EXPECT_TRUE(test::same_bits(found.states[i], expected.states[i], own.block(job->rank())))
            << "before iteration " << i;
      }
    }
  }
}

// What crosses is what agents send, when every agent has its own process; otherwise a row goes once to each process.
TEST(Crossings, AreTheAgentsTrafficWithOneAgentARank) {
  std::vector<CombinationMatrix> networks = {test::network_of(Topology::complete, job->size())};
  if (job->size() >= 3) networks.push_back(test::network_of(Topology::ring, job->size()));
  if (job->size() >= 2) networks.push_back(test::network_of(Topology::star, job->size()));
  if (job->size() >= 2) networks.push_back(test::random_network(job->size(), 0.2, 3));
  for (const CombinationMatrix& matrix : networks) {
    mpi::launch(*job, matrix, 5, [&](Worker& worker) {
      Network& network = worker.network;
      Rows x(1, 5);
      std::vector<double> number = {1};
      network.combine(x, x);
      network.combine_twice(x, x);
      (void)network.hear({number, number});
      (void)network.reach(x);
      (void)network.reach(std::vector<double>{1, 2, 3}, 3);
      network.differ(x, number, false, x);
      network.spread_sum({number});
      network.spread_sum(x, {number, number});
      network.spread_sum_of([&](Index, Rows& rows, Index r) { rows(r, 0) = 1; }, x);
      EXPECT_EQ(x(0, 0), static_cast<double>(network.agents()));
      EXPECT_EQ(network.crossings().vectors, network.algorithm_traffic().vectors);
      EXPECT_EQ(network.crossings().scalars, network.algorithm_traffic().scalars);
    });
  }
}

TEST(Crossings, AreOneRowForEachProcessThatWantsIt) {
  const Index each = 4;
  const Index agents = each * job->size();
  mpi::launch(*job, test::network_of(Topology::complete, agents), 3, [&](Worker& worker) {
    Network& network = worker.network;
    Rows x(network.block().size(), 3);
    network.combine(x, x);
    const Index direct = each * (job->size() - 1);
    EXPECT_EQ(network.crossings().vectors, direct);
    // Everybody is a neighbour: nothing is left to forward.
    (void)network.reach(x);
    EXPECT_EQ(network.crossings().vectors - direct, direct);
  });
}

// The rows within two hops of an agent here that other processes own, each once, however they could come.
TEST(Crossings, BringEachRowWithinTwoHopsOnce) {
  constexpr Index agents = 40;
  Ownership own = uneven(agents);
  for (const double probability : {0.0, 0.05, 0.2}) {
    const CombinationMatrix matrix = test::random_network(agents, probability, 5);
    const auto a = test::dense(matrix);
    const auto is_within_two_hops = [&](Index k, Index l) {
      bool found = false;
      for (Index m = 0; m < agents; ++m) found = found || (a[k][m] != 0 && a[m][l] != 0);
      return found;
    };
    for (const bool shuffles : {false, true}) {
      own.numbering = shuffles ? shuffled(agents) : nullptr;
      const Block block = own.block(job->rank());
      Index wanted = 0;
      for (Index l = 0; l < agents; ++l) {
        bool is_wanted = false;
        for (Index k = 0; k < block.size(); ++k) is_wanted = is_wanted || is_within_two_hops(block.agent(k), l);
        if (is_wanted && !block.holds(l)) ++wanted;
      }
      job->launch(matrix, own, 1, 1, [&](Worker& worker) {
        Rows x(block.size(), 1);
        for (Index k = 0; k < block.size(); ++k) x(k, 0) = static_cast<double>(block.agent(k));
        const Reach reach = worker.network.reach(x);
        for (Index e = 0; e < reach.entries; ++e) EXPECT_EQ(reach.row(e)[0], worker.network.two_hop().column[e]);
        EXPECT_EQ(worker.network.crossings().vectors, wanted);
        const auto sent = test::rows_over_two_hops(matrix);
        Index charged = 0;
        for (Index k = 0; k < block.size(); ++k) charged += sent[block.agent(k)];
        EXPECT_EQ(worker.network.algorithm_traffic().vectors, charged);
      });
    }
  }
}

TEST(Crossings, OfASumBringTheHubsNumberOnceToEachProcess) {
  constexpr Index agents = 20;
  const Ownership own = uneven(agents);
  job->launch(test::network_of(Topology::star, agents), own, 1, 1, [&](Worker& worker) {
    const Block block = worker.network.block();
    std::vector<double> x(block.size(), 1.0);
    worker.network.spread_sum({x});
    for (const double sum : x) EXPECT_EQ(sum, agents);
    // Up, the hub hears of every leaf of another process; down, each other process hears of the hub.
    EXPECT_EQ(worker.network.crossings().scalars, block.holds(0) ? agents - block.size() : 1);
  });
}

TEST(Collective, RunsInOrderOfTheAgentsWhoeverOwnsThem) {
  constexpr Index agents = 29;
  const CombinationMatrix matrix = test::network_of(Topology::ring, agents);
  Ownership own = uneven(agents);
  for (const bool shuffles : {false, true}) {
    own.numbering = shuffles ? shuffled(agents) : nullptr;
    for (const Index threads : {1, 2}) {
      job->launch(matrix, own, 1, threads, [&](Worker& worker) {
        const Block block = worker.network.block();
        std::vector<double> numbers(agents + 1);
        worker.collective.by_agent(numbers, block.size(), [&](std::span<double> shared, Index k) {
          // The place in the list, and the agent that stands there.
          shared[1 + static_cast<std::size_t>(shared[0])] = static_cast<double>(block.agent(k));
          shared[0] += 1;
        });
        EXPECT_EQ(numbers[0], agents);
        for (std::size_t k = 0; k < agents; ++k) EXPECT_EQ(numbers[k + 1], static_cast<double>(k));
      });
    }
  }
}

TEST(Collective, BringsRowsToTheFirstAndBack) {
  constexpr Index agents = 29;
  const CombinationMatrix matrix = test::network_of(Topology::ring, agents);
  Ownership own = uneven(agents);
  own.numbering = shuffled(agents);
  job->launch(matrix, own, 1, 2, [&](Worker& worker) {
    const Block block = worker.network.block();
    std::vector<Index> rows;
    std::vector<double> mine;
    for (Index k = 0; k < block.size(); ++k) {
      if (block.agent(k) % 3 == 0) continue;  // some have nothing to tell
      rows.push_back(block.agent(k));
      mine.insert(mine.end(), {static_cast<double>(block.agent(k)), 0.5});
    }
    std::vector<double> all(worker.number == 0 ? 2 * agents : 0, -1);
    worker.collective.gather(rows, mine, all);
    for (Index k = 0; worker.number == 0 && k < agents; ++k) {
      EXPECT_EQ(all[2 * k], k % 3 == 0 ? -1 : static_cast<double>(k));
    }
    std::vector<double> back(mine.size());
    worker.collective.scatter(rows, back, all);
    EXPECT_EQ(back, mine);
  });
}

TEST(Collective, CarriesWordsFromTheFirstAndToIt) {
  constexpr Index agents = 29;
  for (const Index threads : {1, 2}) {
    job->launch(test::network_of(Topology::ring, agents), uneven(agents), 1, threads, [&](Worker& worker) {
      for (const std::size_t length : {0, 1, 100000}) {
        const std::string own = std::to_string(worker.number) + std::string(length, '\0');
        EXPECT_EQ(worker.collective.from_first(own), "0" + std::string(length, '\0'));
        const std::vector<std::string> heard = worker.collective.to_first(own);
        ASSERT_EQ(static_cast<Index>(heard.size()), worker.number == 0 ? worker.count : 0);
        for (std::size_t n = 0; n < heard.size(); ++n) {
          EXPECT_EQ(heard[n], std::to_string(n) + std::string(length, '\0'));
        }
      }
      EXPECT_EQ(worker.collective.from_first(worker.number == 0 ? "" : "x"), "");
    });
  }
}

TEST(Team, TellsEverybodyWhatEachSays) {
  const std::string text(1000 * job->rank(), 'x');
  const std::vector<std::string> all = job->tell(text);
  EXPECT_EQ(static_cast<Index>(all.size()), job->size());
  for (std::size_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r].size(), 1000 * r);
}

TEST(Team, FailsTogetherAndGoesOn) {
  const CombinationMatrix matrix = test::network_of(Topology::ring, 20);
  const Index last = job->size() - 1;
  for (int again = 0; again < 3; ++again) {
    // One fails while the others exchange rows, or before they begin; every thread of theirs waits for it.
    for (const auto& [threads, instant] : {std::pair{1, 5}, {2, 5}, {2, 0}}) {
      const int when = instant;
      try {
        mpi::launch(
            *job, matrix, 4,
            [&](Worker& worker) {
              Rows x(worker.network.block().size(), 4);
              for (int i = 0;; ++i) {
                if (i == when && job->rank() == last) throw InputError("data", "not here", 3, "a file");
                worker.network.combine(x, x);
              }
            },
            threads);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const InputError& e) {
        EXPECT_EQ(e.path(), "data");
        EXPECT_EQ(e.message(), "not here" + (job->size() > 1 ? " (" + job->name(last) + ")" : ""));
        EXPECT_EQ(e.line(), 3);
        EXPECT_EQ(e.file(), "a file");
      }
    }
    EXPECT_THROW(job->together([&] {
      if (job->rank() == last) throw Error("a disk is full");
    }),
                 Error);
    mpi::launch(*job, matrix, 4, [&](Worker& worker) {
      Rows x(worker.network.block().size(), 4, 1.0);
      worker.network.combine(x, x);
      EXPECT_NEAR(x(0, 0), 1, 1e-15);
    });
    std::vector<double> sum(1);
    job->collective().in_order(sum, [](std::span<double> shared) { shared[0] += 1; });
    EXPECT_EQ(sum[0], static_cast<double>(job->size()));
  }
}

// Rows of one who is late reach those who have given up already: nothing of theirs may be gone by then.
TEST(Team, FailsWhileSomebodyIsLate) {
  const Index columns = 40000;
  const CombinationMatrix matrix = test::network_of(Topology::ring, 4 * job->size());
  for (int again = 0; again < 2; ++again) {
    EXPECT_THROW(mpi::launch(*job, matrix, columns,
                             [&](Worker& worker) {
                               if (job->rank() == 0) throw Error("cannot");
                               if (job->rank() == job->size() - 1) nap(0.2);
                               Rows x(worker.network.block().size(), columns);
                               worker.network.combine(x, x);
                             }),
                 Error);
    job->together([&] {
      const std::vector<std::vector<double>> lists(20, std::vector<double>(columns, 7.0));
      for (const auto& list : lists) EXPECT_EQ(std::ranges::count(list, 7.0), columns);
    });
  }
}

TEST(Team, NumbersWorkersWhereverTheyAre) {
  const Index agents = 4 * job->size();
  std::mutex mutex;
  std::vector<Index> numbers;  // of this process
  const Index threads = 1 + job->rank() % 3;
  mpi::launch(
      *job, test::network_of(Topology::ring, agents), 1,
      [&](Worker& worker) {
        Index all = 0;
        for (Index r = 0; r < job->size(); ++r) all += 1 + r % 3;
        EXPECT_EQ(worker.count, all);
        const std::lock_guard lock(mutex);
        numbers.push_back(worker.number);
      },
      threads);
  Index first = 0;
  for (Index r = 0; r < job->rank(); ++r) first += 1 + r % 3;
  std::ranges::sort(numbers);
  ASSERT_EQ(static_cast<Index>(numbers.size()), threads);
  for (Index n = 0; n < threads; ++n) EXPECT_EQ(numbers[n], first + n);
}

TEST(Team, RefusesAgentsThatWereDealtInOtherWays) {
  if (job->size() < 2) GTEST_SKIP() << "one rank cannot differ from others";
  const Index agents = 2 * job->size();
  auto numbering = std::make_shared<Numbering>();
  for (std::int32_t n = 0; n < agents; ++n) numbering->agent.push_back(n), numbering->place.push_back(n);
  if (job->rank() == 1) std::swap(numbering->agent[0], numbering->agent[1]);
  Ownership ownership{{}, numbering};
  for (Index r = 0; r <= job->size(); ++r) ownership.first.push_back(2 * r);
  const InputError error = refusal([&] {
    job->launch(test::network_of(Topology::ring, agents), ownership, 1, 1, [](Worker&) {});
    return 0;
  });
  EXPECT_EQ(error.path(), "placement");
  EXPECT_NE(error.message().find(job->name(1) + " has assigned agents"), std::string::npos) << error.message();
}

// Those below with a second's patience: the program is given `impatient`.
class Silence : public testing::Test {
 protected:
  void SetUp() override {
    if (!impatient) GTEST_SKIP() << "the test mpi.impatient does it, with a second of patience";
  }
};

TEST_F(Silence, BeginsWhenOneIsWaitedForNotWithTheJob) {
  nap(2.5);
  (void)job->tell("");
  mpi::launch(*job, test::network_of(Topology::complete, 8), 4, [&](Worker& worker) {
    Rows x(worker.network.block().size(), 4);
    if (job->rank() == job->size() - 1) nap(0.1);
    worker.network.combine(x, x);
  });
}

TEST_F(Silence, OfOneWhoHasYetToMeetIsNoLoss) {
  mpi::launch(*job, test::network_of(Topology::complete, 8), 4, [&](Worker& worker) {
    if (job->rank() == job->size() - 1) nap(2.5);
    Rows x(worker.network.block().size(), 4);
    worker.network.combine(x, x);
  });
  if (job->rank() == job->size() - 1) nap(2.5);
  mpi::launch(*job, test::network_of(Topology::complete, 8), 4, [&](Worker& worker) {
    Rows x(worker.network.block().size(), 4);
    worker.network.combine(x, x);
  });
}

TEST_F(Silence, IsBrokenBetweenThoseWhoseAgentsNumbersFollow) {
  if (job->size() != 4) GTEST_SKIP() << "its agents are dealt to four ranks";
  // A path 0 2 | 4 5 | 6 7 | 1 3 over the processes 1, 0, 2, 3: 1 and 3 share no edge, but numbers that follow.
  const std::vector<std::int32_t> path = {0, 2, 4, 5, 6, 7, 1, 3};
  std::vector<Edge> edges;
  for (std::size_t n = 1; n < path.size(); ++n) edges.push_back({path[n - 1], path[n]});
  const CombinationMatrix matrix = with_weights(Graph::from_edges(8, edges), Weights::metropolis).matrix;
  auto numbering = std::make_shared<Numbering>();
  numbering->agent = {4, 5, 0, 2, 6, 7, 1, 3};
  numbering->place.resize(8);
  for (std::int32_t p = 0; p < 8; ++p) {
    numbering->place[numbering->agent[p]] = p;
  }
  job->launch(matrix, {{0, 2, 4, 6, 8}, numbering}, 4, 1, [&](Worker& worker) {
    Rows x(worker.network.block().size(), 4);
    for (int i = 0; i < 12; ++i) {
      worker.network.combine(x, x);
      std::vector<double> sum(1);
      worker.collective.by_agent(sum, worker.network.block().size(), [&](std::span<double> shared, Index) {
        nap(0.03);
        shared[0] += 1;
      });
      EXPECT_EQ(sum[0], 8);
    }
  });
}

TEST(Team, WhoIsAheadMayFailWhileOthersStillListen) {
  // Long texts: the first rank tells one rank after the other, so the second has failed before the last has heard.
  const std::string text(1 << 20, 'x');
  for (int again = 0; again < 5; ++again) {
    const auto length = static_cast<std::size_t>(job->size()) * text.size();
    std::size_t heard = 0;
    for (const std::string& told : job->tell(text)) heard += told.size();
    EXPECT_EQ(heard, length);
    EXPECT_THROW(job->together([] { throw InputError("data", "not here"); }), InputError);
  }
}

TEST(Team, OfOneRankLaunchesFromSeveralThreadsAtOnce) {
  if (job->size() > 1) GTEST_SKIP() << "several ranks launch one run after the other";
  EXPECT_EQ(test::wrong_launches(*job), 0);
  // Nothing goes through the link, which serves one thread: not even a failure, of which it would send the text alone.
  const auto fail = [](Worker&) { throw std::out_of_range("here"); };
  EXPECT_THROW(mpi::launch(*job, test::network_of(Topology::path, 1), 1, fail), std::out_of_range);
}

TEST(Team, RefusesMoreRanksThanAgents) {
  if (job->size() == 1) GTEST_SKIP() << "there is always one agent";
  EXPECT_THROW(mpi::launch(*job, test::network_of(Topology::path, job->size() - 1), 1, [](Worker&) {}), InputError);
}

}  // namespace
}  // namespace polyhop

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  polyhop::mpi::Options options;
  bool one_fails = false;
  for (int n = 1; n < argc; ++n) {
    const std::string_view how = argv[n];
    if (how == "impatient") options.peer_timeout = 1, polyhop::impatient = true;
    one_fails = one_fails || how == "one-fails";
  }
  polyhop::mpi::Job all(options);
  if (one_fails) {
    // The others wait for one that has failed on its own, and would wait for ever.
    if (all.rank() != 1) (void)all.tell("");
    if (all.all_leave_within(1)) return 1;
    std::fprintf(stderr, "it failed alone\n");
    all.abort(3);
  }
  polyhop::job = &all;
  if (!polyhop::test::all_ranks_are_here(all.size())) return 1;
  if (all.rank() != 0) polyhop::test::report_failures_only();
  return RUN_ALL_TESTS();
}

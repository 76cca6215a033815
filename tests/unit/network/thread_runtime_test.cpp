// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/network/column_crew.hpp"
#include "polyhop/network/runtime.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/point_bits.hpp"
#include "support/trial.hpp"

namespace polyhop::thread_runtime_test {
namespace {

using test::network_of;
using test::point_bits;
using test::same_bits;

void expect_same(const Cell& found, const Cell& expected) {
  EXPECT_EQ(found.status, expected.status);
  ASSERT_EQ(found.points.size(), expected.points.size());
  for (std::size_t n = 0; n < found.points.size(); ++n) {
    EXPECT_EQ(point_bits(found.points[n]), point_bits(expected.points[n]))
        << "iteration " << expected.points[n].iteration;
    EXPECT_TRUE(same_bits(found.steps[n], expected.steps[n])) << "steps of iteration " << expected.points[n].iteration;
  }
  EXPECT_TRUE(same_bits(found.models, expected.models));
  EXPECT_TRUE(same_bits(found.averaged, expected.averaged));
}

struct Conditions {
  std::string loss;
  Batch batch;
  Sampling sampling;
};

// The 27 ways to combine losses, batches and samplings.
std::vector<Conditions> all_conditions() {
  std::vector<Conditions> all;
  for (const std::string loss : {"least-squares", "logistic", "huber"}) {
    for (const Batch batch : {Batch{1, false}, Batch{3, false}, Batch{0, true}}) {
      for (const Sampling sampling : {Sampling::uniform, Sampling::shuffle, Sampling::cyclic}) {
        all.push_back({loss, batch, sampling});
      }
    }
  }
  return all;
}

ExperimentOptions experiment(const Conditions& conditions, Index agents, Index dimension, bool exact) {
  ExperimentOptions options;
  options.iterations = exact ? 4 : 55;
  options.record_every = exact ? 1 : 9;
  options.start = "normal";
  options.record.steps = RecordedSteps::agents;
  options.graph.topology = Topology::erdos_renyi;
  options.graph.agents = agents;
  options.graph.probability = 0.3;
  options.problem.model.loss = builtin_loss(conditions.loss);
  // A minimiser exists, for the options that study one.
  options.problem.model.l2 = conditions.loss == "logistic" ? 0.1 : 0;
  options.problem.dimension = dimension;
  options.problem.samples = 4;
  options.problem.model.batch = conditions.batch;
  options.problem.model.sampling = conditions.sampling;
  return options;
}

void expect_same_for_any_workers(const ExperimentOptions& options, const std::vector<Value>& steps,
                                 const std::vector<Index>& workers) {
  const Instance instance = make_instance(options, 5);
  for (const Value& step : steps) {
    const Method method{"it", read_algorithm("atc", "algorithm"), read_rule(step, "step"), true};
    const Cell alone = run_cell(options, method, instance, 5, 1);
    for (const Index count : workers) {
      SCOPED_TRACE(step.text() + ", " + std::to_string(count) + " workers, loss " + options.problem.model.loss.name +
                   ", sampling " + name_of(options.problem.model.sampling));
      expect_same(run_cell(options, method, instance, 5, count), alone);
    }
  }
}

TEST(ThreadRuntime, GivesTheSameRecordForAnyNumberOfWorkersWithEveryRule) {
  const auto conditions = all_conditions();
  const auto steps = test::all_sets();
  // The rules take turns with the conditions, and with two sizes.
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const bool exact = test::is_exact(steps[n]);
    const auto options =
        experiment(conditions[n % conditions.size()], n % 2 == 0 ? 11 : 13, n % 2 == 0 ? 33 : 101, exact);
    expect_same_for_any_workers(options, {steps[n]}, {2, 3, 8});
  }
}

TEST(ThreadRuntime, GivesTheSameRecordForAnyNumberOfWorkersUnderAllConditions) {
  const std::vector<Value> steps = {
      test::gap(), test::gap({{"bound", "tight"}, {"damping", "norms"}, {"cap", "distance"}}), test::step_of("polyak")};
  for (const Conditions& conditions : all_conditions()) {
    expect_same_for_any_workers(experiment(conditions, 11, 33, false), steps, {3});
  }
}

// Rows of two and three pieces, which as many workers share out by columns; with more workers, and with other costs and
// algorithms, they share out agents as ever.
TEST(ThreadRuntime, GivesTheSameRecordWhereColumnsAreSharedOut) {
  const std::vector<Value> steps = {
      test::step_of("constant", {{"value", 1e-3}}),
      test::step_of("constant", {{"value", 1e300}}),  // diverges: what is not finite must not reach the ends of rows
      test::step_of("polyak"),
      test::gap({{"products", "computed"}}),
      test::gap({{"products", "remembered"}}),
      test::gap({{"bound", "tight"}, {"damping", "rows"}}),
      test::gap({{"bound", "linear"}, {"damping", "norms"}}),
      test::gap({{"optimum", "estimate"}})};
  for (const auto& [dimension, workers] : {std::pair{Index{603}, Index{2}}, {1000, 2}, {1540, 4}, {1030, 3}}) {
    for (const Element element : {Element::float64, Element::float32}) {
      auto options = experiment({"least-squares", {1, false}, Sampling::uniform}, 11, dimension, false);
      options.iterations = 12;
      options.record_every = 5;
      options.problem.precision = element;
      ASSERT_TRUE(ColumnCrew::pays(11, {dimension, element}, workers)) << dimension;
      expect_same_for_any_workers(options, steps, {workers, 5});
    }
  }
  for (const Conditions& conditions : all_conditions()) {
    auto options = experiment(conditions, 7, 530, false);
    options.iterations = 5;
    expect_same_for_any_workers(options, {steps[0], steps[4]}, {2});
  }
}

TEST(ThreadRuntime, SharesOutColumnsWhereAllGetAboutAsManyAndRowsStayNear) {
  EXPECT_TRUE(ColumnCrew::pays(64, 1000, 2));
  EXPECT_FALSE(ColumnCrew::pays(64, 1000, 1)) << "alone";
  EXPECT_FALSE(ColumnCrew::pays(64, 512, 2)) << "one piece";
  EXPECT_FALSE(ColumnCrew::pays(64, 1500, 2)) << "three pieces";
  EXPECT_TRUE(ColumnCrew::pays(64, 1500, 3));
  EXPECT_FALSE(ColumnCrew::pays(1000, 1000, 2)) << "8 MB";
}

// The same network once with agents in order of their numbers and once not.
TEST(ThreadRuntime, SharesOutColumnsOfAgentsInAnyOrder) {
  constexpr Index agents = 9;
  constexpr Index columns = 700;
  const CombinationMatrix matrix = test::random_network(agents, 0.2, 3);
  Numbering numbering{{}, std::vector<std::int32_t>(agents)};
  for (std::int32_t k = 0; k < agents; ++k) numbering.agent.push_back(4 * k % agents);
  for (std::int32_t k = 0; k < agents; ++k) numbering.place[numbering.agent[k]] = k;
  const auto number = [](Index which, Index agent, Index j) {
    return std::sin(static_cast<double>(1 + which + 3 * agent + 7 * j));
  };
  const auto outcome = [&](Index workers, const Numbering* order) {
    std::vector<std::vector<double>> out(agents);
    launch_threads(
        matrix, columns, workers,
        [&](Worker& worker) {
          const Block& block = worker.network.block();
          Rows w(block.size(), columns);
          Rows g(block.size(), columns);
          for (Index k = 0; k < block.size(); ++k) {
            for (Index j = 0; j < columns; ++j) w(k, j) = number(0, block.agent(k), j);
            for (Index j = 0; j < columns; ++j) g(k, j) = number(1, block.agent(k), j);
          }
          Gradients y = along(g);
          std::vector<double> dots(block.size());
          worker.network.multiply(y.row.data(), w, {0, block.size()}, dots.data());
          Rows mean(block.size(), columns, 0.5);
          worker.network.adapt_combine(w, dots, y, {0.25, &mean, 0.125});
          for (Index k = 0; k < block.size(); ++k) {
            auto& found = out[block.agent(k)];
            found.push_back(dots[k]);
            found.insert(found.end(), w.row(k).begin(), w.row(k).end());
            found.insert(found.end(), mean.row(k).begin(), mean.row(k).end());
          }
        },
        order);
    return out;
  };
  const auto expected = outcome(1, nullptr);
  EXPECT_EQ(outcome(2, nullptr), expected);
  EXPECT_EQ(outcome(2, &numbering), expected);
  EXPECT_EQ(outcome(3, &numbering), expected) << "by agents";
}

TEST(ThreadRuntime, DealsEveryAgentToOneWorker) {
  for (const Index workers : {1, 2, 3, 5}) {
    std::vector<std::atomic<int>> owners(5);
    std::atomic<Index> count = 0;
    launch_threads(network_of(Topology::ring, 5), 1, workers, [&](Worker& worker) {
      EXPECT_EQ(worker.count, workers);
      for (Index k = worker.network.block().first; k < worker.network.block().last; ++k) {
        ++owners[k];
      }
      ++count;
    });
    EXPECT_EQ(count, workers);
    for (const auto& owner : owners) EXPECT_EQ(owner, 1);
  }
}

TEST(ThreadRuntime, UsesAtMostOneWorkerAnAgent) {
  std::atomic<Index> count = 0;
  launch_threads(network_of(Topology::path, 3), 2, 8, [&](Worker& worker) {
    EXPECT_EQ(worker.count, 3);
    EXPECT_EQ(worker.network.block().size(), 1);
    ++count;
    Rows x(1, 2, static_cast<double>(worker.number));
    worker.network.combine(x, x);
    // Metropolis on a path of 3: 2/3, 1/3 at the ends, thirds in the middle.
    EXPECT_NEAR(x(0, 1), worker.number == 0 ? 1.0 / 3 : worker.number == 1 ? 1.0 : 5.0 / 3, 1e-15);
  });
  EXPECT_EQ(count, 3);
}

TEST(ThreadRuntime, EndsAllWorkersWhenOneFails) {
  for (const Index guilty : {0, 2}) {
    std::atomic<int> ended = 0;
    const auto body = [&](Worker& worker) {
      struct Farewell {
        std::atomic<int>& count;
        ~Farewell() { ++count; }
      };
      const Farewell farewell{ended};
      std::vector<double> x(worker.network.block().size());
      for (int round = 0;; ++round) {
        if (worker.number == guilty && round == 7) throw std::invalid_argument("not this one");
        worker.network.hear({x}).max(0, x);
      }
    };
    EXPECT_THROW(launch_threads(network_of(Topology::ring, 5), 1, 3, body), std::invalid_argument);
    EXPECT_EQ(ended, 3);
  }
}

TEST(ThreadRuntime, EndsAllWorkersWhenOneFailsInTheCollective) {
  const auto body = [](Worker& worker) {
    std::vector<double> numbers(1);
    for (;;) {
      worker.collective.in_order(numbers, [&](std::span<double>) {
        if (worker.number == 1) throw std::out_of_range("too far");
      });
    }
  };
  EXPECT_THROW(launch_threads(network_of(Topology::ring, 5), 1, 3, body), std::out_of_range);
}

TEST(ThreadRuntime, CarriesWordsFromTheFirstWorkerAndToIt) {
  for (const Index workers : {1, 2, 3, 5}) {
    launch(network_of(Topology::ring, 5), 1, workers, [&](Worker& worker) {
      for (const std::size_t length : {0, 1, 7, 8, 9}) {
        const std::string own = std::to_string(worker.number) + std::string(length, '\xff');
        EXPECT_EQ(worker.collective.from_first(own), "0" + std::string(length, '\xff'));
        const std::vector<std::string> heard = worker.collective.to_first(own);
        ASSERT_EQ(static_cast<Index>(heard.size()), worker.number == 0 ? workers : 0);
        for (std::size_t n = 0; n < heard.size(); ++n) {
          EXPECT_EQ(heard[n], std::to_string(n) + std::string(length, '\xff'));
        }
      }
      EXPECT_EQ(worker.collective.from_first(worker.number == 0 ? "" : "x"), "");
      const auto heard = worker.collective.to_first(worker.number == 1 ? "x" : "");
      for (std::size_t n = 0; n < heard.size(); ++n) EXPECT_EQ(heard[n], n == 1 ? "x" : "");
    });
  }
}

TEST(ThreadRuntime, SumsInOrderOfTheAgents) {
  // In this order the sum is 2; in most others rounding makes it 0 or 1.
  const std::vector<double> terms = {1e16, 1, -1e16, 1, 1};
  double expected = 0;
  for (const double term : terms) expected += term;
  ASSERT_EQ(expected, 2);
  for (const Index workers : {1, 2, 3, 5}) {
    launch(network_of(Topology::ring, 5), 1, workers, [&](Worker& worker) {
      const Block block = worker.network.block();
      for (int again = 0; again < 3; ++again) {
        std::vector<double> sum = {99};
        worker.collective.in_order(sum, [&](std::span<double> numbers) {
          for (Index k = block.first; k < block.last; ++k) numbers[0] += terms[k];
        });
        EXPECT_EQ(sum[0], expected) << workers << " workers";
      }
    });
  }
}

// Agents 0 to 4 at the places 3, 0, 4, 1, 2.
const Numbering shuffled = {{1, 3, 4, 0, 2}, {3, 0, 4, 1, 2}};

TEST(ThreadRuntime, SumsInOrderOfTheAgentsWhereverTheyAre) {
  const std::vector<double> terms = {1e16, 1, -1e16, 1, 1};
  for (const Index workers : {1, 2, 3, 5}) {
    launch(
        network_of(Topology::ring, 5), 1, workers,
        [&](Worker& worker) {
          const Block block = worker.network.block();
          for (int again = 0; again < 3; ++again) {
            std::vector<double> sum = {99};
            worker.collective.by_agent(
                sum, block.size(), [&](std::span<double> numbers, Index k) { numbers[0] += terms[block.agent(k)]; });
            EXPECT_EQ(sum[0], 2) << workers << " workers";
          }
        },
        &shuffled);
  }
}

TEST(ThreadRuntime, EndsAllWorkersWhenOneFailsInItsTurn) {
  const auto body = [](Worker& worker) {
    std::vector<double> numbers(1);
    for (;;) {
      worker.collective.by_agent(numbers, worker.network.block().size(), [&](std::span<double>, Index) {
        if (worker.number == 1) throw std::out_of_range("too far");
      });
    }
  };
  EXPECT_THROW(launch_threads(network_of(Topology::ring, 5), 1, 3, body, &shuffled), std::out_of_range);
}

TEST(ThreadRuntime, AgentsGetWhatTheirNeighboursSentWhereverTheyAre) {
  const auto matrix = network_of(Topology::ring, 5);  // Metropolis: thirds
  for (const Index workers : {1, 2, 3, 5}) {
    launch(
        matrix, 1, workers,
        [&](Worker& worker) {
          const Block block = worker.network.block();
          Rows x(block.size(), 1);
          for (Index k = 0; k < block.size(); ++k) x(k, 0) = std::exp2(static_cast<double>(block.agent(k)));
          Rows mean = x;
          worker.network.combine(x, mean);
          const Reach reach = worker.network.reach(x);
          for (Index k = 0; k < block.size(); ++k) {
            const Index agent = block.agent(k);
            const double left = std::exp2(static_cast<double>((agent + 4) % 5));
            const double right = std::exp2(static_cast<double>((agent + 1) % 5));
            EXPECT_NEAR(mean(k, 0), (left + x(k, 0) + right) / 3, 1e-13);
            // In a ring of five everyone is within two hops, in order of the numbers.
            const Index first = reach.pattern.offset[k];
            ASSERT_EQ(reach.pattern.offset[k + 1] - first, 5);
            for (Index l = 0; l < 5; ++l) {
              EXPECT_EQ(*reach.row(first + l), std::exp2(static_cast<double>(l)));
            }
          }
        },
        &shuffled);
  }
}

// On a ring of 23, numbers take 11 rounds to get everywhere, through agents that have long had larger ones.
TEST(ThreadRuntime, SpreadsTheLargestNumberThroughWholeBlocks) {
  const auto matrix = network_of(Topology::ring, 23);
  Numbering reversed;
  for (std::int32_t n = 22; n >= 0; --n) reversed.agent.push_back(n);
  reversed.place = reversed.agent;
  for (const Index workers : {1, 2, 3, 23}) {
    for (const Numbering* numbering :
         {static_cast<const Numbering*>(nullptr), static_cast<const Numbering*>(&reversed)}) {
      launch(
          matrix, 1, workers,
          [&](Worker& worker) {
            const Block block = worker.network.block();
            std::vector<double> x(block.size());
            for (const double largest : {7.0, -3.0, std::numeric_limits<double>::quiet_NaN()}) {
              for (Index k = 0; k < block.size(); ++k) {
                const Index agent = block.agent(k);
                x[k] = agent == 4 ? largest : -5 - static_cast<double>(agent % 5);
              }
              const Traffic before = worker.network.algorithm_traffic();
              worker.network.spread_max(x);
              for (const double found : x) {
                EXPECT_TRUE(std::isnan(largest) ? std::isnan(found) : found == largest) << found;
              }
              EXPECT_EQ(worker.network.algorithm_traffic().rounds - before.rounds, 11);
              EXPECT_EQ(worker.network.algorithm_traffic().scalars - before.scalars, 11 * 2 * block.size());
            }
          },
          numbering);
    }
  }
}

}  // namespace
}  // namespace polyhop::thread_runtime_test

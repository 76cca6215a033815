// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/faults.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "polyhop/network/runtime.hpp"
#include "support/isolated_runtime.hpp"
#include "support/networks.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::faults_test {
namespace {

using test::network_of;
using test::random_network;

FaultOptions lossy(double drop) {
  FaultOptions options;
  options.drop = drop;
  return options;
}

// Runs `body` on one worker that holds everybody, behind a door.
void with_faults(const CombinationMatrix& a, const FaultOptions& options, const std::function<void(Network&)>& body) {
  launch_serial(a, a.agents(), [&](Worker& worker) {
    add_faults(options, 3, worker.network);
    body(worker.network);
  });
}

// The unit vectors: what is combined of them are the weights that came to count.
Rows unit_rows(Index first, Index last, Index columns) {
  Rows out(last - first, columns);
  for (Index k = first; k < last; ++k) out(k - first, k) = 1;
  return out;
}

// A share of `tries` that is `expected` on average lies within five standard deviations.
void expect_share(Index count, Index tries, double expected) {
  const double deviation = std::sqrt(expected * (1 - expected) / static_cast<double>(tries));
  EXPECT_NEAR(static_cast<double>(count) / static_cast<double>(tries), expected, 5 * deviation);
}

TEST(Faults, GiveALostWeightToTheAgentItself) {
  const CombinationMatrix a = random_network(7, 0.4, 1);
  const auto weights = test::dense(a);
  with_faults(a, lossy(0.3), [&](Network& network) {
    const Rows units = unit_rows(0, 7, 7);
    Index lost = 0;
    Index sent = 0;
    for (int round = 0; round < 500; ++round) {
      Rows got(7, 7);
      network.combine(units, got);
      for (Index k = 0; k < 7; ++k) {
        double own = weights[k][k];
        for (Index l = 0; l < 7; ++l) {
          if (l == k || weights[k][l] == 0) continue;
          ++sent;
          if (got(k, l) != 0) {
            ASSERT_EQ(got(k, l), weights[k][l]);
            continue;
          }
          ++lost;
          own += weights[k][l];
        }
        ASSERT_NEAR(got(k, k), own, 1e-15);
      }
    }
    expect_share(lost, sent, 0.3);
  });
}

TEST(Faults, LoseEachWayOfALinkByItself) {
  with_faults(network_of(Topology::path, 2), lossy(0.5), [](Network& network) {
    const Rows units = unit_rows(0, 2, 2);
    Index both = 0;
    constexpr Index tries = 4000;
    for (Index n = 0; n < tries; ++n) {
      Rows got(2, 2);
      network.combine(units, got);
      if (got(0, 1) == 0 && got(1, 0) == 0) ++both;
    }
    expect_share(both, tries, 0.25);
  });
}

// How often agent 0 got the row of agent 2 within two hops.
Index arrivals(const CombinationMatrix& a, double drop, Index tries) {
  Index arrived = 0;
  with_faults(a, lossy(drop), [&](Network& network) {
    std::vector<double> numbers(a.agents());
    for (Index k = 0; k < a.agents(); ++k) numbers[k] = static_cast<double>(k);
    for (Index n = 0; n < tries; ++n) {
      const Reach reach = network.reach(numbers);
      for (Index e = 0; e < reach.pattern.offset[1]; ++e) {
        if (*reach.row(e) == 2) ++arrived;
      }
    }
  });
  return arrived;
}

TEST(Faults, BringARowAlongAnyPathOfTwoHopsThatHolds) {
  constexpr Index tries = 5000;
  constexpr double arrives = 0.7;
  const double path = arrives * arrives;
  expect_share(arrivals(network_of(Topology::path, 3), 0.3, tries), tries, path);
  expect_share(arrivals(network_of(Topology::ring, 4), 0.3, tries), tries, 1 - (1 - path) * (1 - path));
  // A neighbour's row comes along the link itself too.
  expect_share(arrivals(network_of(Topology::ring, 3), 0.3, tries), tries, 1 - (1 - arrives) * (1 - path));
}

// What one list within two hops costs the algorithm on a ring of 3, where rows need no forwarding.
Index cost_of_a_list(const FaultOptions& options) {
  Index cost = 0;
  with_faults(network_of(Topology::ring, 3), options, [&](Network& network) {
    (void)network.reach(std::vector<double>(3));
    cost = network.algorithm_traffic().scalars;
  });
  return cost;
}

TEST(Faults, HaveRowsForwardedAlongEveryPathAndChargedForEach) {
  EXPECT_EQ(cost_of_a_list({}), 6);
  EXPECT_EQ(cost_of_a_list(lossy(0.3)), 6 + 6);
  FaultOptions elsewhere = lossy(0.3);
  elsewhere.exchange = {Account::steps};
  EXPECT_EQ(cost_of_a_list(elsewhere), 6);
}

// What every kind of exchange gives, one after another, in rows by agent.
std::vector<Rows> exchanges(const CombinationMatrix& a, const FaultOptions& options,
                            const std::function<void(const Body&)>& launch_on) {
  const Index agents = a.agents();
  std::vector<Rows> out(5, Rows(agents, agents));
  launch_on([&](Worker& worker) {
    Network& network = worker.network;
    const Block block = network.block();
    add_faults(options, 3, network);
    const Rows x = unit_rows(block.first, block.last, agents);
    std::vector<double> number(block.size());
    for (Index k = 0; k < block.size(); ++k) number[k] = 1.0 + static_cast<double>((block.first + k) % 3);
    Rows got(block.size(), agents);
    const auto keep = [&](std::size_t n) {
      for (Index k = 0; k < block.size(); ++k) std::ranges::copy(got.row(k), out[n].row(block.agent(k)).begin());
    };
    for (int round = 0; round < 3; ++round) {
      network.combine(x, got);
      keep(0);
      network.differ(x, number, false, got);
      keep(1);
    }
    const Network::StepAccount account(network);
    const Heard heard = network.hear({number, number});
    std::vector<double> numbers(block.size());
    got = Rows(block.size(), agents);
    const auto put = [&](Index column) {
      for (Index k = 0; k < block.size(); ++k) got(k, column) = numbers[k];
    };
    heard.combine(0, numbers);
    put(0);
    heard.max(1, numbers);
    put(1);
    keep(2);
    const Reach lists = network.reach(x);
    std::vector<double> products(lists.entries);
    network.pairwise(lists, products);
    const Reach steps = network.reach(number);
    got = Rows(block.size(), agents);
    for (Index k = 0; k < block.size(); ++k) {
      for (Index e = lists.pattern.offset[k]; e < lists.pattern.offset[k + 1]; ++e) {
        const Index l = network.two_hop().column[e];
        got(k, l) = products[e] + 10 * *steps.row(e) + 100 * lists.row(e)[l];
      }
    }
    keep(3);
    network.spread_max(number);
    got = Rows(block.size(), agents);
    for (Index k = 0; k < block.size(); ++k) got(k, 0) = number[k];
    keep(4);
  });
  return out;
}

void expect_same(const std::vector<Rows>& found, const std::vector<Rows>& expected) {
  for (std::size_t n = 0; n < expected.size(); ++n) {
    for (Index k = 0; k < expected[n].rows(); ++k) {
      EXPECT_TRUE(std::ranges::equal(found[n].row(k), expected[n].row(k))) << "exchange " << n << ", agent " << k;
    }
  }
}

TEST(Faults, AreTheSameForAnyWorkersAndReadNothingThatWasNotSent) {
  const CombinationMatrix a = random_network(9, 0.3, 2);
  const auto serial = exchanges(a, lossy(0.4), [&](const Body& body) { launch_serial(a, 9, body); });
  for (const Index workers : {2, 4}) {
    expect_same(exchanges(a, lossy(0.4), [&](const Body& body) { launch_threads(a, 9, workers, body); }), serial);
  }
  // Every agent alone, with NaN where nothing came.
  expect_same(exchanges(a, lossy(0.4), [&](const Body& body) { (void)test::launch_isolated(a, 9, body); }), serial);
}

TEST(Faults, LeaveAloneWhatTheyAreNotAskedFor) {
  const CombinationMatrix a = random_network(9, 0.3, 2);
  const auto on_one = [&](const Body& body) { launch_serial(a, 9, body); };
  const auto whole = exchanges(a, {}, on_one);
  const auto differs = [&](const std::vector<Rows>& found, std::size_t n) {
    for (Index k = 0; k < 9; ++k) {
      if (!std::ranges::equal(found[n].row(k), whole[n].row(k))) return true;
    }
    return false;
  };
  for (const Account lossy_one : {Account::models, Account::steps}) {
    FaultOptions options = lossy(0.4);
    options.exchange = {lossy_one};
    const auto found = exchanges(a, options, on_one);
    for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(differs(found, n), (n < 2) == (lossy_one == Account::models)) << n;
    EXPECT_FALSE(differs(found, 4));  // agents agree in any case
  }
}

TEST(Faults, SumsAndAgreementsArriveAndAreChargedForWhatIsSentAgain) {
  const CombinationMatrix a = network_of(Topology::ring, 12);
  with_faults(a, lossy(0.25), [&](Network& network) {
    std::vector<double> ones(12, 1.0);
    constexpr Index times = 200;
    for (Index n = 0; n < times; ++n) {
      std::ranges::fill(ones, 1.0);
      network.spread_sum({ones});
      for (const double x : ones) ASSERT_EQ(x, 12.0);
    }
    // A tree of 12 has 11 links, each way once, and 1/0.75 tries a message on average.
    const double tries = static_cast<double>(network.algorithm_traffic().scalars) / (22.0 * times);
    EXPECT_NEAR(tries, 4.0 / 3, 5 * std::sqrt(0.25 / 0.75 / 0.75 / (22.0 * times)));
    EXPECT_GT(network.algorithm_traffic().rounds, 12 * times);  // a round waits for the last of its messages
    const Index before = network.algorithm_traffic().scalars;
    ones[5] = 70;
    network.spread_max(ones);
    for (const double x : ones) EXPECT_EQ(x, 70);
    EXPECT_GT(network.algorithm_traffic().scalars - before, 6 * 24);
  });
}

TEST(Faults, OfAProbabilityOfOneAreRefused) {
  const auto refusal = polyhop::refusal([] {
    return FaultOptions::fields().read(Value::Table{{"drop", Value(1.0)}}, "faults");
  });
  EXPECT_STREQ(refusal.what(), "faults.drop: found 1.0, expected a number in [0, 1)");
}

}  // namespace
}  // namespace polyhop::faults_test

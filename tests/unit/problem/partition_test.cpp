// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "unit/core/refusal.hpp"

namespace polyhop::partition_test {
namespace {

constexpr Index classes = 3;
constexpr Index agents = 5;

// Samples of three classes in turn: 0, 1, 2, 0, ...
std::vector<double> labels(Index count) {
  std::vector<double> out;
  for (Index n = 0; n < count; ++n) out.push_back(static_cast<double>(n % classes));
  return out;
}

std::vector<Index> sizes(const Partition& partition) {
  std::vector<Index> out(partition.offset.size());
  std::adjacent_difference(partition.offset.begin(), partition.offset.end(), out.begin());
  out.erase(out.begin());
  return out;
}

// How far the agents' shares of each class are from equal ones, squared and summed.
double unevenness(const Partition& partition, const std::vector<double>& targets) {
  double out = 0;
  for (Index c = 0; c < classes; ++c) {
    const auto is_c = [&](Index n) { return targets[n] == static_cast<double>(c); };
    const auto whole = static_cast<double>(std::ranges::count_if(partition.order, is_c));
    for (std::size_t k = 0; k + 1 < partition.offset.size(); ++k) {
      const auto own = static_cast<double>(std::count_if(partition.order.begin() + partition.offset[k],
                                                         partition.order.begin() + partition.offset[k + 1], is_c));
      out += (own / whole - 1.0 / agents) * (own / whole - 1.0 / agents);
    }
  }
  return out;
}

void expect_whole(const Partition& partition, Index count, Index owners) {
  ASSERT_EQ(partition.offset.size(), static_cast<std::size_t>(owners) + 1);
  EXPECT_EQ(partition.offset.front(), 0);
  EXPECT_EQ(partition.offset.back(), count);
  EXPECT_GE(std::ranges::min(sizes(partition)), 1);
  std::vector<Index> sorted = partition.order;
  std::ranges::sort(sorted);
  std::vector<Index> all(count);
  std::iota(all.begin(), all.end(), Index{0});
  EXPECT_EQ(sorted, all);
}

TEST(Partition, EveryKindDealsEverySampleOnceAndLeavesNobodyOut) {
  for (const auto& [kind, name] : EnumNames<PartitionKind>::names) {
    for (const double alpha : {1e-9, 0.1, 1.0, 1e6}) {
      for (const Index count : {5, 7, 100}) {
        for (const Index known : {Index{0}, classes}) {
          for (std::uint64_t seed = 0; seed < 5; ++seed) {
            SCOPED_TRACE(std::string(name) + ", alpha " + std::to_string(alpha) + ", " + std::to_string(count) +
                         " samples, seed " + std::to_string(seed));
            expect_whole(deal({kind, alpha}, labels(count), known, agents, seed), count, agents);
          }
        }
      }
    }
  }
}

TEST(Partition, OneAgentGetsAll) {
  for (const auto& [kind, name] : EnumNames<PartitionKind>::names) {
    SCOPED_TRACE(name);
    expect_whole(deal({kind, 0.5}, labels(4), classes, 1, 0), 4, 1);
  }
}

TEST(Partition, EqualSharesDifferByAtMostOne) {
  for (const PartitionKind kind : {PartitionKind::iid, PartitionKind::blocks, PartitionKind::label}) {
    const auto shares = sizes(deal({kind}, labels(23), classes, agents, 3));
    EXPECT_EQ(std::ranges::max(shares), 5);
    EXPECT_EQ(std::ranges::min(shares), 4);
  }
}

TEST(Partition, BlocksKeepTheOrderOfTheFile) {
  const Partition partition = deal({PartitionKind::blocks}, labels(7), classes, 3, 0);
  EXPECT_EQ(partition.order, (std::vector<Index>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Partition, IidShuffles) {
  const Partition partition = deal({PartitionKind::iid}, labels(100), classes, agents, 0);
  EXPECT_FALSE(std::ranges::is_sorted(partition.order));
}

TEST(Partition, LabelSortsByTargetAndKeepsTheOrderOfEqualOnes) {
  const Partition partition = deal({PartitionKind::label}, labels(7), classes, 3, 0);
  EXPECT_EQ(partition.order, (std::vector<Index>{0, 3, 6, 1, 4, 2, 5}));
  const std::vector<double> numbers = {0.5, -2, 7, 0.25};
  EXPECT_EQ(deal({PartitionKind::label}, numbers, 0, 2, 0).order, (std::vector<Index>{1, 3, 0, 2}));
}

TEST(Partition, DirichletIsTheLessEvenTheSmallerAlpha) {
  const auto targets = labels(3000);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto with = [&](double alpha) {
      return unevenness(deal({PartitionKind::dirichlet, alpha}, targets, classes, agents, seed), targets);
    };
    EXPECT_GT(with(0.05), 10 * with(10)) << "seed " << seed;
    EXPECT_LT(with(1e6), 1e-4) << "seed " << seed;
  }
}

TEST(Partition, DirichletWithoutClassesDealsTenthsOfTheTargets) {
  std::vector<double> targets(1000);
  std::iota(targets.begin(), targets.end(), double{0});
  const Partition even = deal({PartitionKind::dirichlet, 1e9}, targets, 0, agents, 0);
  for (std::size_t k = 0; k < agents; ++k) {
    std::vector<Index> of_tenth(10);
    for (Index n = even.offset[k]; n < even.offset[k + 1]; ++n) {
      ++of_tenth[even.order[n] / 100];
    }
    for (const Index count : of_tenth) EXPECT_EQ(count, 20);
  }
}

// The share of one of two agents is Beta(alpha, alpha): its mean is 1/2, its variance 1/(4 (2 alpha + 1)), its fourth
// central moment 3/(16 (2 alpha + 1)(2 alpha + 3)).
TEST(Partition, SharesHaveTheMomentsOfTheDirichletDistribution) {
  constexpr int draws = 4000;
  const std::vector<double> targets = labels(400);
  for (const double alpha : {0.5, 2.0, 5.0}) {
    const double variance = 1 / (4 * (2 * alpha + 1));
    const double fourth = 3 / (16 * (2 * alpha + 1) * (2 * alpha + 3));
    double sum = 0;
    double squares = 0;
    for (int seed = 0; seed < draws; ++seed) {
      const Partition partition =
          deal({PartitionKind::sizes, alpha}, targets, classes, 2, static_cast<std::uint64_t>(seed));
      const double off = static_cast<double>(partition.offset[1]) / 400 - 0.5;
      sum += off;
      squares += off * off;
    }
    EXPECT_LT(std::abs(sum / draws), 5 * std::sqrt(variance / draws)) << alpha;
    EXPECT_LT(std::abs(squares / draws - variance), 5 * std::sqrt((fourth - variance * variance) / draws)) << alpha;
  }
}

TEST(Partition, SizesAreUnequal) {
  const auto shares = sizes(deal({PartitionKind::sizes, 0.5}, labels(1000), classes, agents, 0));
  EXPECT_GT(std::ranges::max(shares), 2 * std::ranges::min(shares));
  const auto even = sizes(deal({PartitionKind::sizes, 1e9}, labels(1000), classes, agents, 0));
  EXPECT_EQ(even, (std::vector<Index>{200, 200, 200, 200, 200}));
}

TEST(Partition, TheSeedDecides) {
  for (const PartitionKind kind : {PartitionKind::iid, PartitionKind::dirichlet, PartitionKind::sizes}) {
    SCOPED_TRACE(name_of(kind));
    const Partition one = deal({kind}, labels(100), classes, agents, 1);
    const Partition again = deal({kind}, labels(100), classes, agents, 1);
    EXPECT_EQ(one.order, again.order);
    EXPECT_EQ(one.offset, again.offset);
    EXPECT_NE(one.order, deal({kind}, labels(100), classes, agents, 2).order);
  }
}

TEST(Partition, FewerSamplesThanAgentsAreRefusedWithBothNumbers) {
  for (const auto& [kind, name] : EnumNames<PartitionKind>::names) {
    const InputError error = refusal([kind = kind] { return deal({kind}, labels(4), classes, agents, 0); });
    EXPECT_NE(error.message().find("4 samples for 5 agents"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace polyhop::partition_test

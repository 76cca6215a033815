// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/sampler.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "unit/core/refusal.hpp"

namespace polyhop::sampler_test {
namespace {

constexpr std::array<Sampling, 3> all = {Sampling::uniform, Sampling::shuffle, Sampling::cyclic};

std::vector<Index> drawn(Sampler& sampler, Index i, Index k) {
  sampler.draw(i);
  return {sampler.indices(k).begin(), sampler.indices(k).end()};
}

// The samples of the only agent in iterations 0 .. iterations-1, one after the other.
std::vector<Index> sequence(Sampler sampler, Index iterations) {
  std::vector<Index> out;
  for (Index i = 0; i < iterations; ++i) {
    for (const Index n : drawn(sampler, i, 0)) out.push_back(n);
  }
  return out;
}

TEST(Sampler, UniformDrawsEverySampleEquallyOften) {
  const auto samples = sequence(Sampler({0, 1}, {5}, {2, false}, Sampling::uniform, 1), 25000);
  std::vector<int> count(5);
  for (const Index n : samples) {
    ASSERT_GE(n, 0);
    ASSERT_LT(n, 5);
    ++count[n];
  }
  // 50000 draws with probability 1/5: mean 10000, variance 50000 * 4/25 = 8000.
  for (const int c : count) EXPECT_LT(std::abs(c - 10000), 5 * std::sqrt(8000.0));
}

TEST(Sampler, UniformDrawsOfABatchAreIndependent) {
  Sampler sampler({0, 1}, {4}, {2, false}, Sampling::uniform, 1);
  int equal = 0;
  for (Index i = 0; i < 16000; ++i) {
    const auto pair = drawn(sampler, i, 0);
    equal += pair[0] == pair[1] ? 1 : 0;
  }
  // With replacement a pair is equal with probability 1/4: mean 4000, variance 3000.
  EXPECT_LT(std::abs(equal - 4000), 5 * std::sqrt(3000.0));
}

TEST(Sampler, ShuffleVisitsEverySampleOnceAnEpoch) {
  // Batches of 3 of 7 samples: every third epoch begins with a batch, the others begin inside one.
  const auto samples = sequence(Sampler({0, 1}, {7}, {3, false}, Sampling::shuffle, 1), 70);
  ASSERT_EQ(samples.size(), 210U);
  for (auto epoch = samples.begin(); epoch != samples.end(); epoch += 7) {
    EXPECT_EQ(std::set<Index>(epoch, epoch + 7), (std::set<Index>{0, 1, 2, 3, 4, 5, 6}));
  }
}

TEST(Sampler, ShuffleTakesABatchLargerThanTheAgentsSamples) {
  const auto samples = sequence(Sampler({0, 1}, {2}, {5, false}, Sampling::shuffle, 1), 4);
  ASSERT_EQ(samples.size(), 20U);
  for (std::size_t n = 0; n < 20; n += 2) EXPECT_EQ(samples[n] + samples[n + 1], 1) << n;
}

TEST(Sampler, ShuffleOrdersEveryEpochAnew) {
  const auto samples = sequence(Sampler({0, 1}, {6}, {6, false}, Sampling::shuffle, 1), 20);
  std::set<std::vector<Index>> orders;
  for (auto epoch = samples.begin(); epoch != samples.end(); epoch += 6) orders.emplace(epoch, epoch + 6);
  EXPECT_GT(orders.size(), 15U) << "20 of 720 orders";
}

TEST(Sampler, ShuffleBeginsWithEverySampleEquallyOften) {
  const auto samples = sequence(Sampler({0, 1}, {4}, {4, false}, Sampling::shuffle, 1), 16000);
  for (std::size_t place = 0; place < 4; ++place) {
    std::vector<int> count(4);
    for (std::size_t n = place; n < samples.size(); n += 4) ++count[samples[n]];
    // Mean 4000, variance 3000.
    for (const int c : count) EXPECT_LT(std::abs(c - 4000), 5 * std::sqrt(3000.0)) << "place " << place;
  }
}

TEST(Sampler, CyclicTakesIBPlusJModuloN) {
  EXPECT_EQ(sequence(Sampler({0, 1}, {4}, {3, false}, Sampling::cyclic, 1), 3),
            (std::vector<Index>{0, 1, 2, 3, 0, 1, 2, 3, 0}));
  EXPECT_EQ(sequence(Sampler({0, 1}, {3}, {1, false}, Sampling::cyclic, 1), 4), (std::vector<Index>{0, 1, 2, 0}));
}

TEST(Sampler, AllTakesAllInOrderInEveryIteration) {
  for (const Sampling sampling : all) {
    Sampler sampler({0, 2}, {3, 1}, {0, true}, sampling, 1);
    for (const Index i : {0, 5}) {
      EXPECT_EQ(drawn(sampler, i, 0), (std::vector<Index>{0, 1, 2}));
      EXPECT_EQ(drawn(sampler, i, 1), (std::vector<Index>{0}));
    }
    EXPECT_EQ(sampler.total(), 4);
    EXPECT_EQ(sampler.offset(1), 3);
  }
}

TEST(Sampler, ABlockDrawsWhatTheWholeDraws) {
  const std::vector<Index> samples = {5, 3, 7, 4};
  for (const Sampling sampling : all) {
    Sampler whole({0, 4}, samples, {2, false}, sampling, 9);
    Sampler block({1, 3}, {3, 7}, {2, false}, sampling, 9);
    for (Index i = 0; i < 30; ++i) {
      EXPECT_EQ(drawn(block, i, 0), drawn(whole, i, 1)) << name_of(sampling) << ", iteration " << i;
      EXPECT_EQ(drawn(block, i, 1), drawn(whole, i, 2)) << name_of(sampling) << ", iteration " << i;
    }
  }
}

TEST(Sampler, DependsOnTheIterationAlone) {
  for (const Sampling sampling : all) {
    Sampler used({0, 1}, {5}, {2, false}, sampling, 9);
    for (const Index i : {40, 3, 17, 2, 2}) {
      Sampler fresh({0, 1}, {5}, {2, false}, sampling, 9);
      EXPECT_EQ(drawn(used, i, 0), drawn(fresh, i, 0)) << name_of(sampling) << ", iteration " << i;
    }
  }
}

TEST(Sampler, AgentsAndSeedsDrawDifferently) {
  for (const Sampling sampling : {Sampling::uniform, Sampling::shuffle}) {
    const auto first = sequence(Sampler({0, 1}, {100}, {10, false}, sampling, 1), 5);
    EXPECT_NE(first, sequence(Sampler({1, 2}, {100}, {10, false}, sampling, 1), 5)) << name_of(sampling);
    EXPECT_NE(first, sequence(Sampler({0, 1}, {100}, {10, false}, sampling, 2), 5)) << name_of(sampling);
  }
}

TEST(Sampler, ListsAgentsOneAfterTheOther) {
  Sampler sampler({4, 7}, {5, 3, 9}, {2, false}, Sampling::cyclic, 1);
  EXPECT_EQ(sampler.total(), 6);
  for (Index k = 0; k < 3; ++k) {
    EXPECT_EQ(sampler.offset(k), 2 * k);
    EXPECT_EQ(drawn(sampler, 1, k), (std::vector<Index>{2, k == 1 ? 0 : 3}));
  }
}

TEST(Sampler, RefusesWhatDoesNotFitIntoMemory) {
  const auto made = [](Index agents, Index batch) {
    return refusal([&] {
             return Sampler({0, agents}, std::vector<Index>(agents, 5), {batch, false}, Sampling::uniform, 1);
           })
        .message();
  };
  EXPECT_NE(made(501, 1'000'000).find("1000000 samples of each of 501 agents"), std::string::npos);
  EXPECT_NE(made(2, 4611686018427387904).find("at most 1000000 each"), std::string::npos);
}

TEST(Sampler, AnEpochEndsWhenTheAgentWithTheMostSamplesHasSeenThem) {
  for (const Sampling sampling : all) {
    EXPECT_EQ(Sampler({0, 3}, {3, 10, 4}, {3, false}, sampling, 1).epoch(), 4);
    EXPECT_EQ(Sampler({0, 3}, {3, 9, 4}, {3, false}, sampling, 1).epoch(), 3);
    EXPECT_EQ(Sampler({0, 3}, {3, 10, 4}, {0, true}, sampling, 1).epoch(), 1);
  }
}

TEST(Batch, IsANumberOrAll) {
  EXPECT_EQ(Codec<Batch>::read(1).size, 1);
  EXPECT_EQ(Codec<Batch>::read(Index{1'000'000}).size, 1'000'000);
  EXPECT_EQ(Codec<Batch>::read(3).size, 3);
  EXPECT_FALSE(Codec<Batch>::read(3).all);
  EXPECT_TRUE(Codec<Batch>::read("all").all);
  EXPECT_EQ(Codec<Batch>::write({3, false}).text(), "3");
  EXPECT_EQ(Codec<Batch>::write({0, true}).text(), "\"all\"");
}

TEST(Batch, RefusesAnythingElse) {
  for (const Value& bad : {Value(0), Value(-1), Value(1.0), Value("al"), Value(true), Value(Index{1'000'001}),
                           Value(Index{4611686018427387904})}) {
    EXPECT_EQ(refusal([&] { return Codec<Batch>::read(bad); }).message(),
              "found " + bad.text() + ", expected an integer from 1 to 1000000 or \"all\"");
  }
}

}  // namespace
}  // namespace polyhop::sampler_test

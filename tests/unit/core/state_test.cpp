// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/state.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "unit/core/refusal.hpp"

namespace polyhop::state_test {
namespace {

// One worker's share of a small method's state.
struct Worker {
  explicit Worker(Block own) : block(own), w(own.size(), 3), mu(own.size()) {
    registry.rows("w", w);
    registry.scalars("mu", mu);
    registry.number("average", average);
    registry.number("count", count);
    registry.shared("memory", memory);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Numbers that tell agent and coordinate.
  void fill() {
    for (Index k = 0; k < block.size(); ++k) {
      for (Index j = 0; j < 3; ++j) w(k, j) = 10.0 * static_cast<double>(block.first + k) + static_cast<double>(j);
      mu[k] = -static_cast<double>(block.first + k);
    }
    average = 0.1;
    count = 123456789012345;
    for (Index r = 0; r < memory.rows(); ++r) {
      for (Index j = 0; j < 2; ++j) memory(r, j) = static_cast<double>(100 * r + j);
    }
  }

  Block block;
  Rows w;
  std::vector<double> mu;
  double average = 0;
  Index count = 0;
  Rows memory{6, 2};  // more than there are agents
  StateRegistry registry;
};

Snapshot saved_by(Index agents, Index workers) {
  Snapshot snapshot;
  for (Index n = 0; n < workers; ++n) {
    Worker worker(block_of(agents, workers, n));
    worker.fill();
    if (n == 0) snapshot = worker.registry.shape(agents);
    worker.registry.save(worker.block, snapshot);
  }
  return snapshot;
}

TEST(StateRegistry, HasTheShapeOfAllAgents) {
  const Worker worker({1, 3});
  const Snapshot snapshot = worker.registry.shape(5);
  ASSERT_EQ(snapshot.entries.size(), 5U);
  EXPECT_EQ(snapshot.entries[0].name, "w");
  EXPECT_EQ(snapshot.entries[0].rows, 5);
  EXPECT_EQ(snapshot.entries[0].columns, 3);
  EXPECT_EQ(snapshot.entries[0].data.size(), 15U);
  EXPECT_EQ(snapshot.entries[1].data.size(), 5U);
  EXPECT_EQ(snapshot.entries[2].rows, 1);
  EXPECT_EQ(snapshot.entries[3].name, "count");
  EXPECT_EQ(snapshot.entries[4].rows, 6);
  EXPECT_EQ(snapshot.entries[4].columns, 2);
  for (std::size_t n = 0; n < 5; ++n) EXPECT_EQ(snapshot.entries[n].shared, n > 1);
}

TEST(StateRegistry, SavesRowsWithoutPadding) {
  const Snapshot snapshot = saved_by(3, 1);
  EXPECT_EQ(snapshot.entries[0].data, (std::vector<double>{0, 1, 2, 10, 11, 12, 20, 21, 22}));
  EXPECT_EQ(snapshot.entries[1].data, (std::vector<double>{0, -1, -2}));
  EXPECT_EQ(snapshot.entries[2].data, (std::vector<double>{0.1}));
  EXPECT_EQ(snapshot.entries[4].data, (std::vector<double>{0, 1, 100, 101, 200, 201, 300, 301, 400, 401, 500, 501}));
}

TEST(StateRegistry, SavesTheSameHoweverAgentsAreSplit) {
  const Snapshot whole = saved_by(5, 1);
  for (Index workers = 2; workers <= 7; ++workers) {
    const Snapshot split = saved_by(5, workers);
    for (std::size_t n = 0; n < whole.entries.size(); ++n) {
      EXPECT_EQ(split.entries[n].data, whole.entries[n].data) << split.entries[n].name << ", " << workers << " workers";
    }
  }
}

TEST(StateRegistry, RestoresToAnyOtherSplit) {
  const Snapshot snapshot = saved_by(5, 2);
  for (Index workers = 1; workers <= 7; ++workers) {
    for (Index n = 0; n < workers; ++n) {
      Worker worker(block_of(5, workers, n));
      Worker expected(worker.block);
      expected.fill();
      worker.registry.restore(worker.block, snapshot);
      EXPECT_EQ(worker.mu, expected.mu);
      EXPECT_EQ(worker.average, 0.1);
      EXPECT_EQ(worker.count, 123456789012345);
      for (Index r = 0; r < 6; ++r) {
        for (Index j = 0; j < 2; ++j) EXPECT_EQ(worker.memory(r, j), expected.memory(r, j));
      }
      for (Index k = 0; k < worker.block.size(); ++k) {
        for (Index j = 0; j < 3; ++j) EXPECT_EQ(worker.w(k, j), expected.w(k, j)) << k << ", " << j;
      }
    }
  }
}

TEST(StateRegistry, KeepsEveryBitOfDoublesAndIntegers) {
  double number = 0;
  Index count = 0;
  std::vector<double> scalars(1);
  StateRegistry registry;
  registry.number("number", number);
  registry.number("count", count);
  registry.scalars("scalars", scalars);
  using Limits = std::numeric_limits<double>;
  for (const double x :
       {-0.0, 1.0 / 3, Limits::denorm_min(), Limits::max(), -Limits::infinity(), Limits::quiet_NaN()}) {
    // 2^53 + 1 is no double; -1 and 1 have the bits of a NaN and of a subnormal.
    for (const Index n : {Index{0}, Index{1}, Index{-1}, (Index{1} << 53) + 1, std::numeric_limits<Index>::max()}) {
      number = x;
      scalars[0] = x;
      count = n;
      Snapshot snapshot = registry.shape(1);
      registry.save({0, 1}, snapshot);
      number = scalars[0] = 99;
      count = 99;
      registry.restore({0, 1}, snapshot);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(number), std::bit_cast<std::uint64_t>(x));
      EXPECT_EQ(std::bit_cast<std::uint64_t>(scalars[0]), std::bit_cast<std::uint64_t>(x));
      EXPECT_EQ(count, n);
    }
  }
}

TEST(StateRegistry, ListsItsEntriesAndCopiesOneAgentsPart) {
  Worker worker({2, 5});
  worker.fill();
  const auto entries = worker.registry.entries();
  ASSERT_EQ(entries.size(), 5U);
  EXPECT_EQ(entries[0].name, "w");
  EXPECT_TRUE(entries[0].per_agent);
  EXPECT_EQ(entries[0].columns, 3);
  EXPECT_TRUE(entries[1].per_agent);
  EXPECT_EQ(entries[1].columns, 1);
  EXPECT_FALSE(entries[2].per_agent);
  EXPECT_FALSE(entries[3].per_agent);
  EXPECT_EQ(entries[3].rows, 1);
  EXPECT_FALSE(entries[4].per_agent);
  EXPECT_EQ(entries[4].rows, 6);
  Worker other({7, 9});
  for (std::size_t n = 0; n < entries.size(); ++n) {
    std::vector<double> part(entries[n].columns);
    const bool is_number = !entries[n].per_agent && entries[n].rows == 1;
    worker.registry.copy_out(n, is_number ? 0 : 2, part);
    other.registry.copy_in(n, is_number ? 0 : 1, part);
  }
  EXPECT_EQ(other.w(1, 2), 42);
  EXPECT_EQ(other.mu[1], -4);
  EXPECT_EQ(other.w(0, 2), 0);
  EXPECT_EQ(other.average, 0.1);
  EXPECT_EQ(other.count, 123456789012345);
  EXPECT_EQ(other.memory(1, 1), 201);
  EXPECT_EQ(other.memory(2, 1), 0);
}

TEST(StateRegistry, RowsStandByTheAgentsNumbers) {
  const Numbering numbering{{2, 0, 1}, {1, 2, 0}};
  Snapshot snapshot;
  for (const Index place : {0, 1, 2}) {
    Worker worker({place, place + 1, &numbering});
    worker.mu[0] = static_cast<double>(10 * worker.block.agent(0));
    if (place == 0) snapshot = worker.registry.shape(3);
    worker.registry.save(worker.block, snapshot);
  }
  EXPECT_EQ(snapshot.entries[1].data, (std::vector<double>{0, 10, 20}));
  Worker first({0, 2, &numbering});
  first.registry.restore(first.block, snapshot);
  EXPECT_EQ(first.mu, (std::vector<double>{20, 0}));
}

TEST(StateRegistry, RefusesTheSameNameTwice) {
  Worker worker({0, 1});
  double other = 0;
  EXPECT_STREQ(refusal<Error>([&] { return worker.registry.number("mu", other), 0; }).what(),
               "state 'mu' is registered twice");
}

// What restoring `snapshot` to a block of agents 0 .. 3 says.
std::string refused(const Snapshot& snapshot) {
  Worker worker({0, 3});
  return refusal<Error>([&] { return worker.registry.restore(worker.block, snapshot), 0; }).what();
}

TEST(StateRegistry, RefusesASnapshotWithOtherEntries) {
  Snapshot snapshot = saved_by(3, 1);
  snapshot.entries.pop_back();
  EXPECT_EQ(refused(snapshot), "the saved state has 4 entries, this run has 5");
  snapshot = saved_by(3, 1);
  snapshot.entries[1].name = "rate";
  EXPECT_EQ(refused(snapshot), "the saved state has 'rate' where this run has 'mu'");
}

TEST(StateRegistry, RefusesASnapshotOfAnotherDimension) {
  Snapshot snapshot = saved_by(3, 1);
  snapshot.entries[0].columns = 2;
  snapshot.entries[0].data.resize(6);
  EXPECT_NE(refused(snapshot).find("'w'"), std::string::npos);
}

TEST(StateRegistry, RefusesASnapshotOfFewerAgents) {
  EXPECT_NE(refused(saved_by(2, 1)).find("'w'"), std::string::npos);
}

TEST(StateRegistry, RefusesASnapshotWhoseDataAreCutShort) {
  Snapshot snapshot = saved_by(3, 1);
  snapshot.entries[0].data.pop_back();
  EXPECT_NE(refused(snapshot).find("'w'"), std::string::npos);
  snapshot = saved_by(3, 1);
  snapshot.entries[2].data.clear();
  EXPECT_NE(refused(snapshot).find("'average'"), std::string::npos);
  snapshot = saved_by(3, 1);
  snapshot.entries[4].rows = 5;
  snapshot.entries[4].data.resize(10);
  EXPECT_NE(refused(snapshot).find("'memory'"), std::string::npos);
}

}  // namespace
}  // namespace polyhop::state_test

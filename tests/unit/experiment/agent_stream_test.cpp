// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/agent_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/graph/topology.hpp"
#include "support/thread_team.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::agent_stream_test {
namespace {

using test::ThreadTeam;

NetworkGraph ring(Index agents) {
  GraphOptions graph;
  graph.topology = Topology::ring;
  graph.agents = agents;
  return make_network(graph, 0);
}

// A small method's state on one block; its numbers tell agent and coordinate.
struct Own {
  Own(const Block& block, Index columns) : w(block.size(), columns), mu(block.size()), memory(25, columns) {
    registry.number("count", count);
    registry.rows("w", w);
    registry.scalars("mu", mu);
    registry.shared("memory", memory);
  }
  static double expected(Index agent, Index j) { return 1000.0 * static_cast<double>(agent) + static_cast<double>(j); }
  void fill(const Block& block) {
    for (Index k = 0; k < block.size(); ++k) {
      for (Index j = 0; j < w.columns(); ++j) w(k, j) = expected(block.agent(k), j);
      mu[k] = -static_cast<double>(block.agent(k));
    }
    count = (Index{1} << 53) + 1;
    for (Index r = 0; r < memory.rows(); ++r) {
      for (Index j = 0; j < memory.columns(); ++j) memory(r, j) = expected(-r, j);
    }
  }
  void expect_filled(const Block& block) const {
    EXPECT_EQ(count, (Index{1} << 53) + 1);
    for (Index r = 0; r < memory.rows(); ++r) {
      for (Index j = 0; j < memory.columns(); ++j) ASSERT_EQ(memory(r, j), expected(-r, j)) << r << ", " << j;
    }
    for (Index k = 0; k < block.size(); ++k) {
      EXPECT_EQ(mu[k], -static_cast<double>(block.agent(k)));
      for (Index j = 0; j < w.columns(); ++j) ASSERT_EQ(w(k, j), expected(block.agent(k), j)) << k << ", " << j;
    }
  }
  Rows w;
  std::vector<double> mu;
  Rows memory;  // what all share
  Index count = 0;
  StateRegistry registry;
};

// A saved state, part by part.
struct Saved {
  struct Part {
    std::string name;
    Index first, rows, columns;
    std::vector<double> data;
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;

  StateSink sink() {
    return [this](const StatePart& p) {
      parts.push_back({p.name, p.first, p.rows, p.columns, {p.data.begin(), p.data.end()}});
    };
  }
  [[nodiscard]] StateStream stream() const {
    return [this](const StateSink& sink) {
      for (const Part& p : parts) sink({p.name, p.first, p.rows, p.columns, p.data});
    };
  }
  // The same rows in parts of at most `most` of them.
  [[nodiscard]] Saved cut(Index most) const {
    Saved out;
    for (const Part& p : parts) {
      for (Index r = 0; r < p.rows; r += most) {
        const Index rows = std::min(most, p.rows - r);
        const auto begin = p.data.begin() + r * p.columns;
        out.parts.push_back({p.name, p.first + r, rows, p.columns, {begin, begin + rows * p.columns}});
      }
    }
    return out;
  }
};

// Agents in shares as even as can be; with `mixed`, those of a process are far from each other.
Ownership owners(Index agents, Index processes, bool mixed) {
  Ownership out = balanced_ownership(std::vector<double>(agents, 1.0), processes);
  if (!mixed) return out;
  auto numbering = std::make_shared<Numbering>();
  numbering->place.resize(agents);
  for (Index first = 0; first < 3; ++first) {
    for (Index agent = first; agent < agents; agent += 3) {
      numbering->place[agent] = static_cast<std::int32_t>(numbering->agent.size());
      numbering->agent.push_back(static_cast<std::int32_t>(agent));
    }
  }
  out.numbering = std::move(numbering);
  return out;
}

Saved saved_by(const NetworkGraph& network, Index columns, Index processes, bool mixed = false) {
  Saved out;
  ThreadTeam::run(processes, [&](Team& team) {
    const Ownership who = owners(network.matrix.agents(), processes, mixed);
    team.launch(network.matrix, who, 1, 1, [&](Worker& worker) {
      Own own(worker.network.block(), columns);
      own.fill(worker.network.block());
      send_state(worker, own.registry, worker.number == 0 ? out.sink() : StateSink{});
    });
  });
  return out;
}

void expect_restored(const NetworkGraph& network, const Saved& saved, Index columns, Index processes, bool mixed) {
  ThreadTeam::run(processes, [&](Team& team) {
    const Ownership who = owners(network.matrix.agents(), processes, mixed);
    team.launch(network.matrix, who, 1, 1, [&](Worker& worker) {
      Own own(worker.network.block(), columns);
      receive_state(worker, own.registry, worker.number == 0 ? saved.stream() : StateStream{});
      own.expect_filled(worker.network.block());
    });
  });
}

TEST(AgentStream, WritesTheSameWhoeverOwnsTheAgents) {
  const NetworkGraph network = ring(11);
  const Saved alone = saved_by(network, 3, 1);
  ASSERT_EQ(alone.parts.size(), 4U);
  EXPECT_EQ(alone.parts[1].rows, 11);
  EXPECT_EQ(alone.parts[2].data[4], -4);
  EXPECT_EQ(alone.parts[3].rows, 25);
  for (const Index processes : {2, 3, 5, 11}) {
    for (const bool mixed : {false, true}) EXPECT_EQ(saved_by(network, 3, processes, mixed).parts, alone.parts);
  }
}

TEST(AgentStream, RestoresToAnyOtherProcessesFromPartsOfAnySize) {
  const NetworkGraph network = ring(11);
  const Saved saved = saved_by(network, 3, 4);
  for (const Index most : {1, 4, 11}) {
    for (const Index processes : {1, 2, 7}) {
      for (const bool mixed : {false, true}) expect_restored(network, saved.cut(most), 3, processes, mixed);
    }
  }
}

TEST(AgentStream, ThreadsSendAndReceiveTheSame) {
  const NetworkGraph network = ring(11);
  const Saved alone = saved_by(network, 3, 1);
  Saved saved;
  launch_threads(network.matrix, 1, 4, [&](Worker& worker) {
    Own own(worker.network.block(), 3);
    own.fill(worker.network.block());
    send_state(worker, own.registry, worker.number == 0 ? saved.sink() : StateSink{});
    Own other(worker.network.block(), 3);
    receive_state(worker, other.registry, worker.number == 0 ? saved.stream() : StateStream{});
    other.expect_filled(worker.network.block());
  });
  EXPECT_EQ(saved.parts, alone.parts);
}

TEST(AgentStream, CutsAStateThatIsLargerThanAChunk) {
  constexpr Index agents = 45;
  constexpr Index columns = 100'000;  // 36 MB, and 20 that all share
  const NetworkGraph network = ring(agents);
  const Saved saved = saved_by(network, columns, 3, true);
  ASSERT_EQ(saved.parts.size(), 1 + 3 + 1 + 2U);
  Index next = 0;
  for (std::size_t n = 1; n < 4; ++n) {
    EXPECT_EQ(saved.parts[n].first, next);
    EXPECT_LE(saved.parts[n].data.size() * sizeof(double), static_cast<std::size_t>(max_bytes_at_once));
    next += saved.parts[n].rows;
  }
  EXPECT_EQ(next, agents);
  for (std::size_t n = 5; n < 7; ++n) {
    EXPECT_LE(saved.parts[n].data.size() * sizeof(double), static_cast<std::size_t>(max_bytes_at_once));
  }
  EXPECT_EQ(saved.parts[5].rows + saved.parts[6].rows, 25);
  expect_restored(network, saved, columns, 2, false);
}

TEST(AgentStream, OneRowMayBeLargerThanAChunk) {
  EXPECT_EQ(rows_at_once(1), max_bytes_at_once / 8);
  EXPECT_EQ(rows_at_once(max_bytes_at_once / 8), 1);
  EXPECT_EQ(rows_at_once(max_bytes_at_once), 1);
}

TEST(AgentStream, AFailureInTheMiddleEndsAllWorkers) {
  const NetworkGraph network = ring(6);
  int ended = 0;
  std::mutex mutex;
  const auto attempt = [&] {
    ThreadTeam::run(3, [&](Team& team) {
      try {
        team.launch(network.matrix, owners(6, 3, false), 1, 1, [&](Worker& worker) {
          Own own(worker.network.block(), 2);
          send_state(worker, own.registry, [](const StatePart& part) {
            if (part.name == "w") throw Error("the disk is full");
          });
        });
      } catch (const Error& e) {
        const std::lock_guard lock(mutex);
        if (std::string(e.what()) == "the disk is full") ++ended;
      }
    });
  };
  attempt();
  EXPECT_EQ(ended, 3);
}

// What receiving says, on two threads.
std::string refused(const Saved& saved) {
  const NetworkGraph network = ring(4);
  return refusal<Error>([&] {
           launch_threads(network.matrix, 1, 2, [&](Worker& worker) {
             Own own(worker.network.block(), 3);
             receive_state(worker, own.registry, saved.stream());
           });
           return 0;
         })
      .what();
}

TEST(AgentStream, RefusesAStateOfAnotherShape) {
  const Saved whole = saved_by(ring(4), 3, 1);
  Saved saved = whole;
  saved.parts.pop_back();
  EXPECT_EQ(refused(saved), "the saved state has 3 entries, this run has 4");
  saved.parts.clear();
  EXPECT_EQ(refused(saved), "the saved state has 0 entries, this run has 4");
  saved = whole;
  saved.parts.push_back(saved.parts.front());
  EXPECT_EQ(refused(saved), "the saved state has 'count', which this run does not have");
  saved = whole;
  saved.parts[2].name = "rate";
  EXPECT_EQ(refused(saved), "the saved state has 'rate' where this run has 'mu'");
  EXPECT_EQ(refused(saved_by(ring(3), 3, 1)), "the saved state's 'w' has another shape than this run's");
  EXPECT_EQ(refused(saved_by(ring(5), 3, 1)), "the saved state's 'w' has another shape than this run's");
  EXPECT_EQ(refused(saved_by(ring(4), 2, 1)), "the saved state's 'w' has another shape than this run's");
  saved = whole;
  saved.parts[1].data.pop_back();
  EXPECT_EQ(refused(saved), "the saved state's 'w' has another shape than this run's");
}

}  // namespace
}  // namespace polyhop::agent_stream_test

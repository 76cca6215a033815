// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/graph/spanning_tree.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/network/thread_barrier.hpp"
#include "polyhop/network/traffic.hpp"

namespace polyhop::test {

/// A network in which every agent is alone: it has tables of its own, NaN before each exchange, and a row reaches
/// them only by a copy along an edge, of the spanning tree where a message goes along that. Two hops are two phases: a
/// neighbour's own row, then what that neighbour received in the first phase, each row from the first neighbour that
/// has it. So a row that an agent was never sent is NaN, and whatever uses it shows it.
class IsolatedNetwork final : public Network {
 public:
  using Team = std::vector<std::unique_ptr<IsolatedNetwork>>;

  IsolatedNetwork(const CombinationMatrix& matrix, Index agent, VectorType vectors, const Team& team,
                  ThreadBarrier& barrier)
      : Network(matrix, {agent, agent + 1}, vectors), team_(team), barrier_(barrier) {}

  /// The rows copied to this agent, and the phases in which that happened.
  [[nodiscard]] const Traffic& copied() const { return copied_; }

 private:
  // The network asks again between `begin` and `finish`, and finds what was written.
  Mail& outbox(const Message& message) override {
    if (!open_) {
      for (Mail* mail : {&written_, &first_, &received_}) forget(*mail, message);
      open_ = true;
    }
    return written_;
  }

  void begin(const Message&) override { barrier_.arrive_and_wait(); }

  const Mail& finish(const Message& message) override {
    const Index self = block().first;
    move_row(message, written_, first_, self);
    for (const Index l : neighbours(self)) {
      if (hears(message, l)) copy_row(message, team_[slot(l)]->written_, first_, l);
    }
    copied_.rounds += 1;
    barrier_.arrive_and_wait();
    for (Index row = 0; row < agents(); ++row) move_row(message, first_, received_, row);
    if (message.hops == 2) {
      std::vector<Index> held = neighbours(self);
      held.push_back(self);
      for (const Index l : neighbours(self)) {
        for (const Index m : neighbours(l)) {
          if (std::ranges::find(held, m) != held.end()) continue;
          held.push_back(m);
          copy_row(message, team_[slot(l)]->first_, received_, m);
        }
      }
      copied_.rounds += 1;
    }
    barrier_.arrive_and_wait();
    open_ = false;
    return received_;
  }

  // Whether a neighbour's message is for this agent: along the spanning tree only those of one level are.
  [[nodiscard]] bool hears(const Message& message, Index from) const {
    const SpanningTree& tree = matrix().tree();
    const Index self = block().first;
    if (message.level > 0) return tree.depth[from] == message.level && tree.above[from] == self;
    if (message.level < 0) return tree.depth[self] == -message.level && tree.above[self] == from;
    return true;
  }

  static std::size_t slot(Index agent) { return static_cast<std::size_t>(agent); }

  [[nodiscard]] std::vector<Index> neighbours(Index agent) const {
    std::vector<Index> others;
    for (const Index l : matrix().rows().columns_of(agent)) {
      if (l != agent) others.push_back(l);
    }
    return others;
  }

  void forget(Mail& mail, const Message& message) const {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    make_room(mail, message);
    const auto fill = [&](Rows& rows) { copy(Rows(rows.rows(), rows.columns(), unknown, rows.element()), rows); };
    for (int v = message.first; v < message.first + message.vectors; ++v) fill(mail.vectors[v]);
    if (message.scalars > 0) fill(mail.scalars);
  }

  // Within an agent: nobody's message.
  static void move_row(const Message& message, const Mail& from, Mail& to, Index row) {
    for (int v = message.first; v < message.first + message.vectors; ++v) {
      copy_rows(from.vectors[v], row, to.vectors[v], row);
    }
    for (int s = 0; s < message.scalars; ++s) to.scalars(row, s) = from.scalars(row, s);
  }

  void copy_row(const Message& message, const Mail& from, Mail& to, Index row) {
    move_row(message, from, to, row);
    copied_.vectors += message.vectors;
    copied_.scalars += message.scalars;
  }

  const Team& team_;
  ThreadBarrier& barrier_;
  Mail written_;   // what this agent sends, in its own row
  Mail first_;     // after the first phase
  Mail received_;  // after the last
  bool open_ = false;
  Traffic copied_;
};

class IsolatedCollective final : public Collective {
 public:
  IsolatedCollective(ThreadBarrier& barrier, std::vector<double>& collected, Index number, Index count)
      : barrier_(barrier), collected_(collected), number_(number), count_(count) {}

  void in_order(std::span<double> numbers, const std::function<void(std::span<double>)>& turn) override {
    if (number_ == 0) collected_.assign(numbers.size(), 0.0);
    for (Index worker = 0; worker < count_; ++worker) {
      barrier_.arrive_and_wait();
      if (worker == number_) turn(collected_);
    }
    barrier_.arrive_and_wait();
    std::ranges::copy(collected_, numbers.begin());
    barrier_.arrive_and_wait();
  }
  // Nobody's record is kept where agents are alone.
  void gather(std::span<const Index>, std::span<const double>, std::span<double>) override { throw Error("no record"); }
  void scatter(std::span<const Index>, std::span<double>, std::span<const double>) override {
    throw Error("no record");
  }

 private:
  ThreadBarrier& barrier_;
  std::vector<double>& collected_;
  Index number_;
  Index count_;
};

/// Runs `body` with one worker an agent, as `launch_threads` does, and returns what was copied to each of them.
inline std::vector<Traffic> launch_isolated(const CombinationMatrix& matrix, VectorType vectors, const Body& body) {
  const Index count = matrix.agents();
  ThreadBarrier barrier(count);
  IsolatedNetwork::Team team;
  for (Index k = 0; k < count; ++k) {
    team.push_back(std::make_unique<IsolatedNetwork>(matrix, k, vectors, team, barrier));
  }
  std::vector<double> collected;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&](Index number) {
    try {
      IsolatedCollective collective(barrier, collected, number, count);
      Worker worker{*team[number], collective, number, count};
      body(worker);
    } catch (const Abandoned&) {
      // Somebody else failed and has told.
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      barrier.abandon();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (Index number = 0; number < count; ++number) threads.emplace_back(work, number);
  }
  if (failure) std::rethrow_exception(failure);
  std::vector<Traffic> copied;
  for (const auto& network : team) copied.push_back(network->copied());
  return copied;
}

}  // namespace polyhop::test

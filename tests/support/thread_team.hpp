// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/core/serial_collective.hpp"
#include "polyhop/network/team.hpp"
#include "polyhop/network/thread_barrier.hpp"

namespace polyhop::test {

/// The network of one "process" of a ThreadTeam: mail of its own with rows for those it hears of alone, into which
/// rows of others come by a copy from the mail of the process that owns them.
class ProcessNetwork final : public Network {
 public:
  using Networks = std::vector<ProcessNetwork*>;
  ProcessNetwork(const CombinationMatrix& matrix, const Ownership& ownership, Index rank, VectorType vectors,
                 const Roster& near, const Networks& others, ThreadBarrier& barrier)
      : Network(matrix, ownership.block(rank), vectors, &near),
        ownership_(ownership),
        near_(near),
        others_(others),
        barrier_(barrier) {}

  /// Those that the agents of a block hear of along edges, themselves among them.
  static Roster near(const CombinationMatrix& matrix, const Block& block) {
    std::vector<std::int32_t> places;
    for (Index k = 0; k < block.size(); ++k) {
      for (const Index l : matrix.rows().columns_of(block.agent(k))) add(places, block, l);
    }
    return sorted(std::move(places), block);
  }

 private:
  static void add(std::vector<std::int32_t>& places, const Block& block, Index agent) {
    places.push_back(static_cast<std::int32_t>(block.place(agent)));
  }
  static Roster sorted(std::vector<std::int32_t> places, const Block& block) {
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return {std::move(places), block};
  }

  // All processes widen their mail before the same exchange.
  [[nodiscard]] Mail& mail() { return mail_[far_ ? 1 : 0]; }
  [[nodiscard]] const Roster& known() const { return far_ ? *far_ : near_; }

  Mail& outbox(const Message& message) override {
    make_room(mail(), message);
    return mail();
  }
  void begin(const Message&) override { phase_ = barrier_.arrive(); }
  const Mail& finish(const Message& message) override {
    barrier_.wait(phase_);
    const Roster& all = known();
    for (Index slot = 0; slot < all.size(); ++slot) {
      const Index place = all.place(slot);
      if (place < block().first || place >= block().last) copy(message, place, slot);
    }
    barrier_.arrive_and_wait();
    return mail();
  }
  const Roster* widen() override {
    std::vector<std::int32_t> places;
    for (const Index l : two_hop().column) add(places, block(), l);
    far_.emplace(sorted(std::move(places), block()));
    return &*far_;
  }

  void copy(const Message& message, Index place, Index slot) {
    const auto owner = std::ranges::upper_bound(ownership_.first, place) - ownership_.first.begin() - 1;
    ProcessNetwork& other = *others_[owner];
    const Index theirs = other.known().slot_at(place);
    const Mail& from = other.mail();
    for (int v = message.first; v < message.first + message.vectors; ++v) {
      copy_rows(from.vectors[v], theirs, mail().vectors[v], slot);
    }
    for (int s = 0; s < message.scalars; ++s) mail().scalars(slot, s) = from.scalars(theirs, s);
  }

  const Ownership& ownership_;
  const Roster& near_;
  std::optional<Roster> far_;
  const Networks& others_;
  ThreadBarrier& barrier_;
  std::array<Mail, 2> mail_;
  std::uint32_t phase_ = 0;
};

/// The collective of all processes, one worker each.
class ProcessCollective final : public Collective {
 public:
  struct Shared {
    explicit Shared(Index processes) : barrier(processes) {}
    ThreadBarrier barrier;
    std::vector<double> collected;
    std::span<double> gathered;
    std::span<const double> distributed;
  };

  /// `ownership`: null outside of a launch, where nobody says whose agents are whose.
  ProcessCollective(Shared& shared, const Ownership* ownership, Index rank, Index processes)
      : shared_(shared), ownership_(ownership), rank_(rank), processes_(processes) {}

  void in_order(std::span<double> numbers, const std::function<void(std::span<double>)>& turn) override {
    pass(numbers, [&] {
      for (Index r = 0; r < processes_; ++r) {
        shared_.barrier.arrive_and_wait();
        if (r == rank_) turn(shared_.collected);
      }
    });
  }
  void by_agent(std::span<double> numbers, Index agents,
                const std::function<void(std::span<double>, Index k)>& turn) override {
    if (ownership_ == nullptr) return Collective::by_agent(numbers, agents, turn);
    const Block own = ownership_->block(rank_);
    pass(numbers, [&] {
      for (Index agent = 0; agent < ownership_->first.back(); ++agent) {
        shared_.barrier.arrive_and_wait();
        if (own.holds(agent)) turn(shared_.collected, own.place(agent) - own.first);
      }
    });
  }
  void gather(std::span<const Index> rows, std::span<const double> mine, std::span<double> all) override {
    if (rank_ == 0) shared_.gathered = all;
    shared_.barrier.arrive_and_wait();
    SerialCollective().gather(rows, mine, shared_.gathered);
    shared_.barrier.arrive_and_wait();
  }
  void scatter(std::span<const Index> rows, std::span<double> mine, std::span<const double> all) override {
    if (rank_ == 0) shared_.distributed = all;
    shared_.barrier.arrive_and_wait();
    SerialCollective().scatter(rows, mine, shared_.distributed);
    shared_.barrier.arrive_and_wait();
  }

 private:
  template <class F>
  void pass(std::span<double> numbers, F turns) {
    if (rank_ == 0) shared_.collected.assign(numbers.size(), 0.0);
    turns();
    shared_.barrier.arrive_and_wait();
    std::ranges::copy(shared_.collected, numbers.begin());
    shared_.barrier.arrive_and_wait();
  }

  Shared& shared_;
  const Ownership* ownership_;
  Index rank_;
  Index processes_;
};

/// A team whose processes are threads of one test: each sees its own rank and what it is sent, nothing else. A launch
/// has one worker a process.
class ThreadTeam final : public Team {
 public:
  /// Runs `body` in every one of `processes` processes; the first failure ends all of them and is thrown.
  static void run(Index processes, const std::function<void(Team& team)>& body) {
    Shared shared(processes);
    const auto work = [&](Index rank) {
      try {
        ThreadTeam team(shared, rank, processes);
        body(team);
      } catch (const Abandoned&) {
        // Somebody else failed and has told.
      } catch (...) {
        shared.fail(shared.failure);
        shared.outside.barrier.abandon();
      }
    };
    {
      std::vector<std::jthread> threads;
      for (Index rank = 0; rank < processes; ++rank) threads.emplace_back(work, rank);
    }
    if (shared.failure) std::rethrow_exception(shared.failure);
  }

  [[nodiscard]] Index rank() const override { return rank_; }
  [[nodiscard]] Index size() const override { return size_; }
  Collective& collective() override { return collective_; }

  void launch(const CombinationMatrix& matrix, const Ownership& ownership, VectorType vectors, Index /*workers*/,
              const Body& body) override {
    // Whoever is alone may launch several runs at once, which must not share anything.
    if (size_ == 1) {
      Team::launch(matrix, ownership, vectors, 1, body);
      return;
    }
    if (is_first()) shared_.launch = std::make_shared<Launch>(size_);
    wait();
    const std::shared_ptr<Launch> launch = shared_.launch;
    const Roster near = ProcessNetwork::near(matrix, ownership.block(rank_));
    ProcessNetwork network(matrix, ownership, rank_, vectors, near, launch->networks, launch->shared.barrier);
    launch->networks[rank_] = &network;
    ProcessCollective collective(launch->shared, &ownership, rank_, size_);
    wait();
    try {
      Worker worker{network, collective, rank_, size_};
      body(worker);
    } catch (const Abandoned&) {
      // Somebody else failed and has told.
    } catch (...) {
      shared_.fail(launch->failure);
      launch->shared.barrier.abandon();
    }
    wait();
    if (launch->failure) std::rethrow_exception(launch->failure);
  }
  std::vector<std::string> tell(const std::string& text) override {
    shared_.texts[rank_] = text;
    wait();
    std::vector<std::string> told = shared_.texts;
    wait();
    return told;
  }
  void together(const std::function<void()>& work) override {
    std::exception_ptr& own = shared_.failures[rank_];
    own = nullptr;
    try {
      work();
    } catch (...) {
      own = std::current_exception();
    }
    wait();
    const auto first = std::ranges::find_if(shared_.failures, [](const auto& x) { return x != nullptr; });
    const std::exception_ptr failure = first == shared_.failures.end() ? nullptr : *first;
    wait();
    if (failure) std::rethrow_exception(failure);
  }

 private:
  struct Launch {
    explicit Launch(Index processes) : shared(processes), networks(processes) {}
    ProcessCollective::Shared shared;
    ProcessNetwork::Networks networks;
    std::exception_ptr failure;
  };
  struct Shared {
    explicit Shared(Index processes) : outside(processes), texts(processes), failures(processes) {}
    void fail(std::exception_ptr& failed) {
      const std::lock_guard lock(mutex);
      if (!failed) failed = std::current_exception();
    }
    ProcessCollective::Shared outside;
    std::vector<std::string> texts;
    std::vector<std::exception_ptr> failures;
    std::shared_ptr<Launch> launch;
    std::exception_ptr failure;
    std::mutex mutex;
  };

  ThreadTeam(Shared& shared, Index rank, Index size)
      : shared_(shared), rank_(rank), size_(size), collective_(shared.outside, nullptr, rank, size) {}
  void wait() { shared_.outside.barrier.arrive_and_wait(); }

  Shared& shared_;
  Index rank_;
  Index size_;
  ProcessCollective collective_;
};

}  // namespace polyhop::test

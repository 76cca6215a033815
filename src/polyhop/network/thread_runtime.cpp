// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "polyhop/core/serial_collective.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/network/thread_barrier.hpp"

namespace polyhop {
namespace {

// What the threads of one run share: one set of mail, in which everyone writes the rows of their own agents and, behind
// a barrier, reads those of others. Another barrier precedes the next writing. (A second set of mail would avoid it,
// but would store every vector once more.)
template <class Mail>
struct Shared {
  explicit Shared(Index workers) : barrier(workers), columns(workers), turns(workers) {}

  Mail mail;
  ThreadBarrier barrier;
  ColumnCrew::Shared columns;
  std::mutex mutex;
  std::vector<double> collected;
  std::span<double> gathered;           // where the first worker wants the rows
  std::span<const double> distributed;  // where it has them
  // What each worker does when its agents' turn comes.
  std::vector<const std::function<void(std::span<double>, Index)>*> turns;
};

class ThreadNetwork final : public Network {
 public:
  using SharedMail = Shared<Mail>;
  ThreadNetwork(const CombinationMatrix& matrix, std::span<const Block> blocks, Index number, VectorType vectors,
                SharedMail& shared)
      : Network(matrix, blocks[number], vectors), shared_(shared) {
    if (!ColumnCrew::pays(matrix.agents(), vectors, std::ssize(blocks))) return;
    crew_.emplace(matrix, blocks, number, vectors, shared.columns, [this] {
      shared_.barrier.arrive_and_wait();
      reading_ = false;  // whoever is here has read what was in the mail
    });
  }

 private:
  Mail& outbox(const Message& message) override {
    if (reading_) {
      shared_.barrier.arrive_and_wait();
      reading_ = false;
    }
    // Mail is allocated when first needed, by the first thread that needs it; a thread that has seen it need not lock
    // again.
    if (provided_.vectors < message.vectors || provided_.scalars < message.scalars) {
      const std::lock_guard lock(shared_.mutex);
      make_room(shared_.mail, message);
      provided_.vectors = std::max(provided_.vectors, message.vectors);
      provided_.scalars = std::max(provided_.scalars, message.scalars);
    }
    return shared_.mail;
  }
  void begin(const Message&) override { phase_ = shared_.barrier.arrive(); }
  const Mail& finish(const Message&) override {
    shared_.barrier.wait(phase_);
    reading_ = true;
    return shared_.mail;
  }

  ColumnCrew* crew() override { return crew_ ? &*crew_ : nullptr; }

  SharedMail& shared_;
  std::optional<ColumnCrew> crew_;
  std::uint32_t phase_ = 0;
  bool reading_ = false;
  Message provided_{};
};

class ThreadCollective final : public Collective {
 public:
  ThreadCollective(ThreadNetwork::SharedMail& shared, Index number, std::span<const Block> blocks)
      : shared_(shared), number_(number), count_(static_cast<Index>(blocks.size())), blocks_(blocks) {}

  void in_order(std::span<double> numbers, const std::function<void(std::span<double>)>& turn) override {
    if (number_ == 0) shared_.collected.assign(numbers.size(), 0.0);
    for (Index worker = 0; worker < count_; ++worker) {
      shared_.barrier.arrive_and_wait();
      if (worker == number_) turn(shared_.collected);
    }
    shared_.barrier.arrive_and_wait();
    std::ranges::copy(shared_.collected, numbers.begin());
    shared_.barrier.arrive_and_wait();
  }
  // Where agents do not follow each other, passing the turn on for each of them would take longer than the turns: the
  // first worker takes those of all, while the others wait.
  void by_agent(std::span<double> numbers, Index agents,
                const std::function<void(std::span<double>, Index k)>& turn) override {
    const Numbering* numbering = blocks_[0].numbering;
    if (numbering == nullptr) return Collective::by_agent(numbers, agents, turn);
    shared_.turns[number_] = &turn;
    in_order(numbers, [&](std::span<double> shared) {
      if (number_ != 0) return;
      for (const Index place : numbering->place) {
        const auto owner = std::ranges::upper_bound(blocks_, place, {}, &Block::first) - blocks_.begin() - 1;
        (*shared_.turns[owner])(shared, place - blocks_[owner].first);
      }
    });
  }
  void gather(std::span<const Index> rows, std::span<const double> mine, std::span<double> all) override {
    if (number_ == 0) shared_.gathered = all;
    shared_.barrier.arrive_and_wait();
    SerialCollective().gather(rows, mine, shared_.gathered);
    shared_.barrier.arrive_and_wait();
  }
  void scatter(std::span<const Index> rows, std::span<double> mine, std::span<const double> all) override {
    if (number_ == 0) shared_.distributed = all;
    shared_.barrier.arrive_and_wait();
    SerialCollective().scatter(rows, mine, shared_.distributed);
    shared_.barrier.arrive_and_wait();
  }

 private:
  ThreadNetwork::SharedMail& shared_;
  Index number_;
  Index count_;
  std::span<const Block> blocks_;
};

}  // namespace

void launch_threads(const CombinationMatrix& matrix, VectorType vectors, Index workers, const Body& body,
                    const Numbering* numbering) {
  workers = std::clamp<Index>(workers, 1, matrix.agents());
  std::vector<Block> blocks;
  for (Index number = 0; number < workers; ++number) {
    const Block share = block_of(matrix.agents(), workers, number);
    blocks.push_back({share.first, share.last, numbering});
  }
  ThreadNetwork::SharedMail shared(workers);
  run_workers(workers, shared.barrier, [&](Index number) {
    ThreadNetwork network(matrix, blocks, number, vectors, shared);
    ThreadCollective collective(shared, number, blocks);
    Worker worker{network, collective, number, workers};
    body(worker);
  });
}

void launch(const CombinationMatrix& matrix, VectorType vectors, Index workers, const Body& body,
            const Numbering* numbering) {
  if (workers <= 1) {
    launch_serial(matrix, vectors, body, numbering);
  } else {
    launch_threads(matrix, vectors, workers, body, numbering);
  }
}

}  // namespace polyhop

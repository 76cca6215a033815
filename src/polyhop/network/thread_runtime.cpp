// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "polyhop/network/runtime.hpp"
#include "polyhop/network/thread_barrier.hpp"

namespace polyhop {
namespace {

// What the threads of one run share. Two sets of mail take turns, so that one barrier an exchange suffices: who
// writes into a set has passed the barrier of the exchange in between, at which everyone had done reading it.
template <class Mail>
struct Shared {
  explicit Shared(Index workers) : barrier(workers) {}

  std::array<Mail, 2> mail;
  ThreadBarrier barrier;
  std::mutex mutex;
  std::vector<double> collected;
};

class ThreadNetwork final : public Network {
 public:
  using SharedMail = Shared<Mail>;
  ThreadNetwork(const CombinationMatrix& matrix, Block block, Index columns, SharedMail& shared)
      : Network(matrix, block, columns), shared_(shared) {}
  static std::unique_ptr<SharedMail> share(Index workers) {
    return std::make_unique<SharedMail>(workers);
  }

 private:
  // Vectors and numbers alternate apart, so that a view of vectors outlives exchanges of numbers.
  // Mail is made when first needed, by whoever comes first; a worker that has seen it need not lock again.
  Mail& outbox(const Message& message) override {
    Mail& mail = current(message);
    Message& provided = provided_[turn(message)];
    if (provided.vectors < message.vectors || provided.scalars < message.scalars) {
      const std::lock_guard lock(shared_.mutex);
      make_room(mail, message);
      provided.vectors = std::max(provided.vectors, message.vectors);
      provided.scalars = std::max(provided.scalars, message.scalars);
    }
    return mail;
  }
  void begin(const Message&) override { phase_ = shared_.barrier.arrive(); }
  const Mail& finish(const Message& message) override {
    shared_.barrier.wait(phase_);
    const Mail& mail = current(message);
    (message.vectors > 0 ? vector_turn_ : scalar_turn_) ^= 1;
    return mail;
  }

  [[nodiscard]] std::size_t turn(const Message& message) const {
    return message.vectors > 0 ? vector_turn_ : scalar_turn_;
  }
  Mail& current(const Message& message) { return shared_.mail[turn(message)]; }

  SharedMail& shared_;
  std::uint32_t phase_ = 0;
  std::size_t vector_turn_ = 0;
  std::size_t scalar_turn_ = 0;
  std::array<Message, 2> provided_{};
};

class ThreadCollective final : public Collective {
 public:
  ThreadCollective(ThreadNetwork::SharedMail& shared, Index number, Index count)
      : shared_(shared), number_(number), count_(count) {}

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

 private:
  ThreadNetwork::SharedMail& shared_;
  Index number_;
  Index count_;
};

}  // namespace

void launch_threads(const CombinationMatrix& matrix, Index columns, Index workers, const Body& body) {
  workers = std::clamp<Index>(workers, 1, matrix.agents());
  const auto shared = ThreadNetwork::share(workers);
  std::exception_ptr failure;
  const auto work = [&](Index number) {
    try {
      ThreadNetwork network(matrix, block_of(matrix.agents(), workers, number), columns, *shared);
      ThreadCollective collective(*shared, number, workers);
      Worker worker{network, collective, number, workers};
      body(worker);
    } catch (const Abandoned&) {
      // Somebody else failed and has told.
    } catch (...) {
      const std::lock_guard lock(shared->mutex);
      if (!failure) failure = std::current_exception();
      shared->barrier.abandon();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (Index number = 1; number < workers; ++number) threads.emplace_back(work, number);
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

void launch(const CombinationMatrix& matrix, Index columns, Index workers, const Body& body) {
  if (workers <= 1) {
    launch_serial(matrix, columns, body);
  } else {
    launch_threads(matrix, columns, workers, body);
  }
}

}  // namespace polyhop

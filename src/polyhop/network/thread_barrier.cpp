// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/thread_barrier.hpp"

#include <exception>
#include <vector>

#include "polyhop/core/machine.hpp"

namespace polyhop {

ThreadBarrier::ThreadBarrier(Index members, Index beside)
    : members_(static_cast<std::uint32_t>(members)), spins_(members * beside <= usable_threads(0) ? max_spins : 0) {}

// A sleeper is counted before it looks at the phase for the last time, and the last to arrive looks for sleepers after
// changing the phase: one of the two sees the other.
void ThreadBarrier::sleep_through(std::uint32_t phase) {
  {
    std::unique_lock lock(mutex_);
    ++sleepers_;
    bell_.wait(lock, [&] { return phase_.load() != phase || broken_.load(); });
    --sleepers_;
  }
  if (spins() > 0 && current_core() == waking_core_.load()) leave_core(waking_core_.load());
}

void ThreadBarrier::wake_all() {
  waking_core_.store(current_core());
  // A member that is counted but not yet asleep holds the mutex.
  { const std::lock_guard lock(mutex_); }
  bell_.notify_all();
}

void ThreadBarrier::abandon() {
  broken_.store(true, std::memory_order_release);
  ++phase_;
  wake_all();
}

void run_workers(Index workers, ThreadBarrier& barrier, const std::function<void(Index)>& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  bool abandoned = false;
  const auto guarded = [&](Index number) {
    try {
      work(number);
    } catch (const Abandoned&) {
      const std::lock_guard lock(mutex);
      abandoned = true;
      barrier.abandon();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      barrier.abandon();
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (Index number = 1; number < workers; ++number) threads.emplace_back(guarded, number);
    } catch (...) {
      // Those that were started wait for those that could not be.
      barrier.abandon();
      throw;
    }
    guarded(0);
  }
  if (failure) std::rethrow_exception(failure);
  if (abandoned) throw Abandoned();
}

}  // namespace polyhop

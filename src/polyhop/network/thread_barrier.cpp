// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/thread_barrier.hpp"

#include "polyhop/core/machine.hpp"

namespace polyhop {

ThreadBarrier::ThreadBarrier(Index members, Index beside)
    : members_(static_cast<std::uint32_t>(members)), spins_(members * beside <= usable_threads(0) ? most_spins : 0) {}

// A sleeper is counted before it looks at the phase for the last time, and the last to arrive looks for sleepers after
// it has changed the phase: one of them sees the other.
void ThreadBarrier::sleep_through(std::uint32_t phase) {
  std::unique_lock lock(mutex_);
  ++sleepers_;
  bell_.wait(lock, [&] { return phase_.load() != phase || broken_.load(); });
  --sleepers_;
}

void ThreadBarrier::wake_all() {
  // Who is counted and does not sleep yet holds the mutex.
  { const std::lock_guard lock(mutex_); }
  bell_.notify_all();
}

void ThreadBarrier::abandon() {
  broken_.store(true, std::memory_order_release);
  ++phase_;
  wake_all();
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "polyhop/core/error.hpp"
#include "polyhop/core/real.hpp"

namespace polyhop {

/// Thrown in workers that wait for one that failed; never seen outside of `launch`.
class Abandoned : public Error {
 public:
  Abandoned() : Error("another worker failed") {}
};

/// A split-phase barrier for a fixed team: `arrive`, do something else, `wait`. Unlike std::barrier it can be
/// broken by a member that fails, so that the others do not wait for ever.
class ThreadBarrier {
 public:
  explicit ThreadBarrier(Index members) : members_(static_cast<std::uint32_t>(members)) {}

  /// Returns the phase to wait for.
  std::uint32_t arrive() {
    const std::uint32_t phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
      phase_.notify_all();
    }
    return phase;
  }

  void wait(std::uint32_t phase) {
    // Phases are short: look a while before going to sleep, and let others run where cores are few.
    for (int tries = 0; tries < 200; ++tries) {
      if (phase_.load(std::memory_order_acquire) != phase) break;
      if (tries > 50) std::this_thread::yield();
    }
    while (phase_.load(std::memory_order_acquire) == phase && !broken_.load(std::memory_order_acquire)) {
      phase_.wait(phase, std::memory_order_acquire);
    }
    if (broken_.load(std::memory_order_acquire)) throw Abandoned();
  }

  void arrive_and_wait() { wait(arrive()); }

  /// Ends the team: everyone who waits, or comes to wait, throws.
  void abandon() {
    broken_.store(true, std::memory_order_release);
    phase_.fetch_add(1, std::memory_order_acq_rel);
    phase_.notify_all();
  }

 private:
  std::uint32_t members_;
  std::atomic<std::uint32_t> arrived_ = 0;
  std::atomic<std::uint32_t> phase_ = 0;
  std::atomic<bool> broken_ = false;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "polyhop/core/clock.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/index.hpp"

namespace polyhop {

/// Thrown in workers that wait for one that failed; never leaves `launch`.
class Abandoned : public Error {
 public:
  Abandoned() : Error("another worker failed") {}
};

/// A split-phase barrier for a fixed team: `arrive`, do something else, `wait`. Unlike std::barrier, a member that
/// fails can break it, so that the others do not wait forever. A waiting member spins for some microseconds, and then
/// sleeps. It spins only if there is a core for each member, and less the more often it spun in vain, because another
/// program may be using a core. Unlike std::atomic::wait, it does not yield then: on a busy machine, yielding gives
/// away a whole time slice, while a sleeper is woken at once. If there are more members than cores, each yields once to
/// every other before it sleeps, as long as no other program takes these turns. Linux may wake a sleeper on the core of
/// the member that woke it, if it takes all cores for busy. The sleeper then leaves that core: otherwise two members
/// that sleep in turn would share it for seconds while another is idle.
class ThreadBarrier {
 public:
  /// `beside`: how many such teams share this machine's cores.
  explicit ThreadBarrier(Index members, Index beside = 1);

  /// Returns the phase to wait for.
  std::uint32_t arrive() {
    const std::uint32_t phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1);
      if (sleepers_.load() > 0) wake_all();
    }
    return phase;
  }

  void wait(std::uint32_t phase) {
    if (is_at(phase) && !(spins() > 0 ? comes_soon(phase) : comes_by_turns(phase))) sleep_through(phase);
    if (broken_.load(std::memory_order_acquire)) throw Abandoned();
  }

  void arrive_and_wait() { wait(arrive()); }

  /// Ends the team: everyone who waits now or later throws.
  void abandon();

  /// How often a member spins before it sleeps.
  [[nodiscard]] int spins() const { return spins_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] bool is_at(std::uint32_t phase) const { return phase_.load(std::memory_order_acquire) == phase; }
  /// Leaves the core to its sibling thread for some cycles.
  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }
  /// Spins to see whether the phase ends, and remembers.
  bool comes_soon(std::uint32_t phase) {
    // Now and then all spin for long, to see whether it pays again.
    constexpr std::uint32_t between_trials = 32;
    const int most = phase % between_trials == 0 ? max_spins : spins();
    for (int tries = 0; tries < most; ++tries) {
      relax();
      if (is_at(phase)) continue;
      spins_.store(max_spins, std::memory_order_relaxed);
      return true;
    }
    spins_.store(std::max(fewest_spins, spins() / 2), std::memory_order_relaxed);
    return false;
  }
  /// If there are fewer cores than members, yields the core to each of the others, and remembers whether they got it.
  bool comes_by_turns(std::uint32_t phase) {
    constexpr std::uint32_t between_trials = 1024;
    constexpr double turn = 50e-6;  // seconds; another program's time slice is far longer
    if (!yields_.load(std::memory_order_relaxed) && phase % between_trials != 0) return false;
    const auto begin = Clock::now();
    bool is_over = false;
    for (std::uint32_t tries = 0; tries < members_ && !is_over; ++tries) {
      std::this_thread::yield();
      is_over = !is_at(phase);
    }
    yields_.store(since(begin) < turn * members_, std::memory_order_relaxed);
    return is_over;
  }
  void sleep_through(std::uint32_t phase);
  void wake_all();

  static constexpr int fewest_spins = 16;
  static constexpr int max_spins = 1024;  // 10 to 50 microseconds, about what falling asleep and waking up takes

  std::uint32_t members_;
  std::atomic<int> spins_;
  std::atomic<bool> yields_ = true;  // if there are more members than cores
  std::atomic<std::uint32_t> arrived_ = 0;
  std::atomic<std::uint32_t> phase_ = 0;
  std::atomic<bool> broken_ = false;
  std::atomic<std::uint32_t> sleepers_ = 0;
  std::atomic<int> waking_core_ = -1;
  std::mutex mutex_;
  std::condition_variable bell_;
};

/// Runs work(0) in the calling thread and work(1), ... work(workers - 1) on threads of their own. The first exception
/// of any worker breaks the barrier, which ends the others, and is rethrown here; Abandoned is thrown if something else
/// broke it.
void run_workers(Index workers, ThreadBarrier& barrier, const std::function<void(Index)>& work);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/tasks.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace polyhop {

void run_tasks(Index count, Index threads, const std::function<void(Index)>& task) {
  std::atomic<Index> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto loop = [&] {
    for (Index n = next++; n < count; n = next++) {
      try {
        task(n);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (Index t = 1; t < std::min(threads, count); ++t) others.emplace_back(loop);
    loop();
  }
  if (failure) std::rethrow_exception(failure);
}

Index side_by_side(Index runs, double work, Index threads) {
  constexpr double most_work = 1e7;
  return work > most_work ? 0 : runs / threads * threads;
}

}  // namespace polyhop

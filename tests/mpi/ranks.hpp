// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "polyhop/network/mpi/job.hpp"
#include "support/trial.hpp"

namespace polyhop::test {

inline Launch over(mpi::Job& job, const Ownership& ownership, Index threads) {
  return [&job, &ownership, threads](const CombinationMatrix& matrix, VectorType vectors, const Body& body) {
    job.launch(matrix, ownership, vectors, threads, body);
  };
}

/// Whether both states have the same bits for the agents of one rank.
inline bool same_bits(const Snapshot& x, const Snapshot& y, const Block& own) {
  for (std::size_t n = 0; n < x.entries.size(); ++n) {
    const auto& a = x.entries[n];
    const auto& b = y.entries[n];
    if (a.shared && own.first > 0) continue;  // what all share is written by the first
    for (Index k = 0; k < (a.shared ? a.rows : own.size()); ++k) {
      const auto begin = static_cast<std::size_t>((a.shared ? k : own.agent(k)) * a.columns);
      const auto width = static_cast<std::size_t>(a.columns);
      if (!same_bits(std::span(a.data).subspan(begin, width), std::span(b.data).subspan(begin, width))) {
        return false;
      }
    }
  }
  return true;
}

/// Under another library's mpirun every process is alone, and would pass.
inline bool all_ranks_are_here(Index size) {
  const char* ranks = std::getenv("POLYHOP_TEST_RANKS");
  if (ranks == nullptr || std::stoll(ranks) == size) return true;
  std::fprintf(stderr, "%s ranks were started, %s knows of %lld\n", ranks, mpi::Job::library().c_str(),
               static_cast<long long>(size));
  return false;
}

/// One process reports every test; the others only what fails.
inline void report_failures_only() {
  class Failures : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
      if (result.failed()) std::fprintf(stderr, "%s\n", result.message());
    }
  };
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Failures);
}

}  // namespace polyhop::test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The most that this machine can do, on all cores at once: multiply-adds of doubles that stay in registers, and bytes
// read from memory; and how long a message between two threads and its answer take. Prints one line of JSON for
// compare_numpy.py.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

#include "polyhop/core/machine.hpp"

namespace {

using Clock = std::chrono::steady_clock;

// Runs work(n) on every core and returns how long all of them took, the best of several times.
template <class Work>
double seconds_of(int cores, Work work) {
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto begin = Clock::now();
    std::vector<std::thread> threads;
    for (int n = 0; n < cores; ++n) threads.emplace_back(work, n);
    for (auto& thread : threads) thread.join();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

constexpr long rounds = 20'000'000;
constexpr int chains = 12;  // enough to hide the latency of a multiply-add

// The result is used, so that nothing can be optimised away.
__attribute__((target("avx512f"))) double multiply_add_512() {
  __m512d sum[chains];
  for (auto& s : sum) s = _mm512_set1_pd(1);
  const __m512d a = _mm512_set1_pd(0.999);
  const __m512d b = _mm512_set1_pd(1e-3);
  for (long i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (auto& s : sum) s = _mm512_fmadd_pd(a, s, b);
  }
  double all = 0;
  for (const auto& s : sum) all += s[0] + s[7];
  return all;
}
__attribute__((target("avx2,fma"))) double multiply_add_256() {
  __m256d sum[chains];
  for (auto& s : sum) s = _mm256_set1_pd(1);
  const __m256d a = _mm256_set1_pd(0.999);
  const __m256d b = _mm256_set1_pd(1e-3);
  for (long i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (auto& s : sum) s = _mm256_fmadd_pd(a, s, b);
  }
  double all = 0;
  for (const auto& s : sum) all += s[0] + s[3];
  return all;
}

}  // namespace

int main() {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const bool wide = __builtin_cpu_supports("avx512f") != 0;
  std::vector<double> kept(cores);
  const double computing = seconds_of(
      cores, [&](int n) { kept[static_cast<std::size_t>(n)] = wide ? multiply_add_512() : multiply_add_256(); });
  const double flops = 2.0 * (wide ? 8 : 4) * chains * rounds * cores;

  constexpr std::size_t numbers = 1 << 26;  // 512 MB per core
  std::vector<std::vector<double>> data(cores, std::vector<double>(numbers, 1.0));
  const double reading = seconds_of(cores, [&](int n) {
    double sums[32] = {};
    for (std::size_t j = 0; j < numbers; j += 32) {
      for (int l = 0; l < 32; ++l) sums[l] += data[n][j + l];
    }
    kept[n] += std::accumulate(sums, sums + 32, 0.0);
  });
  const double bytes = 8.0 * static_cast<double>(numbers) * cores;
  std::printf(
      "{\"cores\": %d, \"flops_per_second\": %.4g, \"bytes_per_second\": %.4g, \"round_trip\": %.3g, \"check\": %g}\n",
      cores, flops / computing, bytes / reading, polyhop::round_trip(), kept[0]);
}

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// What a stream of random numbers is for. Each purpose is independent of all others; the values are part of the bit
/// contract, so a new purpose is appended, never inserted.
enum class Purpose : std::uint64_t {
  graph = 1,
  features = 2,
  minimiser = 3,
  noise = 4,
  feature_scale = 5,
  minimiser_shift = 6,
  sampling = 7,
  shuffle = 8,
  start = 9,
  sketch = 10,
  partition = 11,
  spectrum = 12,
  weights = 13,
  drawing = 14,
  held_out = 15,
  faults = 16,
  refresh = 17,
};

/// Random numbers as a function of (seed, purpose, agent, iteration), by the counter-based generator Philox4x64-10
/// (Salmon et al. 2011). Two streams with the same key give the same numbers on any worker, in any order: nothing is
/// shared and nothing must be saved.
class Stream {
 public:
  Stream(std::uint64_t seed, Purpose purpose, Index agent = 0, Index iteration = 0)
      : counter_{0, static_cast<std::uint64_t>(iteration), static_cast<std::uint64_t>(agent),
                 static_cast<std::uint64_t>(purpose)},
        seed_(seed) {}

  /// 64 random bits.
  std::uint64_t bits();
  /// Uniform on [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Uniform on {0, ..., n-1}; n >= 1.
  Index below(Index n) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<Index>((static_cast<Wide>(bits()) * static_cast<std::uint64_t>(n)) >> 64);
  }
  /// Standard normal, by Marsaglia's polar method with polyhop's own logarithm.
  double normal();
  /// Fills `out` with standard normals times `scale`.
  void normals(std::span<double> out, double scale = 1.0);

 private:
  std::array<std::uint64_t, 4> counter_;
  std::array<std::uint64_t, 4> buffer_{};
  std::uint64_t seed_;
  int left_ = 0;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace polyhop

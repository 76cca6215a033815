// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "polyhop/problem/dataset.hpp"

namespace polyhop {

/// The data of the paper's experiment, and similar ones. Agent k holds `samples` pairs (h, y) with
///   h = f_k x,  x standard normal,  f_k = exp(scale_spread * normal),
///   y = h.(w + minimiser_spread * d_k) + noise * normal,  w and d_k standard normal vectors,
/// or the sign of that y if targets are classes. Everything is a function of (seed, agent).
struct SyntheticData {
  Index dimension = 0;
  Index samples = 0;
  double noise = 0;
  double scale_spread = 0;
  double minimiser_spread = 0;
};

/// The data of the block's agents.
Dataset synthesise(const SyntheticData& data, const Block& block, bool classes, std::uint64_t seed);
inline Dataset synthesise(const SyntheticData& data, Index agents, bool classes, std::uint64_t seed) {
  return synthesise(data, Block{0, agents}, classes, seed);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
//
// npz_dump PATH SEED: writes arrays of many shapes, whose numbers are a formula that npz_oracle.py repeats.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include "polyhop/core/npz_writer.hpp"

namespace {

using polyhop::Index;

// Multiples of 1/1024 from a linear congruence: exact in both languages.
std::vector<double> numbers(Index count, std::uint64_t seed) {
  std::vector<double> out;
  std::uint64_t state = seed;
  for (Index i = 0; i < count; ++i) {
    state = (state * 1103515245U + 12345U) % 2147483648U;
    out.push_back(static_cast<double>(state) / 1024.0 - 1e6);
  }
  return out;
}

void dump(const std::string& path, std::uint64_t seed) {
  polyhop::NpzWriter out(path);
  const std::vector<std::vector<Index>> shapes = {{},     {0},    {1},       {7},          {2, 3},
                                                  {3, 0}, {1, 1}, {2, 3, 4}, {1000, 1000}, {1, 1, 1, 1, 1, 1, 1, 2}};
  std::uint64_t k = 0;
  for (const auto& shape : shapes) {
    Index count = 1;
    for (const Index n : shape) count *= n;
    out.add("GAP tight/" + std::to_string(k), numbers(count, seed + k), shape);
    ++k;
  }
  using Limits = std::numeric_limits<double>;
  const std::vector<double> special = {0.0,           -0.0,          Limits::infinity(),   -Limits::infinity(),
                                       Limits::max(), Limits::min(), Limits::denorm_min(), Limits::quiet_NaN()};
  out.add("GAP tight/0/averaged", special, {8});
  out.add("Größe 漢字 µ=0.5/3", special, {2, 4});
  out.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    dump(argv[1], std::stoull(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

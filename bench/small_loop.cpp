// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The paper's small problem by hand: one iteration of ATC-diffusion with a constant step on 8 agents and 100 numbers,
// with the averaged iterate, in loops written for this case alone and compiled for this machine. What
// compare_numpy.py's size S is compared with: it draws the same samples and rounds as polyhop does, but knows every
// length when it is compiled. Prints the microseconds per iteration, the best of several stretches.
#include <Random123/philox.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int agents = 8;
constexpr int numbers = 100;
constexpr int samples = 10;
constexpr int lanes = 8;
constexpr int padded = (numbers + lanes - 1) / lanes * lanes;
using Vector [[gnu::vector_size(8 * lanes)]] = double;
constexpr int vectors = padded / lanes;
using Row = Vector[vectors];

struct Entry {
  int agent;
  double weight;
};

alignas(64) Row models[agents], sent[agents], averaged[agents], features[agents * samples];
double targets[agents * samples];
std::vector<Entry> entries[agents];  // of the combination matrix, row by row

// A random connected graph with Metropolis weights and as many links as that of size S with seed 0: a ring, and some
// chords.
void make_network(std::mt19937& random) {
  constexpr int links = 22;
  bool linked[agents][agents] = {};
  int made = 0;
  const auto link = [&](int k, int l) {
    made += linked[k][l] ? 0 : 1;
    linked[k][l] = linked[l][k] = true;
  };
  for (int k = 0; k < agents; ++k) link(k, (k + 1) % agents);
  while (made < links) {
    const int k = static_cast<int>(random() % agents);
    link(k, (k + 2 + static_cast<int>(random() % (agents - 3))) % agents);
  }
  int degree[agents] = {};
  for (int k = 0; k < agents; ++k) degree[k] = static_cast<int>(std::count(linked[k], linked[k] + agents, true));
  for (int k = 0; k < agents; ++k) {
    double rest = 1;
    for (int l = 0; l < agents; ++l) {
      if (linked[k][l]) rest -= 1.0 / (1 + std::max(degree[k], degree[l]));
    }
    for (int l = 0; l < agents; ++l) {
      if (l == k) entries[k].push_back({k, rest});
      if (linked[k][l]) entries[k].push_back({l, 1.0 / (1 + std::max(degree[k], degree[l]))});
    }
  }
}

void iterate(std::uint64_t i, double mu) {
  for (int k = 0; k < agents; ++k) {
    const r123::Philox4x64::ctr_type counter = {{0, i, static_cast<std::uint64_t>(k), 7}};
    __extension__ using Wide = unsigned __int128;
    const auto drawn = static_cast<int>((static_cast<Wide>(r123::Philox4x64{}(counter, {{1, 0}})[0]) * samples) >> 64);
    const Row& h = features[k * samples + drawn];
    Vector even{};
    Vector odd{};
    for (int v = 0; v + 1 < vectors; v += 2) {
      even += h[v] * models[k][v];
      odd += h[v + 1] * models[k][v + 1];
    }
    if (vectors % 2 == 1) even += h[vectors - 1] * models[k][vectors - 1];
    even += odd;
    double z = 0;
    for (int l = 0; l < lanes; ++l) z += even[l];
    const double factor = -mu * (z - targets[k * samples + drawn]);
    for (int v = 0; v < vectors; ++v) sent[k][v] = models[k][v] + factor * h[v];
  }
  const double share = 4.0 / static_cast<double>(i + 4);
  for (int k = 0; k < agents; ++k) {
    Row sum = {};
    for (const Entry& entry : entries[k]) {
      for (int v = 0; v < vectors; ++v) sum[v] += entry.weight * sent[entry.agent][v];
    }
    for (int v = 0; v < vectors; ++v) {
      models[k][v] = sum[v];
      averaged[k][v] = (1 - share) * averaged[k][v] + share * sum[v];
    }
  }
}

}  // namespace

int main() {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  make_network(random);
  for (int n = 0; n < agents * samples; ++n) {
    for (int j = 0; j < numbers; ++j) features[n][j / lanes][j % lanes] = normal(random);
    targets[n] = normal(random);
  }
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t stretch = 40000;
  double best = 1e9;
  for (int n = 0; n < 20; ++n) {
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < stretch; ++i) iterate(n * stretch + i, 1e-4);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count() / stretch);
  }
  int count = 0;
  for (const auto& row : entries) count += static_cast<int>(row.size());
  std::printf("{\"microseconds\": %.4g, \"entries\": %d, \"check\": %g}\n", best * 1e6, count, averaged[0][0][0]);
}

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The seconds that a call of solve() takes, the best of 7, for comparison in python_speed.py: K, M, samples,
// iterations.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "polyhop/core/clock.hpp"
#include "polyhop/polyhop.hpp"

using namespace polyhop;

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const Index agents = std::atoll(argv[1]);
  const Index dimension = std::atoll(argv[2]);
  const Index samples = std::atoll(argv[3]);
  Dataset data;
  Rows features(agents * samples, dimension);
  for (Index n = 0; n < features.rows(); ++n) Stream(0, Purpose::features, n).normals(features.row(n));
  data.features = std::move(features);
  data.targets.assign(agents * samples, 1.0);
  for (Index k = 0; k <= agents; ++k) data.offset.push_back(k * samples);
  const auto problem = builtin_loss("least-squares").build(std::move(data), 0, {});
  GraphOptions ring;
  ring.agents = agents;
  const NetworkGraph network = make_network(ring, 0);
  SolveOptions options;
  options.step = "gap";
  options.iterations = std::atoll(argv[4]);
  options.record_every = options.iterations;
  options.stop_at_target = false;
  options.reference.solve = false;
  options.threads = 1;
  double least = 1e9;
  for (int n = 0; n < 7; ++n) {
    const auto start = Clock::now();
    solve(*problem, network.matrix, options);
    least = std::min(least, since(start));
  }
  std::printf("%.9f\n", least);
}

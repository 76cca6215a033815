// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// An adaptive network: at every instant, each of 20 agents gets one noisy measurement of a target that never stops
// moving, and they follow it together. For comparison: what each of them can do alone.
#include <cmath>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include "polyhop/polyhop.hpp"

using namespace polyhop;

constexpr Index agents = 20;
constexpr Index dimension = 4;

// Where the target is at instant n: it moves in circles, one per pair of coordinates.
double target(Index n, Index j) { return std::cos(0.002 * static_cast<double>(n) + static_cast<double>(j)); }

// One agent's cost: at instant n it measures y = h.target + noise, both new, and pays (h.w - y)^2 / 2. Stores nothing.
class Sensor final : public Objective {
 public:
  explicit Sensor(Index agent) : agent_(agent) {}
  [[nodiscard]] Index dimension() const override { return ::dimension; }
  [[nodiscard]] Index samples() const override { return endless_samples; }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index> batch) const override {
    std::vector<double> h(w.size());
    const double miss = measure(batch[0], w, h);
    return miss * miss / 2;
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    const double miss = measure(batch[0], w, gradient);
    for (double& x : gradient) x *= miss;
    return miss * miss / 2;
  }

 private:
  // Draws h and returns h.w - y.
  [[nodiscard]] double measure(Index n, std::span<const double> w, std::span<double> h) const {
    Stream random(1, Purpose::features, agent_, n);
    random.normals(h);
    double miss = -random.normal();
    for (std::size_t j = 0; j < h.size(); ++j) miss += h[j] * (w[j] - target(n, static_cast<Index>(j)));
    return miss;
  }

  Index agent_;
};

// The mean squared distance to the target, over all agents and the second half of the time.
double follow(const CombinationMatrix& matrix, Index instants) {
  std::vector<std::shared_ptr<const Objective>> sensors;
  for (Index k = 0; k < matrix.agents(); ++k) sensors.push_back(std::make_shared<Sensor>(k));
  const ObjectiveProblem problem(sensors, {1, false}, Sampling::cyclic);  // sample i in iteration i
  SolveOptions options;
  options.algorithm = "atc";
  options.step = Value::Table{{"rule", "constant"}, {"value", 0.03}};
  Run run(problem, matrix, options);
  double sum = 0;
  for (Index i = 0; i < instants; ++i) {
    run.step();
    if (2 * i < instants) continue;
    for (Index k = 0; k < matrix.agents(); ++k) {
      for (Index j = 0; j < dimension; ++j) sum += std::pow(run.models()(k, j) - target(i, j), 2);
    }
  }
  return sum / static_cast<double>(matrix.agents() * (instants - instants / 2));
}

int main() {
  GraphOptions graph;
  graph.topology = Topology::random_geometric;
  graph.agents = agents;
  graph.radius = 0.4;
  const double together = follow(make_network(graph, 1).matrix, 4000);
  graph = {};
  graph.topology = Topology::path;
  graph.agents = 1;
  const double alone = follow(make_network(graph, 1).matrix, 4000);
  std::printf("mean squared distance to the moving target: %.4f together, %.4f alone\n", together, alone);
  return together < 0.5 * alone ? 0 : 1;
}

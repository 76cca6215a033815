// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// A loss of one's own inside one's own loop: five agents on a ring agree on the point that minimises the sum of their
// costs, with the graph-aware Polyak rule.
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "polyhop/graph/topology.hpp"
#include "polyhop/method/diffusion.hpp"
#include "polyhop/method/graph_aware_polyak.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/problem/objective.hpp"

// J_k(w) = sum_j sqrt(1 + (w_j - centre)^2) - 1: nearly |w - centre| far away, a parabola close by.
class SoftDistance final : public polyhop::Objective {
 public:
  explicit SoftDistance(double centre) : centre_(centre) {}
  polyhop::Index dimension() const override { return 2; }
  double value(std::span<const double> w, std::span<const polyhop::Index>) const override {
    double sum = 0;
    for (const double x : w) sum += std::sqrt(1 + (x - centre_) * (x - centre_)) - 1;
    return sum;
  }
  double value_and_gradient(std::span<const double> w, std::span<const polyhop::Index> batch,
                            std::span<double> gradient) const override {
    for (std::size_t j = 0; j < w.size(); ++j) {
      gradient[j] = (w[j] - centre_) / std::sqrt(1 + (w[j] - centre_) * (w[j] - centre_));
    }
    return value(w, batch);
  }

 private:
  double centre_;
};

int main() {
  polyhop::GraphOptions graph;
  graph.topology = polyhop::Topology::ring;
  graph.agents = 5;
  const polyhop::NetworkGraph network = polyhop::make_network(graph, /*seed=*/0);

  const auto mine = std::make_shared<SoftDistance>(3.0);
  if (!polyhop::check_gradient(*mine, std::vector<double>{0.5, -2.0}).passed()) return 1;
  const polyhop::ObjectiveProblem problem(std::vector<std::shared_ptr<const polyhop::Objective>>(5, mine));

  polyhop::GapOptions options;  // everything else as published
  options.bound = polyhop::Bound::linear;
  options.damping = polyhop::Damping::rows;
  options.project = true;
  polyhop::launch(network.matrix, problem.dimension(), /*workers=*/1, [&](polyhop::Worker& worker) {
    const auto oracle = problem.oracle(worker.network.block(), /*seed=*/0);
    polyhop::GraphAwarePolyak rule(options, {worker.network});
    polyhop::Diffusion diffusion(polyhop::Rows(worker.network.block().size(), problem.dimension()));
    for (polyhop::Index i = 0; i < 100; ++i) diffusion.step(i, *oracle, rule, worker.network);
    std::printf("agent 0 is at (%.6f, %.6f)\n", diffusion.models()(0, 0), diffusion.models()(0, 1));
  });
}

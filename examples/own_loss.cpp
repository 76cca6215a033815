// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Your own cost: five agents on a ring agree on the point that minimises the sum of their costs. `solve` does it in one
// call; a `Run` does it step by step.
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "polyhop/polyhop.hpp"

// J_k(w) = sum_j sqrt(1 + (w_j - centre)^2) - 1: nearly |w - centre| far away, a parabola nearby.
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
  const polyhop::CombinationMatrix network = polyhop::make_network(graph, /*seed=*/0).matrix;

  std::vector<std::shared_ptr<const polyhop::Objective>> costs;
  for (const double centre : {1.0, 2.0, 3.0, 4.0, 5.0}) costs.push_back(std::make_shared<SoftDistance>(centre));
  if (!polyhop::check_gradient(*costs[0], std::vector<double>{0.5, -2.0}).passed()) return 1;
  const polyhop::ObjectiveProblem problem(costs);

  const polyhop::Summary summary = polyhop::solve(problem, network);
  std::puts(summary.brief().c_str());
  const std::vector<double> w = summary.mean_model();
  std::printf("they agree on (%.3f, %.3f)\n", w[0], w[1]);

  // The same in your own loop, with a rule of your choice.
  polyhop::SolveOptions options;
  options.algorithm = "gradient-tracking";
  options.step = polyhop::Value::Table{{"rule", "constant"}, {"value", 0.5}};
  polyhop::Run run(problem, network, options);
  while (run.iteration() < 200) run.step();
  std::printf("agent 0 is at (%.3f, %.3f)\n", run.models()(0, 0), run.models()(0, 1));
  return std::abs(run.models()(0, 0) - w[0]) < 0.01 ? 0 : 1;
}

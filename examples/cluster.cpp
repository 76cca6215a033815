// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Your own program on a cluster: each of twelve stations on a ring sighted something, in a different place, and they
// agree on its position by exact diffusion. Run it with `mpirun -n 4 cluster`, or alone; the output is the same. A
// process builds only the costs of its own stations, so their sightings never leave it.
#include <cmath>
#include <cstdio>

#include "polyhop/core/random.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/method/constant_step.hpp"
#include "polyhop/method/exact_diffusion.hpp"
#include "polyhop/network/mpi/job.hpp"
#include "polyhop/problem/objective.hpp"

using namespace polyhop;

// J_k(w) = sqrt(1 + (w - seen)^2): a distance that bad sightings hardly affect.
class Sighting final : public Objective {
 public:
  explicit Sighting(Index station) : seen_(3 * Stream(1, Purpose::features, station).normal()) {}
  Index dimension() const override { return 1; }
  double value(std::span<const double> w, std::span<const Index>) const override { return std::hypot(1, w[0] - seen_); }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    gradient[0] = (w[0] - seen_) / value(w, batch);
    return value(w, batch);
  }

 private:
  double seen_;
};

// The work of one worker: its own stations' part in all iterations.
void locate(Worker& worker) {
  const Block own = worker.network.block();
  std::vector<std::shared_ptr<const Objective>> costs(12);  // null: another process's
  for (Index k = 0; k < own.size(); ++k) costs.at(own.agent(k)) = std::make_shared<Sighting>(own.agent(k));
  const ObjectiveProblem problem(costs);
  const auto oracle = problem.oracle(own, /*seed=*/0);
  ConstantStep rule({.value = 1.0}, {worker.network});
  ExactDiffusion method(Rows(own.size(), 1));
  for (Index i = 0; i < 400; ++i) method.step(i, *oracle, rule, worker.network);
  std::vector<double> found(2);  // what station 0 has found, and the largest difference from it; stations in order
  worker.collective.by_agent(found, own.size(), [&](std::span<double> all, Index k) {
    if (own.agent(k) == 0) all[0] = method.models()(k, 0);
    all[1] = std::fmax(all[1], std::abs(method.models()(k, 0) - all[0]));
  });
  if (worker.number == 0) std::printf("it is at %.6f; all agree to %.0e\n", found[0], found[1]);
}

int main() {
  mpi::Job job;
  try {
    GraphOptions ring;
    ring.agents = 12;
    const NetworkGraph network = make_network(ring, /*seed=*/0);
    mpi::launch(job, network.matrix, /*columns=*/1, locate);
  } catch (const std::exception& error) {  // bad input, or a lost peer: others may wait for us, so end all
    std::fprintf(stderr, "%s\n", error.what());
    job.abort(1);
  }
}

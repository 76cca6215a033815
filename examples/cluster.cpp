// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// A program of one's own on a cluster: twelve stations on a ring saw something, each elsewhere, and agree on where it
// is by exact diffusion. `mpirun -n 4 cluster`, or by hand; the output is the same. A process builds the costs of its
// own stations alone, so what they saw never leaves it.
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/method/constant_step.hpp"
#include "polyhop/method/exact_diffusion.hpp"
#include "polyhop/network/mpi/job.hpp"
#include "polyhop/problem/objective.hpp"

using namespace polyhop;

// J_k(w) = sum_j sqrt(1 + (w_j - seen_j)^2) - 1: a distance that is not much moved by those who saw badly.
class Sighting final : public Objective {
 public:
  explicit Sighting(Index station) : seen_(2) { Stream(1, Purpose::features, station).normals(seen_, 3.0); }
  Index dimension() const override { return 2; }
  double value(std::span<const double> w, std::span<const Index>) const override {
    double sum = 0;
    for (std::size_t j = 0; j < 2; ++j) sum += std::sqrt(1 + (w[j] - seen_[j]) * (w[j] - seen_[j])) - 1;
    return sum;
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    for (std::size_t j = 0; j < 2; ++j) {
      gradient[j] = (w[j] - seen_[j]) / std::sqrt(1 + (w[j] - seen_[j]) * (w[j] - seen_[j]));
    }
    return value(w, batch);
  }

 private:
  std::vector<double> seen_;
};

// What one worker does: its own stations' part of all iterations.
void locate(Worker& worker, Index stations) {
  const Block own = worker.network.block();
  std::vector<std::shared_ptr<const Objective>> costs(static_cast<std::size_t>(stations));  // null: somebody else's
  for (Index k = 0; k < own.size(); ++k) {
    costs[static_cast<std::size_t>(own.agent(k))] = std::make_shared<Sighting>(own.agent(k));
  }
  const ObjectiveProblem problem(costs);
  const auto oracle = problem.oracle(own, /*seed=*/0);
  ConstantStep rule({.value = 1.0}, {worker.network});
  ExactDiffusion method(Rows(own.size(), 2), {});
  for (Index i = 0; i <= 400; ++i) {
    if (i % 100 == 0) {
      const Rows& w = method.models();
      std::vector<double> seen(3);  // where station 0 is, and how far from it the farthest; all stations in their order
      worker.collective.by_agent(seen, own.size(), [&](std::span<double> all, Index k) {
        if (own.agent(k) == 0) all[0] = w(k, 0), all[1] = w(k, 1);
        all[2] = std::fmax(all[2], std::hypot(w(k, 0) - all[0], w(k, 1) - all[1]));
      });
      if (worker.number == 0) {
        std::printf("%3lld: (%.6f, %.6f), all within %.1e\n", static_cast<long long>(i), seen[0], seen[1], seen[2]);
      }
    }
    method.step(i, *oracle, rule, worker.network);
  }
}

int main() {
  mpi::Job job;
  try {
    GraphOptions graph;
    graph.topology = Topology::ring;
    graph.agents = 12;
    const NetworkGraph network = make_network(graph, /*seed=*/0);
    mpi::launch(job, network.matrix, /*columns=*/2, [](Worker& worker) { locate(worker, 12); });
  } catch (const LostPeer& lost) {  // the others may wait for ever: all are ended
    std::fprintf(stderr, "%s\n", lost.what());
    job.abort(5);
  } catch (const std::exception& failure) {  // thrown in all processes, told by one
    if (job.is_first()) std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}

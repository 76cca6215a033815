// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Time of one iteration of ATC-diffusion on the ranks of a job, for docs/scaling.md (make_scaling.py reads it):
//   mpirun -n 2 mpi_ranks threads [GRAPH]   two ranks of one thread and one rank with two threads, alternately
//   mpirun -n R mpi_ranks sizes     over agents, dimension and degree, with what crosses between ranks
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "polyhop/graph/topology.hpp"
#include "polyhop/method/diffusion.hpp"
#include "polyhop/method/rule_table.hpp"
#include "polyhop/network/mpi/job.hpp"
#include "polyhop/network/placement.hpp"
#include "polyhop/problem/problem_options.hpp"

namespace {

using namespace polyhop;
using Clock = std::chrono::steady_clock;

struct Instance {
  NetworkGraph network;
  Ownership ownership;
  std::unique_ptr<DataProblem> problem;  // complete, in every process
  std::unique_ptr<DataProblem> placed;   // the same in order of places
};

Instance make(const char* topology, Index agents, Index dimension, Index degree, Index processes, Placement placement) {
  const std::string name = topology;
  Value graph;
  graph["topology"] = topology;
  if (name != "torus") graph["agents"] = Value(agents);
  if (name == "erdos-renyi") graph["probability"] = static_cast<double>(degree) / static_cast<double>(agents);
  if (name == "torus") graph["rows"] = Value(Index{25}), graph["columns"] = Value(agents / 25);
  if (name == "random-regular") graph["degree"] = Value(degree);
  if (name == "random-geometric") {
    graph["radius"] = std::sqrt(static_cast<double>(degree) / (3.14159 * static_cast<double>(agents)));
  }
  ProblemOptions options;
  options.dimension = dimension;
  options.samples = 2;
  NetworkGraph network = make_network(GraphOptions::fields().read(graph, "graph"), 1);
  std::vector<double> cost;
  for (Index k = 0; k < agents; ++k) {
    cost.push_back(static_cast<double>(network.matrix.rows().columns_of(k).size()) + 2);
  }
  Ownership ownership = choose_ownership(network.matrix, cost, processes, placement);
  auto placed = make_problem(options, Block{0, agents, ownership.numbering.get()}, agents, 1);
  return {std::move(network), std::move(ownership), make_problem(options, agents, 1), std::move(placed)};
}

// What iterations on one worker took, and the rows that reached this process.
struct Took {
  double seconds = 0;
  Index rows = 0;
};
Took iterate(Worker& worker, const DataProblem& problem, const RuleSpec& spec, Index iterations) {
  const Block block = worker.network.block();
  const auto oracle = problem.oracle(block, 1);
  const auto rule = spec.build({worker.network, nullptr});
  Diffusion diffusion(Rows(block.size(), problem.dimension()));
  diffusion.step(0, *oracle, *rule, worker.network);  // so that memory, buffers and connections exist
  const Index before = worker.network.crossings().vectors;
  double start = 0;
  worker.collective.in_order({&start, 1}, [](std::span<double>) {});
  const auto begin = Clock::now();
  for (Index i = 1; i <= iterations; ++i) diffusion.step(i, *oracle, *rule, worker.network);
  worker.collective.in_order({&start, 1}, [](std::span<double>) {});
  const std::chrono::duration<double> passed = Clock::now() - begin;
  return {passed.count() / static_cast<double>(iterations), (worker.network.crossings().vectors - before) / iterations};
}

Took on_ranks(mpi::Job& job, const Instance& instance, const RuleSpec& spec, Index iterations) {
  Took took;
  job.launch(instance.network.matrix, instance.ownership, instance.problem->dimension(), 1,
             [&](Worker& worker) { took = iterate(worker, *instance.placed, spec, iterations); });
  return took;
}

// The first process works on threads, the others sleep.
double on_threads(mpi::Job& job, const Instance& instance, const RuleSpec& spec, Index threads, Index iterations) {
  double seconds = 0;
  if (job.is_first()) {
    launch_threads(instance.network.matrix, instance.problem->dimension(), threads, [&](Worker& worker) {
      const Took took = iterate(worker, *instance.problem, spec, iterations);
      if (worker.number == 0) seconds = took.seconds;
    });
  }
  (void)job.tell("");
  return seconds;
}

Value step_named(const char* rule) {
  Value step;
  step["rule"] = rule;
  if (std::string_view(rule) == "constant") step["value"] = 1e-4;
  return step;
}

void compare_with_threads(mpi::Job& job, std::string_view only) {
  constexpr int turns = 7;
  if (job.is_first()) std::printf("topology,rule,agents,dimension,degree,rows,ranks_seconds,threads_seconds,ratio\n");
  for (const char* topology : {"ring", "torus", "random-geometric", "erdos-renyi"}) {
    if (!only.empty() && only != topology) continue;
    const bool dense = std::string_view(topology) == "erdos-renyi";
    const Instance instance =
        make(topology, 1000, 1000, dense ? 10 : 12, job.size(), has_metis() ? Placement::metis : Placement::contiguous);
    for (const char* rule : {"constant", "gap"}) {
      const RuleSpec spec = read_rule(step_named(rule), "step");
      const Index iterations = std::string_view(rule) == "gap" ? 15 : 60;
      double ranks = std::numeric_limits<double>::infinity();
      double threads = ranks;
      Index rows = 0;
      for (int turn = 0; turn < turns; ++turn) {
        const Took took = on_ranks(job, instance, spec, iterations);
        ranks = std::min(ranks, took.seconds);
        rows = took.rows;
        threads = std::min(threads, on_threads(job, instance, spec, job.size(), iterations));
      }
      if (!job.is_first()) continue;
      const double degree = static_cast<double>(instance.network.matrix.rows().entries()) / 1000 - 1;
      std::printf("%s,%s,1000,1000,%.1f,%ld,%.3e,%.3e,%.3f\n", topology, rule, degree, static_cast<long>(rows), ranks,
                  threads, ranks / threads);
      std::fflush(stdout);
    }
  }
}

void measure_sizes(mpi::Job& job) {
  constexpr int turns = 5;
  struct Size {
    const char* topology;
    Index agents;
    Index dimension;
    Index degree;
  };
  std::vector<Size> sizes;
  for (const Index dimension : {10, 100, 1000}) {
    for (const Index agents : {100, 1000}) {
      sizes.push_back({"ring", agents, dimension, 2});
      sizes.push_back({"random-regular", agents, dimension, 8});
      sizes.push_back({"random-regular", agents, dimension, 32});
    }
  }
  sizes.push_back({"ring", 10000, 100, 2});
  sizes.push_back({"random-regular", 10000, 100, 8});
  if (job.is_first()) std::printf("topology,ranks,agents,dimension,degree,rows,peers,seconds\n");
  const RuleSpec spec = read_rule(step_named("constant"), "step");
  for (const Size& size : sizes) {
    const Instance instance =
        make(size.topology, size.agents, size.dimension, size.degree, job.size(), Placement::contiguous);
    const Index iterations = std::clamp<Index>(20'000'000 / (size.agents * size.dimension * (size.degree + 3)), 5, 500);
    Took best{std::numeric_limits<double>::infinity(), 0};
    for (int turn = 0; turn < turns; ++turn) {
      const Took took = on_ranks(job, instance, spec, iterations);
      if (took.seconds < best.seconds) best = took;
    }
    if (!job.is_first()) continue;
    const Index peers = std::string_view(size.topology) == "ring" ? std::min<Index>(2, job.size() - 1) : job.size() - 1;
    std::printf("%s,%ld,%ld,%ld,%ld,%ld,%ld,%.4e\n", size.topology, static_cast<long>(job.size()),
                static_cast<long>(size.agents), static_cast<long>(size.dimension), static_cast<long>(size.degree),
                static_cast<long>(best.rows), static_cast<long>(peers), best.seconds);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  polyhop::mpi::Job job;
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "threads") {
    compare_with_threads(job, argc > 2 ? argv[2] : "");
  } else if (what == "sizes") {
    measure_sizes(job);
  } else {
    if (job.is_first()) std::fprintf(stderr, "usage: mpirun -n R mpi_ranks threads [GRAPH] | sizes\n");
    return 2;
  }
  return 0;
}

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Time of one iteration of ATC-diffusion with each rule: least squares, batch 1, Metropolis weights, as in
// numpy_iteration.py. Names read iteration/NETWORK/RULE/K/M/threads, scaling/... for the series in K, M and T, and
// threads/... for what a second thread gains; `--benchmark_filter` picks.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>

#include "polyhop/graph/topology.hpp"
#include "polyhop/method/diffusion.hpp"
#include "polyhop/method/rule_table.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/problem/problem_options.hpp"

namespace {

using namespace polyhop;

struct Size {
  const char* topology;
  Index agents;
  Index dimension;
  Index threads;
};

struct Instance {
  NetworkGraph network;
  std::unique_ptr<DataProblem> problem;
};

Instance make(const Size& size) {
  Value graph;
  graph["topology"] = size.topology;
  graph["agents"] = Value(size.agents);
  if (std::string(size.topology) == "erdos-renyi") graph["probability"] = 0.4;
  if (std::string(size.topology) == "random-regular") graph["degree"] = 10;
  NetworkGraph network = make_network(GraphOptions::fields().read(graph, "graph"), 1);
  ProblemOptions options;
  options.dimension = size.dimension;
  options.samples = 10;
  return {std::move(network), make_problem(options, size.agents, 1)};
}

// Times stretches of iterations within one launch, so that starting threads is not included.
void iterate(benchmark::State& state, const Size& size, const Value& step) {
  const Instance instance = make(size);
  const RuleSpec spec = read_rule(step, "step");
  const Index stretch = std::max<Index>(1, 2'000'000 / (size.agents * size.dimension));
  launch(instance.network.matrix, size.dimension, size.threads, [&](Worker& worker) {
    const Block block = worker.network.block();
    const auto oracle = instance.problem->oracle(block, 1);
    const auto rule = spec.build({worker.network, nullptr});
    Diffusion diffusion(Rows(block.size(), size.dimension));
    Index i = 0;
    double go_on = 1;
    while (true) {
      // The first worker decides, all follow.
      worker.collective.in_order({&go_on, 1}, [&](std::span<double> x) {
        if (worker.number == 0) x[0] = state.KeepRunningBatch(stretch) ? 1 : 0;
      });
      if (go_on == 0) break;
      const auto since = std::chrono::steady_clock::now();
      for (Index n = 0; n < stretch; ++n) diffusion.step(i++, *oracle, *rule, worker.network);
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - since;
      if (worker.number == 0) state.SetIterationTime(passed.count());
    }
  });
}

void add(const std::string& series, const std::string& name, const Size& size, const Value& step) {
  const std::string full = series + "/" + std::string(size.topology) + "/" + name + "/" + std::to_string(size.agents) +
                           "/" + std::to_string(size.dimension) + "/" + std::to_string(size.threads);
  benchmark::RegisterBenchmark(full.c_str(), [=](benchmark::State& state) { iterate(state, size, step); })
      ->UseManualTime()
      ->Unit(size.agents < 100 ? benchmark::kMicrosecond : benchmark::kMillisecond);
}

Value constant() {
  Value step;
  step["rule"] = "constant";
  step["value"] = 1e-4;
  return step;
}

Value gap(const char* bound, const char* damping, Index sweeps) {
  Value step;
  step["rule"] = "gap";
  step["bound"] = bound;
  step["damping"] = damping;
  step["sweeps"] = Value(sweeps);
  return step;
}

void add_all(const Size& size) {
  add("iteration", "constant", size, constant());
  for (const char* bound : {"paper", "linear", "tight"}) {
    for (const char* damping : {"paper", "rows", "norms", "graph"}) {
      add("iteration", std::string("gap-") + bound + "-" + damping, size, gap(bound, damping, 2));
    }
  }
}

// Varies one of K, M and T at a time: the cost of an iteration should grow in proportion to it.
void add_scaling() {
  for (const Index agents : {500, 1000, 2000, 4000, 8000}) {
    add("scaling", "constant", {"random-regular", agents, 100, 1}, constant());
    add("scaling", "gap-paper-paper", {"random-regular", agents, 100, 1}, gap("paper", "paper", 2));
  }
  for (const Index dimension : {125, 250, 500, 1000, 2000}) {
    add("scaling", "constant", {"random-regular", 200, dimension, 1}, constant());
    add("scaling", "gap-paper-paper", {"random-regular", 200, dimension, 1}, gap("paper", "paper", 2));
  }
  for (const Index sweeps : {1, 2, 4, 8, 16}) {
    const std::string name = "gap-tight-norms-T" + std::to_string(sweeps);
    add("scaling", name, {"random-regular", 500, 200, 1}, gap("tight", "norms", sweeps));
  }
}

// What two threads gain, or lose, on iterations of very different sizes: shows where they begin to pay.
void add_threads() {
  for (const Index dimension : {16, 64, 256, 1024, 4096}) {
    for (const Index threads : {1, 2}) {
      add("threads", "constant", {"ring", 16, dimension, threads}, constant());
      add("threads", "gap-tight-norms", {"ring", 16, dimension, threads}, gap("tight", "norms", 2));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  add_all({"erdos-renyi", 8, 100, 1});
  add_all({"random-regular", 1000, 1000, 1});
  add_all({"random-regular", 1000, 1000, 2});
  add_scaling();
  add_threads();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

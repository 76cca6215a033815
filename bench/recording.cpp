// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Time of one recorded point compared with its matrix product alone (all samples times all recorded models). Names read
// recording/K/M and product/K/M, with ten samples per agent.
#include <benchmark/benchmark.h>

#include <string>

#include "polyhop/core/kernels.hpp"
#include "polyhop/experiment/recorder.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/method/diffusion.hpp"
#include "polyhop/problem/data_problem.hpp"

namespace {

using namespace polyhop;

ExperimentOptions options(Index agents, Index dimension) {
  ExperimentOptions o;
  o.graph.topology = Topology::ring;
  o.graph.agents = agents;
  o.problem.dimension = dimension;
  o.problem.samples = 10;
  o.problem.reference = {false, 0.0};
  return o;
}

void record(benchmark::State& state, Index agents, Index dimension) {
  const ExperimentOptions o = options(agents, dimension);
  const Instance instance = make_instance(o, 1);
  launch_serial(instance.network.matrix, dimension, [&](Worker& worker) {
    const Rows start = first_models(o, {0, agents}, dimension, agents, 1);
    const Diffusion diffusion(start);
    const auto oracle = instance.problem->oracle({0, agents}, 1);
    Cell cell;
    Recorder recorder(o, *instance.problem, instance.reference, worker, cell);
    Index i = 1;
    for (auto _ : state) recorder.observe(i++, 0, diffusion, &start, *oracle);
  });
}

void product(benchmark::State& state, Index agents, Index dimension) {
  const ExperimentOptions o = options(agents, dimension);
  const Instance instance = make_instance(o, 1);
  const Rows& h = dynamic_cast<const DataProblem&>(*instance.problem).data().features.dense();
  const Index points = 2 * agents + 1;
  const Index padded = (points + kernels::product_tile - 1) / kernels::product_tile * kernels::product_tile;
  const Rows wt(dimension, padded, 1.0);
  Rows z(h.rows(), padded);
  for (auto _ : state) {
    kernels::products(h.data(), h.stride(), h.rows(), wt.data(), wt.stride(), padded, dimension, z.data(), z.stride());
    benchmark::DoNotOptimize(z.data());
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [agents, dimension] :
       {std::pair<Index, Index>{8, 200}, {20, 200}, {64, 200}, {64, 1000}, {200, 100}}) {
    const std::string size = std::to_string(agents) + "/" + std::to_string(dimension);
    benchmark::RegisterBenchmark(("product/" + size).c_str(), product, agents, dimension);
    benchmark::RegisterBenchmark(("recording/" + size).c_str(), record, agents, dimension);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/run.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "polyhop/core/number_file.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/experiment/recorder.hpp"
#include "polyhop/method/averaged_iterate.hpp"
#include "polyhop/network/runtime.hpp"

namespace polyhop {
namespace {

// A rule's objections, with the method's name before them.
std::unique_ptr<StepSize> build_rule(const Method& method, const Setting& setting) {
  try {
    return method.rule.build(setting);
  } catch (const InputError& e) {
    throw InputError("method." + in_quotes(method.name) + ".step." + e.path(), e.message(), e.line(), e.file());
  }
}

// Builds everything once, so that what does not fit the instance shows before any work is done.
void check(const Config& config, const Instance& instance, std::uint64_t seed) {
  const Index agents = instance.problem->agents();
  const Index dimension = instance.problem->dimension();
  (void)first_models(config.options, {0, agents}, dimension, agents, seed);
  launch_serial(instance.network.matrix, dimension, [&](Worker& worker) {
    for (const Method& method : config.methods) (void)build_rule(method, {worker.network, &instance.reference});
  });
}

// One worker's share of a run: observe, step, and again.
void work(const ExperimentOptions& options, const Method& method, const Instance& instance, std::uint64_t seed,
          Worker& worker, Cell& cell) {
  const Problem& problem = *instance.problem;
  Network& network = worker.network;
  const Block block = network.block();
  const auto start = [&] { return first_models(options, block, problem.dimension(), problem.agents(), seed); };
  const auto oracle = problem.oracle(block, seed);
  auto rule = build_rule(method, {network, &instance.reference});
  const auto algorithm = method.algorithm->build(start());
  std::optional<AveragedIterate> average;
  if (method.average) average.emplace(start());
  const AveragedIterate* averaged = average ? &*average : nullptr;

  Recorder recorder(options, problem, instance.reference, worker, cell);
  using Clock = std::chrono::steady_clock;
  double seconds = 0;
  auto since = Clock::now();
  for (Index i = 0;; ++i) {
    if (recorder.due(i)) {
      if (i > 0) seconds += std::chrono::duration<double>(Clock::now() - since).count();
      if (const auto end = recorder.observe(i, seconds, *algorithm, averaged, *oracle)) {
        if (worker.number == 0) cell.status = *end;
        break;
      }
      since = Clock::now();
    }
    algorithm->step(i, *oracle, *rule, network);
    if (average) average->update(i, algorithm->models());
  }
  rule.reset();  // its memory may be wanted for the models
  recorder.finish(*algorithm, averaged);
}

// The instance of one seed, made by whoever needs it first and dropped by whoever needs it last.
class SharedInstance {
 public:
  const Instance& get(const ExperimentOptions& options, std::uint64_t seed) {
    std::call_once(made_, [&] { instance_ = std::make_unique<Instance>(make_instance(options, seed)); });
    return *instance_;
  }
  void release(Index methods) {
    if (++used_ == methods) instance_.reset();
  }

 private:
  std::once_flag made_;
  std::unique_ptr<Instance> instance_;
  std::atomic<Index> used_ = 0;
};

// Runs tasks 0 .. count-1 on `threads` threads, in order of start; the first exception ends them all.
void run_tasks(Index count, Index threads, const std::function<void(Index)>& task) {
  std::atomic<Index> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto loop = [&] {
    for (Index n = next++; n < count; n = next++) {
      try {
        task(n);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (Index t = 1; t < std::min(threads, count); ++t) others.emplace_back(loop);
    loop();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

Instance make_instance(const ExperimentOptions& options, std::uint64_t seed) {
  NetworkGraph network = make_network(options.graph, seed);
  auto problem = make_problem(options.problem, network.matrix.agents(), seed);
  Reference reference = make_reference(options.problem, *problem);
  return {std::move(network), std::move(problem), std::move(reference)};
}

Rows first_models(const ExperimentOptions& options, Block block, Index dimension, Index agents, std::uint64_t seed) {
  Rows start(block.size(), dimension);
  if (options.start == "zero") return start;
  if (options.start == "normal") {
    for (Index k = 0; k < block.size(); ++k) Stream(seed, Purpose::start, block.first + k).normals(start.row(k));
    return start;
  }
  const std::vector<Real> numbers = read_numbers("start", options.start);
  const auto found = static_cast<Index>(numbers.size());
  if (found != dimension && found != agents * dimension) {
    throw InputError("start", "'" + options.start + "' holds " + std::to_string(found) + " numbers, expected " +
                                  std::to_string(dimension) + " (one model for all) or " +
                                  std::to_string(agents * dimension) + " (one for each agent)");
  }
  for (Index k = 0; k < block.size(); ++k) {
    const Index first = found == dimension ? 0 : (block.first + k) * dimension;
    std::copy_n(numbers.begin() + first, dimension, start.row(k).begin());
  }
  return start;
}

Cell run_cell(const ExperimentOptions& options, const Method& method, const Instance& instance, std::uint64_t seed,
              Index workers) {
  Cell cell;
  cell.method = method.name;
  cell.seed = seed;
  launch(instance.network.matrix, instance.problem->dimension(), workers,
         [&](Worker& worker) { work(options, method, instance, seed, worker, cell); });
  return cell;
}

Record run(const Config& config, const RunOptions& run_options) {
  const ExperimentOptions& options = config.options;
  const Index cores = std::max<Index>(1, static_cast<Index>(std::thread::hardware_concurrency()));
  const Index threads = run_options.threads > 0 ? run_options.threads : cores;
  const auto methods = static_cast<Index>(config.methods.size());
  const auto total = methods * static_cast<Index>(options.seeds.list.size());

  Record record;
  record.name = options.name;
  record.target = options.target;
  record.config = resolved(config);
  record.cells.resize(static_cast<std::size_t>(total));
  std::vector<SharedInstance> instances(options.seeds.list.size());

  // Below this many numbers an iteration, waiting for each other costs threads more than they gain.
  constexpr Index large_state = 100000;
  std::mutex mutex;
  Index finished = 0;
  const auto cell = [&](Index n, Index workers) {
    const auto s = static_cast<std::size_t>(n / methods);
    const std::uint64_t seed = options.seeds.list[s];
    const Method& method = config.methods[static_cast<std::size_t>(n % methods)];
    Cell& place = record.cells[static_cast<std::size_t>(n)];
    place = run_cell(options, method, instances[s].get(options, seed), seed, workers);
    instances[s].release(methods);
    const std::lock_guard lock(mutex);
    ++finished;
    if (run_options.on_cell) run_options.on_cell(place, finished, total);
  };
  const Instance& first = instances[0].get(options, options.seeds.list[0]);
  check(config, first, options.seeds.list[0]);
  const Index agents = first.problem->agents();
  if (agents * options.problem.dimension >= large_state || total == 1) {
    const Index workers = agents * options.problem.dimension >= large_state ? threads : 1;
    for (Index n = 0; n < total; ++n) cell(n, workers);
  } else {
    run_tasks(total, threads, [&](Index n) { cell(n, 1); });
  }
  return record;
}

}  // namespace polyhop

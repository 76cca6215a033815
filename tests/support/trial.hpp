// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/method/algorithm_table.hpp"
#include "polyhop/method/averaged_iterate.hpp"
#include "polyhop/method/rule_table.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/problem/gradient_estimate.hpp"
#include "polyhop/problem/loss_table.hpp"
#include "polyhop/problem/problem_options.hpp"
#include "polyhop/problem/synthetic.hpp"
#include "support/networks.hpp"

namespace polyhop::test {

inline Rows rows_of(const Dense& x) {
  Rows rows(static_cast<Index>(x.size()), static_cast<Index>(x.front().size()));
  for (std::size_t k = 0; k < x.size(); ++k)
    std::copy(x[k].begin(), x[k].end(), rows.row(static_cast<Index>(k)).begin());
  return rows;
}

inline Dense dense(const Rows& rows) {
  Dense out;
  for (Index k = 0; k < rows.rows(); ++k) out.emplace_back(rows.row(k).begin(), rows.row(k).end());
  return out;
}

/// Samples by hand: samples[k] are agent k's, each its features and then its target.
inline Dataset data_of(const std::vector<Dense>& samples) {
  Index count = 0;
  for (const auto& own : samples) count += static_cast<Index>(own.size());
  Dataset data;
  data.features = Rows(count, static_cast<Index>(samples[0][0].size()) - 1);
  data.offset = {0};
  Index n = 0;
  for (const auto& own : samples) {
    for (const auto& sample : own) {
      std::copy(sample.begin(), sample.end() - 1, data.features.dense().row(n++).begin());
      data.targets.push_back(sample.back());
    }
    data.offset.push_back(n);
  }
  return data;
}

inline std::unique_ptr<LinearProblem> problem_of(const std::vector<Dense>& samples,
                                                 const std::string& loss = "least-squares", double l2 = 0,
                                                 Batch batch = {}, Sampling sampling = Sampling::cyclic) {
  return std::make_unique<LinearProblem>(data_of(samples), builtin_loss(loss).loss, l2, batch, sampling);
}

/// A linear model on synthetic data, with its minimiser where there is one.
struct Instance {
  CombinationMatrix matrix;
  std::unique_ptr<DataProblem> problem;
  Reference reference;
};

inline Instance synthetic_instance(CombinationMatrix matrix, const ProblemOptions& options, std::uint64_t seed) {
  auto problem = make_problem(options, matrix.agents(), seed);
  Reference reference = make_reference(options.reference, *problem);
  return {std::move(matrix), std::move(problem), std::move(reference)};
}

/// Models that differ between agents, the same on any machine.
inline Rows normal_models(Block block, Index dimension, std::uint64_t seed) {
  Rows start(block.size(), dimension);
  for (Index k = 0; k < block.size(); ++k) Stream(seed, Purpose::start, block.agent(k)).normals(start.row(k));
  return start;
}

/// Everything that survives an iteration, on one worker.
struct Solver {
  Solver(const Problem& problem, const Reference* reference, const Value& step, Network& network, const Rows& start,
         std::uint64_t seed, const Value& recursion = "atc", GradientEstimate gradient = GradientEstimate::plain,
         Index iterations = 0)
      : oracle(make_oracle(problem, network.block(), seed, gradient)), average(start) {
    const AlgorithmSpec spec = read_algorithm(recursion, "algorithm");
    rule = (step.empty() ? own_steps() : read_rule(step, "step"))
               .build({network, reference, spec.recursion(network.matrix()), seed});
    algorithm =
        spec.build(start, {network, reference, spec.recursion(network.matrix()), seed, oracle.get(), iterations});
    algorithm->register_state(state);
    rule->register_state(state);
    oracle->register_state(state);
    average.register_state(state);
  }
  void iterate(Index i, Network& network) { average.step(i, *algorithm, *oracle, *rule, network); }
  /// To be asked for before the state is saved, too.
  const Rows& averaged() { return average.settled(algorithm->models()); }

  std::unique_ptr<Oracle> oracle;
  std::unique_ptr<StepSize> rule;
  std::unique_ptr<Algorithm> algorithm;
  AveragedIterate average;
  StateRegistry state;
};

/// A runtime: runs the body on every worker.
using Launch = std::function<void(const CombinationMatrix&, VectorType, const Body&)>;
inline Launch serial() {
  return [](const CombinationMatrix& matrix, VectorType vectors, const Body& body) {
    launch_serial(matrix, vectors, body);
  };
}
inline Launch threads(Index workers) {
  return [workers](const CombinationMatrix& matrix, VectorType vectors, const Body& body) {
    launch_threads(matrix, vectors, workers, body);
  };
}

/// The state of all agents after each iteration, and what each worker sent.
struct Path {
  std::vector<Snapshot> states;  // before iteration 0, 1, ..., and after the last
  std::vector<Traffic> traffic;  // of each worker, algorithm and step size together
};

/// Runs `iterations` iterations from normal models; with `resume`, from that state and its iteration on. `known_end`:
/// how many the algorithm is told of; 0: it is not.
inline Path follow(const CombinationMatrix& matrix, const Problem& problem, const Reference* reference,
                   const Value& step, Index iterations, const Launch& launch, std::uint64_t seed,
                   const Snapshot* resume = nullptr, Index first = 0, const Value& recursion = "atc",
                   GradientEstimate gradient = GradientEstimate::plain, Index known_end = 0) {
  const Index agents = matrix.agents();
  const VectorType vectors = problem.vectors();
  const auto first_models = [&](const Block& block) {
    return converted(normal_models(block, vectors.columns, seed), vectors.element);
  };
  Path path;
  path.traffic.resize(agents);
  {
    // The shape is the same for every block.
    launch_serial(matrix, vectors, [&](Worker& worker) {
      const Solver solver(problem, reference, step, worker.network, first_models(worker.network.block()), seed,
                          recursion, gradient, known_end);
      path.states.assign(iterations - first + 1, solver.state.shape(agents));
    });
  }
  launch(matrix, vectors, [&](Worker& worker) {
    const Block block = worker.network.block();
    // Where a state is taken up, what the run started from must not matter.
    const Rows start =
        resume != nullptr ? Rows(block.size(), vectors.columns, std::nan(""), vectors.element) : first_models(block);
    Solver solver(problem, reference, step, worker.network, start, seed, recursion, gradient, known_end);
    if (resume != nullptr) solver.state.restore(block, *resume);
    solver.state.save(block, path.states[0]);
    for (Index i = first; i < iterations; ++i) {
      solver.iterate(i, worker.network);
      (void)solver.averaged();
      solver.state.save(block, path.states[i - first + 1]);
    }
    Traffic& traffic = path.traffic[worker.number];
    traffic += worker.network.algorithm_traffic();
    traffic += worker.network.step_traffic();
  });
  return path;
}

inline Path follow(const Instance& instance, const Value& step, Index iterations, const Launch& launch,
                   std::uint64_t seed, const Snapshot* resume = nullptr, Index first = 0,
                   const Value& recursion = "atc", GradientEstimate gradient = GradientEstimate::plain,
                   Index known_end = 0) {
  return follow(instance.matrix, *instance.problem, &instance.reference, step, iterations, launch, seed, resume, first,
                recursion, gradient, known_end);
}

inline bool same_bits(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) return false;
  for (std::size_t n = 0; n < x.size(); ++n) {
    if (std::bit_cast<std::uint64_t>(x[n]) != std::bit_cast<std::uint64_t>(y[n])) return false;
  }
  return true;
}

inline bool same_bits(const Snapshot& x, const Snapshot& y) {
  if (x.entries.size() != y.entries.size()) return false;
  for (std::size_t n = 0; n < x.entries.size(); ++n) {
    if (x.entries[n].name != y.entries[n].name || !same_bits(x.entries[n].data, y.entries[n].data)) return false;
  }
  return true;
}

inline bool same_bits(const Rows& x, const Rows& y) {
  if (x.rows() != y.rows() || x.columns() != y.columns()) return false;
  for (Index k = 0; k < x.rows(); ++k) {
    if (!same_bits(x.row(k), y.row(k))) return false;
  }
  return true;
}

inline bool is_finite(const Snapshot& state) {
  for (const auto& entry : state.entries) {
    for (const double x : entry.data) {
      if (!std::isfinite(x)) return false;
    }
  }
  return true;
}

/// What one iteration did.
struct OneStep {
  std::vector<double> mu;
  Rows w;
  Traffic algorithm;
  Traffic step;
};

/// Iteration `i` alone, from the rows of `start`.
inline OneStep one_step(const CombinationMatrix& matrix, const Problem& problem, const Value& step, const Rows& start,
                        const Reference* reference = nullptr, Index i = 0, const Value& recursion = "atc") {
  OneStep out;
  launch_serial(matrix, problem.dimension(), [&](Worker& worker) {
    Solver solver(problem, reference, step, worker.network, start, 0, recursion);
    solver.iterate(i, worker.network);
    out.mu.assign(solver.algorithm->steps().begin(), solver.algorithm->steps().end());
    out.w = solver.algorithm->models();
    out.algorithm = worker.network.algorithm_traffic();
    out.step = worker.network.step_traffic();
  });
  return out;
}

/// A reference that says: this is w^o.
inline Reference known(std::vector<double> minimiser) {
  Reference reference;
  reference.minimiser = std::move(minimiser);
  return reference;
}

}  // namespace polyhop::test

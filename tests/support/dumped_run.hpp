// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/method/algorithm_table.hpp"
#include "polyhop/method/exact_diffusion.hpp"
#include "polyhop/method/graph_aware_polyak.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/problem/gradient_estimate.hpp"
#include "polyhop/problem/linear_problem.hpp"
#include "polyhop/problem/objective.hpp"
#include "polyhop/problem/problem_options.hpp"
#include "polyhop/problem/synthetic.hpp"
#include "support/own_costs.hpp"

/// Runs of polyhop, written out for a script (tests/property/_dumped_run.py) to recompute: the network, the data, the
/// drawn samples, the path, the steps and the traffic.
namespace polyhop::test {

/// One run. Its number is its seed.
struct RunCase {
  std::string topology = "erdos-renyi";
  Index agents = 6;
  Index dimension = 7;
  Index samples = 5;
  Index iterations = 80;
  std::string loss = "least-squares";
  double l2 = 0;
  double noise = 0;
  double minimiser_spread = 0;
  Value batch = 1;
  std::string start = "zero";
  Value step = {};  // { rule = ..., ... }; empty where the algorithm has its own
  Value algorithm = "atc";
  GradientEstimate gradient = GradientEstimate::plain;
  bool known_end = false;  // the algorithm is told how many iterations there will be
  bool own = false;        // the problem's costs are given as functions
};

/// The NumPy format: a magic word, a header padded to 64 bytes, the numbers.
template <class T>
void write_npy(const std::filesystem::path& file, const char* type, const std::vector<Index>& shape,
               const std::vector<T>& data) {
  std::string sizes;
  for (const Index n : shape) sizes += std::to_string(n) + ",";
  std::string header = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::ofstream out(file, std::ios::binary);
  const auto length = static_cast<std::uint16_t>(header.size());
  out << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(length & 255) << static_cast<char>(length >> 8) << header;
  out.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size() * sizeof(T)));
}

inline void write_numbers(const std::filesystem::path& file, const std::vector<Index>& shape,
                          const std::vector<double>& data) {
  write_npy(file, "<f8", shape, data);
}

inline void append(std::vector<double>& out, const Rows& rows) {
  for (Index r = 0; r < rows.rows(); ++r) out.insert(out.end(), rows.row(r).begin(), rows.row(r).end());
}

/// JSON is TOML's values with colons.
inline std::string json(const Value& v) {
  std::string s;
  if (const auto* list = v.as<Value::Array>()) {
    for (const auto& x : *list) s += (s.empty() ? "" : ", ") + json(x);
    return "[" + s + "]";
  }
  if (const auto* table = v.as<Value::Table>()) {
    for (const auto& [key, value] : *table) s += (s.empty() ? "" : ", ") + in_quotes(key) + ": " + json(value);
    return "{" + s + "}";
  }
  return v.text();
}

inline GraphOptions graph_options(const RunCase& c) {
  Value table;
  table["topology"] = Value(c.topology);
  table["agents"] = Value(c.agents);
  if (c.topology == "erdos-renyi") table["probability"] = 0.5;
  return GraphOptions::fields().read(table, "graph");
}

inline ProblemOptions problem_options(const RunCase& c) {
  Value table;
  table["l2"] = c.l2;
  table["dimension"] = Value(c.dimension);
  table["samples"] = Value(c.samples);
  table["noise"] = c.noise;
  table["minimiser_spread"] = c.minimiser_spread;
  table["batch"] = c.batch;
  ProblemOptions options = ProblemOptions::fields().read(table, "problem");
  settle(options);
  options.model.loss = builtin_loss(c.loss);  // also where that refuses synthetic data
  return options;
}

/// The case's problem. Synthetic targets are any numbers: a loss of counts gets their sizes, rounded.
inline std::unique_ptr<DataProblem> problem_of(const RunCase& c, const ProblemOptions& options, std::uint64_t seed) {
  const ModelOptions& model = options.model;
  if (model.loss.task != Task::counts) return make_problem(options, c.agents, seed);
  const SyntheticData synthetic = {c.dimension, c.samples, c.noise, options.scale_spread, c.minimiser_spread};
  Dataset data = synthesise(synthetic, {0, c.agents}, false, seed);
  for (double& y : data.targets) y = std::round(std::abs(y));
  return model.loss.build(std::move(data), 0, {.l2 = model.l2, .batch = model.batch, .sampling = model.sampling});
}

/// The run's algorithm and rule with all their options, and lambda_B where there is one.
inline void write_options(const std::filesystem::path& file, const RunCase& c, const AlgorithmSpec& algorithm,
                          const CombinationMatrix& matrix, const RuleSpec& rule, double lambda_b) {
  const Recursion recursion = algorithm.recursion(matrix);
  Value all;
  all["loss"] = Value(c.loss);
  all["l2"] = c.l2;
  all["own"] = c.own;
  all["delta"] = 1.0;
  all["topology"] = Value(c.topology);
  all["algorithm"] = algorithm.options;
  all["algorithm"]["name"] = Value(algorithm.name);
  // A bound of an eigenvalue, which the script would find to other digits.
  const Value* mixing = algorithm.options.find("mixing");
  if (mixing != nullptr) all["algorithm"]["mixing"] = recursion.mixing;
  if (algorithm.name == "auto") all["algorithm"]["mixing"] = largest_mixing(matrix);
  all["largest_mixing"] =
      Value(algorithm.name == "auto" || (mixing != nullptr && mixing->text() == Value("auto").text()));
  all["step"] = rule.options;
  all["step"]["rule"] = Value(rule.name);
  all["gradient"] = Codec<GradientEstimate>::write(c.gradient);
  if (lambda_b > 0) all["lambda_B"] = lambda_b;
  all["iterations"] = Value(c.known_end ? c.iterations : 0);
  std::ofstream(file) << json(all) << '\n';
}

/// A, the samples, and the minimiser where there is one.
inline void write_problem(const std::filesystem::path& folder, const RunCase& c, const NetworkGraph& network,
                          const DataProblem& problem, const Reference& reference) {
  const Index K = c.agents;
  std::vector<double> dense(K * K);
  for (Index k = 0; k < K; ++k) {
    const auto columns = network.matrix.rows().columns_of(k);
    const auto weights = network.matrix.rows().weights_of(k);
    for (std::size_t e = 0; e < columns.size(); ++e) dense[k * K + columns[e]] = weights[e];
  }
  write_numbers(folder / "A.npy", {K, K}, dense);
  std::vector<double> features;
  append(features, problem.data().features.dense());
  write_numbers(folder / "H.npy", {K, c.samples, c.dimension}, features);
  write_numbers(folder / "y.npy", {K, c.samples}, problem.data().targets);
  if (reference.minimiser) write_numbers(folder / "wo.npy", {c.dimension}, *reference.minimiser);
}

/// The signs of `damping = "sketch"`: row r from the stream of that number.
inline void write_sketch(const std::filesystem::path& file, const RunCase& c, const RuleSpec& rule,
                         std::uint64_t seed) {
  const Value* damping = rule.options.find("damping");
  if (damping == nullptr || *damping->as<std::string>() != "sketch") return;
  const Index size = *rule.options.find("sketch_size")->as<std::int64_t>();
  const double entry = 1 / std::sqrt(static_cast<double>(size));
  std::vector<double> signs;
  for (Index r = 0; r < size; ++r) {
    Stream stream(seed, Purpose::sketch, r);
    for (Index m = 0; m < c.dimension; ++m) signs.push_back(stream.below(2) == 0 ? entry : -entry);
  }
  write_numbers(file, {size, c.dimension}, signs);
}

/// The coins of `lsvrg`: 1 where an agent's point is moved in an iteration.
inline void write_coins(const std::filesystem::path& file, const RunCase& c, const Batch& batch, std::uint64_t seed) {
  if (c.gradient != GradientEstimate::lsvrg) return;
  std::vector<double> coins;
  for (Index i = 0; i < c.iterations; ++i) {
    for (Index k = 0; k < c.agents; ++k) {
      const double u = Stream(seed, Purpose::refresh, k, i).uniform();
      coins.push_back(i == 0 || u < static_cast<double>(batch.size) / static_cast<double>(c.samples) ? 1 : 0);
    }
  }
  write_numbers(file, {c.iterations, c.agents}, coins);
}

/// The signs by which `auto` folds vectors, one row an iteration: 64 from each number of the iteration's stream.
inline void write_signs(const std::filesystem::path& file, const RunCase& c, const AlgorithmSpec& algorithm,
                        std::uint64_t seed) {
  if (algorithm.name != "auto") return;
  std::vector<double> signs;
  for (Index i = 0; i < c.iterations; ++i) {
    Stream stream(seed, Purpose::sketch, 0, i + 1);
    std::uint64_t bits = 0;
    for (Index m = 0; m < c.dimension; ++m) {
      if (m % 64 == 0) bits = stream.bits();
      signs.push_back((bits >> (m % 64)) % 2 == 1 ? 1 : -1);
    }
  }
  write_numbers(file, {c.iterations, c.dimension}, signs);
}

/// What the iterations of a run left behind, one after the other.
struct RunLog {
  std::vector<std::int64_t> index;  // of the samples that each agent drew
  std::vector<double> path;         // from the start on
  std::vector<double> steps;
  std::vector<double> traffic =
      std::vector<double>(7, 0.0);  // rounds, vectors, scalars, the step's two, values, gradients
};

inline void log_iteration(const Algorithm& algorithm, const Network& network, const Oracle& oracle, RunLog& log) {
  append(log.path, algorithm.models());
  log.steps.insert(log.steps.end(), algorithm.steps().begin(), algorithm.steps().end());
  const Traffic& own = network.algorithm_traffic();
  const Traffic& share = network.step_traffic();
  for (const Index n : {own.rounds + share.rounds, own.vectors + share.vectors, own.scalars + share.scalars,
                        share.vectors, share.scalars, oracle.evaluations().values, oracle.evaluations().gradients}) {
    log.traffic.push_back(static_cast<double>(n));
  }
}

/// Runs the case and writes it to a folder of its number under `root`.
inline void dump_run(const RunCase& c, Index number, const std::filesystem::path& root) {
  const auto folder = root / std::to_string(number);
  std::filesystem::create_directories(folder);
  const auto seed = static_cast<std::uint64_t>(number);
  const Index K = c.agents;
  const Index M = c.dimension;
  const NetworkGraph network = make_network(graph_options(c), seed);
  const ProblemOptions options = problem_options(c);
  const std::shared_ptr<const DataProblem> problem = problem_of(c, options, seed);
  const ObjectiveProblem own(std::make_shared<OwnCosts>(problem, c.loss, c.l2), options.model.batch,
                             options.model.sampling);
  const Reference reference = make_reference(options.reference, *problem);
  const AlgorithmSpec algorithm = read_algorithm(c.algorithm, "algorithm");
  const RuleSpec rule = algorithm.takes == Steps::own ? own_steps() : read_rule(c.step, "step");
  check_pair(algorithm, rule, "step", 0);
  write_problem(folder, c, network, *problem, reference);
  write_sketch(folder / "sketch.npy", c, rule, seed);
  write_coins(folder / "coins.npy", c, options.model.batch, seed);
  write_signs(folder / "signs.npy", c, algorithm, seed);

  Rows start(K, M);
  if (c.start == "normal") {
    for (Index k = 0; k < K; ++k) Stream(seed, Purpose::start, k).normals(start.row(k));
  }
  RunLog log;
  append(log.path, start);
  Sampler sampler({0, K}, std::vector<Index>(K, c.samples), options.model.batch, options.model.sampling, seed);
  launch_serial(network.matrix, M, [&](Worker& worker) {
    const auto oracle = make_oracle(c.own ? static_cast<const Problem&>(own) : *problem, {0, K}, seed, c.gradient);
    const auto step = rule.build({worker.network, &reference, algorithm.recursion(worker.network.matrix()), seed});
    const auto* gap = dynamic_cast<const GraphAwarePolyak*>(step.get());
    write_options(folder / "options.json", c, algorithm, worker.network.matrix(), rule,
                  gap == nullptr ? 0 : gap->two_hop_scale());
    const auto recursion =
        algorithm.build(start, {worker.network, &reference, algorithm.recursion(worker.network.matrix()), seed,
                                oracle.get(), c.known_end ? c.iterations : 0});
    for (Index i = 0; i < c.iterations; ++i) {
      sampler.draw(i);
      for (Index k = 0; k < K; ++k) {
        log.index.insert(log.index.end(), sampler.indices(k).begin(), sampler.indices(k).end());
      }
      recursion->step(i, *oracle, *step, worker.network);
      log_iteration(*recursion, worker.network, *oracle, log);
    }
  });
  const Index I = c.iterations;
  write_npy(folder / "index.npy", "<i8", {I, K, sampler.total() / K}, log.index);
  write_numbers(folder / "W.npy", {I + 1, K, M}, log.path);
  write_numbers(folder / "mu.npy", {I, K}, log.steps);
  write_numbers(folder / "traffic.npy", {I + 1, 7}, log.traffic);
}

/// Runs the cases and writes them to ROOT/0, ROOT/1, ..., in their order.
inline void dump_runs(const std::vector<RunCase>& cases, const std::filesystem::path& root) {
  Index number = 0;
  for (const RunCase& c : cases) dump_run(c, number++, root);
}

}  // namespace polyhop::test

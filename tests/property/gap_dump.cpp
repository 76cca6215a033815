// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Writes runs of polyhop for gap_oracle.py to recompute: gap_dump FOLDER makes FOLDER/0, FOLDER/1, ... with the
// network, the data, the drawn samples, the path, the steps and the traffic of one run each.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/graph/spectrum.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/method/diffusion.hpp"
#include "polyhop/method/rule_table.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/problem/linear_problem.hpp"
#include "polyhop/problem/problem_options.hpp"

using namespace polyhop;

namespace {

// The NumPy format: a magic word, a header padded to 64 bytes, the numbers.
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

void write_numbers(const std::filesystem::path& file, const std::vector<Index>& shape, const std::vector<Real>& data) {
  write_npy(file, "<f8", shape, data);
}

void append(std::vector<Real>& out, const Rows& rows) {
  for (Index r = 0; r < rows.rows(); ++r) out.insert(out.end(), rows.row(r).begin(), rows.row(r).end());
}

struct Case {
  std::string topology = "erdos-renyi";
  Index agents = 6;
  Index dimension = 7;
  Index samples = 5;
  Index iterations = 80;
  std::string loss = "least-squares";
  Real l2 = 0;
  Real noise = 0;
  Value batch = 1;
  std::string start = "zero";
  Value step = {};  // { rule = ..., ... }
};

// JSON is TOML's values with colons and braces; `sqrt` caps become {"gamma": g}, "none" becomes null.
std::string json(const Value& v) {
  if (const auto* list = v.as<Value::Array>()) {
    std::string s;
    for (const auto& x : *list) s += (s.empty() ? "" : ", ") + json(x);
    return "[" + s + "]";
  }
  return v.text();
}

std::string options_json(const Case& c, const RuleSpec& rule, std::optional<Real> lambda_b) {
  std::string s = "{\"rule\": \"" + rule.name + "\", \"loss\": \"" + c.loss + "\", \"l2\": " + shortest(c.l2) +
                  ", \"delta\": 1.0, \"topology\": \"" + c.topology + "\"";
  for (const auto& [key, value] : *rule.options.as<Value::Table>()) {
    std::string text = json(value);
    if (key == "cap" && text == "\"none\"") text = "null";
    if (key == "cap" && text.find("/sqrt") != std::string::npos) {
      text = "{\"gamma\": " + text.substr(1, text.find('/') - 1) + "}";
    }
    // The loss has a delta too.
    s += ", \"" + (key == "delta" ? "decrease" : key) + "\": " + text;
  }
  if (lambda_b) s += ", \"lambda_B\": " + shortest(*lambda_b);
  return s + "}\n";
}

GraphOptions graph_options(const Case& c) {
  Value table;
  table["topology"] = Value(c.topology);
  table["agents"] = Value(c.agents);
  if (c.topology == "erdos-renyi") table["probability"] = 0.5;
  return GraphOptions::fields().read(table, "graph");
}

ProblemOptions problem_options(const Case& c) {
  Value table;
  table["loss"] = Value(c.loss);
  table["l2"] = c.l2;
  table["dimension"] = Value(c.dimension);
  table["samples"] = Value(c.samples);
  table["noise"] = c.noise;
  table["batch"] = c.batch;
  return ProblemOptions::fields().read(table, "problem");
}

void dump(const Case& c, Index number, const std::filesystem::path& root) {
  const auto folder = root / std::to_string(number);
  std::filesystem::create_directories(folder);
  const auto seed = static_cast<std::uint64_t>(number);
  const NetworkGraph network = make_network(graph_options(c), seed);
  const ProblemOptions options = problem_options(c);
  const auto problem = make_problem(options, c.agents, seed);
  const Reference reference = make_reference(options, *problem);
  const RuleSpec rule = read_rule(c.step, "step");

  const Index K = c.agents;
  const Index M = c.dimension;
  std::vector<Real> dense(static_cast<std::size_t>(K * K));
  for (Index k = 0; k < K; ++k) {
    const auto columns = network.matrix.rows().columns_of(k);
    const auto weights = network.matrix.rows().weights_of(k);
    for (std::size_t e = 0; e < columns.size(); ++e) dense[static_cast<std::size_t>(k * K + columns[e])] = weights[e];
  }
  write_numbers(folder / "A.npy", {K, K}, dense);
  std::vector<Real> features;
  append(features, problem->data().features);
  write_numbers(folder / "H.npy", {K, c.samples, M}, features);
  write_numbers(folder / "y.npy", {K, c.samples}, problem->data().targets);
  if (reference.minimiser) write_numbers(folder / "wo.npy", {M}, *reference.minimiser);

  Rows start(K, M);
  if (c.start == "normal") {
    for (Index k = 0; k < K; ++k) Stream(seed, Purpose::start, k).normals(start.row(k));
  }
  std::vector<Real> first;
  append(first, start);
  write_numbers(folder / "start.npy", {K, M}, first);

  Sampler sampler({0, K}, std::vector<Index>(static_cast<std::size_t>(K), c.samples), options.batch, options.sampling,
                  seed);
  const Index b = sampler.total() / K;
  std::vector<std::int64_t> index;
  std::vector<Real> path = first;
  std::vector<Real> steps;
  std::vector<Real> traffic(7, 0.0);
  launch_serial(network.matrix, M, [&](Worker& worker) {
    const auto oracle = problem->oracle({0, K}, seed);
    const auto step = rule.build({worker.network, &reference});
    Diffusion diffusion(start);
    for (Index i = 0; i < c.iterations; ++i) {
      sampler.draw(i);
      for (Index k = 0; k < K; ++k) index.insert(index.end(), sampler.indices(k).begin(), sampler.indices(k).end());
      diffusion.step(i, *oracle, *step, worker.network);
      append(path, diffusion.models());
      steps.insert(steps.end(), diffusion.steps().begin(), diffusion.steps().end());
      const Traffic& own = worker.network.algorithm_traffic();
      const Traffic& share = worker.network.step_traffic();
      for (const Index n :
           {own.rounds + share.rounds, own.vectors + share.vectors, own.scalars + share.scalars, share.vectors,
            share.scalars, oracle->evaluations().values, oracle->evaluations().gradients}) {
        traffic.push_back(static_cast<Real>(n));
      }
    }
  });
  const Index I = c.iterations;
  write_npy(folder / "index.npy", "<i8", {I, K, b}, index);
  write_numbers(folder / "W.npy", {I + 1, K, M}, path);
  write_numbers(folder / "mu.npy", {I, K}, steps);
  write_numbers(folder / "traffic.npy", {I + 1, 7}, traffic);
  const Value* damping = rule.options.find("damping");
  std::optional<Real> lambda_b;
  if (damping != nullptr && *damping->as<std::string>() == "graph") lambda_b = two_hop_scale(network.matrix.rows());
  std::ofstream(folder / "options.json") << options_json(c, rule, lambda_b);
}

Value gap(std::vector<std::pair<std::string, Value>> options) {
  Value step;
  step["rule"] = "gap";
  for (auto& [key, value] : options) step[key] = std::move(value);
  return step;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](Value step, Case base = {}) {
    base.step = std::move(step);
    all.push_back(std::move(base));
  };
  const char* bounds[] = {"paper", "linear", "tight", "oracle"};
  const char* dampings[] = {"paper", "rows", "norms", "graph"};
  // Every bound with every damping: an interpolating problem, then one with noise, a penalty and batches.
  for (const char* bound : bounds) {
    for (const char* damping : dampings) {
      add(gap({{"bound", bound}, {"damping", damping}}));
      add(gap({{"bound", bound}, {"damping", damping}, {"sweeps", 3}, {"project", true}, {"optimum", "per-sample"}}),
          {.topology = "ring", .agents = 7, .l2 = 0.1, .noise = 0.5, .batch = 3, .start = "normal"});
      add(gap({{"bound", bound}, {"damping", damping}, {"sweeps", 5}, {"relaxation", 1.5}, {"exchange", "relay"}}),
          {.topology = "star", .agents = 5, .dimension = 33, .loss = "logistic", .l2 = 0.05, .noise = 1.0, .batch = 2});
    }
  }
  add(gap({{"bound", "linear"}, {"sweeps", "exact"}}), {.iterations = 30});
  add(gap({{"bound", "tight"}, {"damping", "rows"}, {"sweeps", "exact"}}), {.topology = "complete", .iterations = 30});
  add(gap({{"bound", "tight"}, {"damping", "norms"}, {"sweeps", "exact"}}), {.topology = "path", .iterations = 30});
  for (const char* agree : {"min", "mean"}) add(gap({{"agree", agree}}), {.topology = "ring"});
  add(gap({{"cap", 0.01}}));
  add(gap({{"cap", "0.1/sqrt(i+1)"}}));
  for (const char* sums : {"mixed", "own"}) {
    for (const char* damping : {"rows", "norms"}) {
      add(gap({{"bound", "tight"},
               {"damping", damping},
               {"project", true},
               {"relaxation", 1.5},
               {"cap", "distance"},
               {"sums", sums}}),
          {.topology = "ring", .agents = 9, .noise = 1.0, .start = "normal"});
    }
  }
  add(gap({{"optimum", 0.25}}), {.loss = "huber", .noise = 0.5, .batch = "all"});
  add(gap({{"optimum", Value(Value::Array{0.1, 0.2, 0.0, 0.3, 0.05, 0.15})}, {"bound", "linear"}}),
      {.loss = "huber", .l2 = 0.2});
  add(gap({}), {.agents = 1});
  add(gap({{"bound", "tight"}, {"sweeps", 1}}), {.topology = "complete", .loss = "logistic"});
  const auto rule = [](const char* name, std::vector<std::pair<std::string, Value>> options) {
    Value step = gap(std::move(options));
    step["rule"] = name;
    return step;
  };
  add(rule("constant", {{"value", 0.05}}));
  add(rule("decay", {{"value", 0.2}, {"power", 0.75}}));
  add(rule("polyak", {}));
  add(rule("polyak", {{"optimum", "per-sample"}, {"max", 0.3}}), {.noise = 0.5, .batch = 2});
  add(rule("sps", {{"max", 0.5}}), {.loss = "logistic", .l2 = 0.1});
  add(rule("backtracking", {}));
  add(rule("backtracking", {{"growth", 1.0}}), {.topology = "star", .noise = 0.5, .start = "normal"});
  add(rule("backtracking", {{"reach", "network"}, {"first", 100.0}}), {.topology = "ring", .agents = 7, .batch = 3});
  add(rule("backtracking", {{"growth", 1.1}, {"delta", 0.5}, {"shrink", 0.8}}),
      {.topology = "path", .loss = "logistic", .l2 = 0.1, .noise = 1.0, .batch = 2});
  add(rule("backtracking", {{"growth", 1.1}, {"delta", 1.5}, {"first", 1e-3}}),
      {.topology = "complete", .loss = "huber", .noise = 0.5, .batch = "all"});
  add(rule("backtracking", {{"reach", "network"}}), {.agents = 1});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Index number = 0;
  for (const Case& c : cases()) dump(c, number++, argv[1]);
  return 0;
}

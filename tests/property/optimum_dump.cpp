// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
//
// optimum_dump PATH: random problems of every loss and their reference optima, as arrays "<n>/name" of one NPZ file:
//   setting  the loss's place in its table, l2, whether there is an intercept, the number of classes, whether sparse
//   H, y     the samples of all agents; agent, weight: whose each sample is, and the factor on that agent's mean loss
//   w, value the minimiser and its cost; accuracy
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/npz_writer.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/core/serial_collective.hpp"
#include "polyhop/problem/linear_problem.hpp"
#include "polyhop/problem/loss_table.hpp"
#include "polyhop/problem/reference_optimum.hpp"
#include "unit/problem/naive.hpp"

namespace {

using namespace polyhop;

constexpr Index classes = 4;
constexpr Index features = 6;
const std::vector<Index> samples = {30, 12, 25};

struct Setting {
  const LossEntry& loss;
  double l2;
  bool intercept;
  bool sparse;
  bool pooled;          // weights that make the mean of the agents' costs the mean of all samples'
  double shift = 0;     // of all targets
  bool spread = false;  // agent by agent, as where nobody has all data
};

// A target that h.w explains in part.
double target_of(const LossEntry& loss, double z, Stream& stream) {
  const double noisy = z + stream.normal();
  switch (loss.task) {
    case Task::two_classes:
      return noisy < 0 ? -1 : 1;
    case Task::counts:
      return std::floor(std::exp(0.5 * noisy));
    case Task::classes:
      return static_cast<double>(noisy < -1 ? 0 : (noisy < 0 ? 1 : (noisy < 1 ? 2 : 3)));
    case Task::regression:
      break;
  }
  return noisy;
}

Dataset random_data(const Setting& setting, std::uint64_t seed) {
  Dataset data;
  data.offset = {0};
  for (const Index n : samples) data.offset.push_back(data.offset.back() + n);
  Rows h(data.offset.back(), features);
  Stream stream(seed, Purpose::features);
  std::vector<double> w(features);
  stream.normals(w, 0.6);
  for (Index n = 0; n < h.rows(); ++n) {
    for (double& x : h.row(n)) x = stream.uniform() < 0.4 ? 0 : stream.normal();
    if (setting.intercept) h(n, features - 1) = 1;
    data.targets.push_back(setting.shift + target_of(setting.loss, naive::product(h.row(n), w), stream));
  }
  data.features = std::move(h);
  return data;
}

void dump(NpzWriter& out, Index number, const Setting& setting) {
  const Dataset data = random_data(setting, static_cast<std::uint64_t>(number));
  const Index n = data.features.rows();
  LinearOptions options = {.l2 = setting.l2, .intercept = setting.intercept};
  std::vector<double> agent;
  for (Index k = 0; k < data.agents(); ++k) {
    const auto share = static_cast<double>(data.agents() * data.samples(k)) / static_cast<double>(n);
    options.weights.push_back(setting.pooled ? share : 1.0 / static_cast<double>(1 + k));
    agent.insert(agent.end(), static_cast<std::size_t>(data.samples(k)), static_cast<double>(k));
  }
  const std::vector<double> weights = options.weights;
  std::vector<double> h;
  for (Index r = 0; r < n; ++r) {
    h.insert(h.end(), data.features.dense().row(r).begin(), data.features.dense().row(r).end());
  }
  Dataset used = data;
  if (setting.sparse) used.features = naive::sparse(data.features.dense());
  const bool huber = setting.loss.name == "huber";
  const LossSpec loss = setting.loss.read(huber ? Value::Table{{"delta", 0.7}} : Value::Table{}, "loss");
  const auto problem = loss.build(used, classes, options);
  SerialCollective alone;
  const Reference reference =
      solve_reference(*problem, alone, {0, data.agents()}, setting.spread ? 0 : pooled_features);
  const std::string at = std::to_string(number) + "/";
  const std::vector<double> said = {static_cast<double>(&setting.loss - losses().data()), setting.l2,
                                    setting.intercept ? 1.0 : 0.0, static_cast<double>(problem->predictions()),
                                    setting.sparse ? 1.0 : 0.0};
  out.add(at + "setting", said, {static_cast<Index>(said.size())});
  out.add(at + "H", h, {n, features});
  out.add(at + "y", data.targets, {n});
  out.add(at + "agent", agent, {n});
  out.add(at + "weight", weights, {data.agents()});
  out.add(at + "w", reference.minimiser.value(), {problem->dimension()});
  out.add(at + "value", std::vector<double>{reference.value}, {});
  out.add(at + "accuracy", std::vector<double>{reference.accuracy}, {});
}

void dump_all(const std::string& path) {
  NpzWriter out(path);
  Index number = 0;
  for (const LossEntry& loss : losses()) {
    for (const double l2 : {0.01, 0.5}) {
      for (const bool intercept : {false, true}) {
        for (const bool sparse : {false, true}) {
          for (const bool pooled : {false, true}) dump(out, number++, {loss, l2, intercept, sparse, pooled});
        }
      }
    }
  }
  // Targets far from 0: few samples are where a Huber loss curves.
  const LossEntry& huber = *std::ranges::find(losses(), "huber", &LossEntry::name);
  for (const double l2 : {0.0, 1e-5, 1e-2}) {
    for (const double shift : {-30.0, 150.0, 4000.0}) {
      for (const bool spread : {false, true}) {
        for (const bool intercept : {false, true}) {
          dump(out, number++, {huber, l2, intercept, false, false, shift, spread});
        }
      }
    }
  }
  out.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    dump_all(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

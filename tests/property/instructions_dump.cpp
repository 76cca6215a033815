// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Work whose instructions instructions_oracle.py counts: instructions_dump NAME does it inside `counted`.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "polyhop/core/kernels.hpp"
#include "polyhop/core/pair_tiles.hpp"
#include "polyhop/experiment/solve.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/problem/problem_options.hpp"

extern "C" __attribute__((noinline)) void counted(const std::function<void()>& work) { work(); }

namespace {

using namespace polyhop;

constexpr Index agents = 24;
constexpr Index columns = 300;

Rows some_rows() {
  Rows out(agents, columns);
  for (Index k = 0; k < agents; ++k) {
    for (Index j = 0; j < columns; ++j) out(k, j) = static_cast<double>((k + 3) * (j + 5) % 17) - 8;
  }
  return out;
}

// Every agent meets every third other.
struct Pattern {
  Pattern() {
    for (Index k = 0; k < agents; ++k) {
      rows.push_back(static_cast<std::int32_t>(k));
      places.push_back(x.place(k));
      for (Index l = k % 3; l < agents; l += 3) {
        slot.push_back(static_cast<std::int32_t>(l));
        weight.push_back(0.125);
      }
      offset.push_back(static_cast<Index>(slot.size()));
    }
  }
  [[nodiscard]] SparseView view() const { return {offset.data(), slot.data(), weight.data()}; }
  Rows x = some_rows();
  Rows out = some_rows();
  std::vector<Index> offset = {0};
  std::vector<std::int32_t> slot, rows;
  std::vector<double> weight;
  std::vector<const void*> places;
};

void iterate(const char* rule) {
  Value graph;
  graph["topology"] = "ring";
  graph["agents"] = Value(agents);
  const NetworkGraph network = make_network(GraphOptions::fields().read(graph, "graph"), 1);
  ProblemOptions options;
  options.dimension = 50;
  options.samples = 10;
  const auto problem = make_problem(options, agents, 1);
  SolveOptions how;
  how.step = Value::Table{{"rule", rule}};
  if (std::strcmp(rule, "constant") == 0) how.step["value"] = 1e-3;
  Run run(*problem, network.matrix, how);
  run.step();  // what is made in the first
  counted([&] {
    for (int i = 0; i < 50; ++i) run.step();
  });
}

bool work(const char* name) {
  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  Pattern p;
  std::vector<double> products(p.slot.size());
  // Kernels alone: of what is inline it depends on the linker whether it is optimised here.
  const double* x = p.x.data();
  double* y = p.out.data();
  double* found = products.data();
  const Index stride = p.x.stride();
  if (is("dot")) {
    counted([&] {
      for (Index k = 0; k < agents; ++k) found[k] = kernels::dot(x + k * stride, y + k * stride, columns);
    });
  } else if (is("combine")) {
    counted([&, view = p.view()] { kernels::combine(view, p.rows.data(), agents, x, stride, columns, y, stride); });
  } else if (is("pairs")) {
    PairTiles tiles(p.view(), agents, nullptr, columns);
    std::vector<const void*> others;
    for (Index k = 0; k < agents; ++k) others.push_back(y + k * stride);
    counted([&] { tiles.multiply(p.places.data(), others.data(), columns, found); });
  } else if (is("products")) {
    const Rows points(columns, kernels::product_tile, 0.5);
    Rows out(agents, kernels::product_tile);
    counted([&] {
      kernels::products(x, stride, agents, points.data(), points.stride(), kernels::product_tile, columns, out.data(),
                        out.stride());
    });
  } else if (is("blend")) {
    counted([&] {
      for (Index k = 0; k < agents; ++k) kernels::blend(0.1, x + k * stride, y + k * stride, columns);
    });
  } else if (is("constant") || is("gap")) {
    iterate(name);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && work(argv[1])) return 0;
  std::fputs("usage: instructions_dump dot|combine|pairs|products|blend|constant|gap\n", stderr);
  return 2;
}

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Prints one JSON line for each graph asked for, so that graph_oracle.py can compare it with networkx.
//   graph_dump [--brief] key=value... [-- key=value...]...
// Keys are those of [graph]; `run_seed` is the seed of the run. --brief leaves out links and matrix.
#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/graph/spectrum.hpp"
#include "polyhop/graph/topology.hpp"

namespace {

using namespace polyhop;

Value value_of(const std::string& text) {
  const char* end = text.data() + text.size();
  std::int64_t n = 0;
  if (const auto r = std::from_chars(text.data(), end, n); r.ec == std::errc{} && r.ptr == end) return n;
  double x = 0;
  if (const auto r = std::from_chars(text.data(), end, x); r.ec == std::errc{} && r.ptr == end) return x;
  return text;
}

std::string edges_text(const Graph& graph) {
  std::string out;
  for (Index k = 0; k < graph.agents(); ++k) {
    for (const std::int32_t l : graph.neighbours(k)) {
      if (l > k) out += (out.empty() ? "[" : ",[") + std::to_string(k) + "," + std::to_string(l) + "]";
    }
  }
  return "[" + out + "]";
}

std::string entries_text(const SparseRows& a) {
  std::string out;
  for (Index k = 0; k < a.rows(); ++k) {
    for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) {
      out += (out.empty() ? "[" : ",[") + std::to_string(k) + "," + std::to_string(a.column[e]) + "," +
             shortest(a.weight[e]) + "]";
    }
  }
  return "[" + out + "]";
}

std::string describe(const NetworkGraph& network, bool brief) {
  std::string out =
      "{\"agents\":" + std::to_string(network.graph.agents()) + ",\"links\":" + std::to_string(network.graph.edges());
  if (!brief) {
    const Diameter d = diameter(network.graph);
    const Estimate gap = spectral_gap(network.matrix);
    out += ",\"diameter\":[" + std::to_string(d.low) + "," + std::to_string(d.high) + "]";
    out +=
        ",\"gap\":" + (gap.computed ? shortest(gap.value) : "null") + ",\"gap_tolerance\":" + shortest(gap.tolerance);
    out += ",\"two_hop_entries\":" + std::to_string(two_hop(network.matrix, {0, network.graph.agents()}).entries());
    out += ",\"two_hop_scale\":" + shortest(two_hop_scale(network.matrix.rows()));
    out += ",\"matrix\":" + entries_text(network.matrix.rows());
  }
  return out + ",\"edges\":" + edges_text(network.graph) + "}";
}

void dump(const Value& table, std::uint64_t seed, bool brief) {
  try {
    std::cout << describe(make_network(GraphOptions::fields().read(table, "graph"), seed), brief) << "\n";
  } catch (const InputError& e) {
    std::cout << "{\"error\":" << in_quotes(std::string_view(e.what())) << "}\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  Value table = Value::Table{};
  std::uint64_t seed = 0;
  bool brief = false;
  for (std::size_t i = 0; i <= words.size(); ++i) {
    if (i == words.size() || words[i] == "--") {
      dump(table, seed, brief);
      table = Value::Table{};
      seed = 0;
    } else if (words[i] == "--brief") {
      brief = true;
    } else {
      const std::size_t equals = words[i].find('=');
      if (equals == std::string::npos) {
        std::cerr << "expected key=value, found " << words[i] << "\n";
        return 2;
      }
      const Value value = value_of(words[i].substr(equals + 1));
      const std::string key = words[i].substr(0, equals);
      if (key == "run_seed") {
        seed = static_cast<std::uint64_t>(*value.as<std::int64_t>());
      } else {
        table[key] = value;
      }
    }
  }
  return 0;
}

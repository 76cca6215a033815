// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/topology.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/graph/generators.hpp"
#include "polyhop/graph/graph_file.hpp"

namespace polyhop {
namespace {

using generate::Edges;

std::string topology_text(const GraphOptions& options) { return in_quotes(name_of(options.topology)); }

/// Whether a topology determines the number of agents itself.
bool has_own_agents(Topology topology) {
  return topology == Topology::grid || topology == Topology::torus || topology == Topology::file;
}

/// The keys that only some topologies take; this one needs all of them.
std::vector<std::string> keys_of(Topology topology) {
  switch (topology) {
    case Topology::grid:
    case Topology::torus:
      return {"rows", "columns"};
    case Topology::erdos_renyi:
      return {"probability"};
    case Topology::random_geometric:
      return {"radius"};
    case Topology::watts_strogatz:
      return {"degree", "rewire"};
    case Topology::barabasi_albert:
      return {"attach"};
    case Topology::random_regular:
      return {"degree"};
    case Topology::stochastic_block:
      return {"blocks", "within", "between"};
    case Topology::file:
      return {"file"};
    default:
      return {};
  }
}

/// An example value for a topology's own key.
std::string example_of(const std::string& key) {
  static const std::map<std::string, std::string> values = {
      {"agents", "10"},  {"probability", "0.3"}, {"radius", "0.4"},  {"degree", "4"},
      {"rewire", "0.1"}, {"attach", "2"},        {"rows", "4"},      {"columns", "4"},
      {"blocks", "2"},   {"within", "0.5"},      {"between", "0.1"}, {"file", "\"net.txt\""}};
  return values.at(key);
}

/// The meaning of a key of [graph]: its help, without the topologies that use it; "" for `agents`, which explains
/// itself.
std::string meaning_of(const std::string& key) {
  for (const FieldInfo& field : GraphOptions::fields().info()) {
    if (field.name == key && key != "agents") return field.help.substr(field.help.find(": ") + 2);
  }
  return "";
}

/// One message for all missing keys.
InputError missing(const std::vector<std::string>& keys, Topology topology) {
  std::string paths, meanings, examples;
  for (const std::string& key : keys) {
    const std::string meaning = meaning_of(key);
    paths += (paths.empty() ? "graph." : ", graph.") + key;
    if (!meaning.empty()) {
      meanings += (meanings.empty() ? ": " : ", ") + (keys.size() > 1 ? key + " (" + meaning + ")" : meaning);
    }
    examples += (examples.empty() ? "" : ", ") + key + " = " + example_of(key);
  }
  return {paths, "missing; topology " + in_quotes(name_of(topology)) + " needs " + (keys.size() > 1 ? "them" : "it") +
                     meanings + ", such as " + examples};
}

/// Rejects keys that the topology does not use and asks for missing ones, all at once.
void check_keys(const GraphOptions& options) {
  static const std::vector<std::string> common = {"topology", "agents", "weights", "seed"};
  const std::vector<std::string> own = keys_of(options.topology);
  const Value table = GraphOptions::fields().write(options);
  const auto is_given = [&](const std::string& key) {
    const Value* value = table.find(key);
    return value != nullptr && !(key == "file" && options.file.empty());
  };
  std::vector<InputError> errors;
  std::vector<std::string> lacking;
  for (const std::string& key : GraphOptions::fields().names()) {
    const bool used =
        std::find(own.begin(), own.end(), key) != own.end() || (key == "agents" && !has_own_agents(options.topology));
    const bool shared = std::find(common.begin(), common.end(), key) != common.end();
    if (used && !is_given(key)) lacking.push_back(key);
    if (!used && !shared && is_given(key)) {
      errors.emplace_back("graph." + key, "topology " + topology_text(options) + " does not use this key");
    }
  }
  if (!lacking.empty()) errors.insert(errors.begin(), missing(lacking, options.topology));
  if (!errors.empty()) throw InputError(errors);
}

/// The number of agents, for any topology except a file.
Index agents_of(const GraphOptions& options) {
  if (options.topology == Topology::grid || options.topology == Topology::torus) {
    constexpr Index most = 1'000'000'000;
    if (*options.rows > most || *options.columns > most) {
      throw InputError("graph.rows", "found " + std::to_string(*options.rows) + " rows and " +
                                         std::to_string(*options.columns) +
                                         " columns, expected at most 1000000000 of each");
    }
    const Index agents = *options.rows * *options.columns;
    if (options.agents && *options.agents != agents) {
      throw InputError("graph.agents", "found " + std::to_string(*options.agents) +
                                           ", expected rows * columns = " + std::to_string(agents) + ", or nothing");
    }
    return agents;
  }
  return *options.agents;
}

void refuse_key(const char* key, Index found, const std::string& expected) {
  throw InputError(std::string("graph.") + key, "found " + std::to_string(found) + ", expected " + expected);
}

/// What a topology requires of its numbers beyond each one's range.
void check_numbers(const GraphOptions& o, Index agents) {
  const std::string below = "less than the number of agents, " + std::to_string(agents);
  if (o.topology == Topology::hypercube && !std::has_single_bit(static_cast<std::uint64_t>(agents))) {
    refuse_key("agents", agents, "a power of two for topology \"hypercube\"");
  }
  if (o.degree && *o.degree >= agents) refuse_key("degree", *o.degree, below);
  if (o.attach && *o.attach >= agents) refuse_key("attach", *o.attach, below);
  if (o.attach && *o.attach == 0 && agents > 1) refuse_key("attach", 0, "at least 1");
  if (o.blocks && *o.blocks > agents)
    refuse_key("blocks", *o.blocks, "at most the number of agents, " + std::to_string(agents));
  if (o.topology == Topology::watts_strogatz && *o.degree % 2 != 0) {
    refuse_key("degree", *o.degree, "an even number for topology \"watts-strogatz\"");
  }
  if (o.topology == Topology::random_regular) {
    if (*o.degree % 2 != 0 && agents % 2 != 0) {
      refuse_key("degree", *o.degree,
                 "an even number when the number of agents, " + std::to_string(agents) + ", is odd");
    }
    if (*o.degree == 1 && agents > 2) refuse_key("degree", 1, "at least 2: pairs are not connected");
  }
  if (o.degree && *o.degree == 0 && agents > 1) refuse_key("degree", 0, "at least 1");
}

/// The expected number of links, to reject a graph that would not fit into memory before building it.
double expected_edges(const GraphOptions& o, Index agents) {
  const auto n = static_cast<double>(agents);
  const double pairs = n * (n - 1) / 2;
  switch (o.topology) {
    case Topology::complete:
      return pairs;
    case Topology::erdos_renyi:
      return pairs * *o.probability;
    case Topology::random_geometric:
      return pairs * std::min(1.0, 3.2 * *o.radius * *o.radius);
    case Topology::watts_strogatz:
    case Topology::random_regular:
      return n * static_cast<double>(*o.degree) / 2;
    case Topology::barabasi_albert:
      return n * static_cast<double>(*o.attach);
    case Topology::stochastic_block: {
      const double inside = pairs / static_cast<double>(*o.blocks);
      return inside * *o.within + (pairs - inside) * *o.between;
    }
    case Topology::hypercube:
    case Topology::exponential:
      return n * std::log2(n);
    default:
      return 2 * n;
  }
}

void check_memory(const GraphOptions& options, Index agents) {
  constexpr double bytes_each = 40;  // per link or agent, in the graph, in the matrix and during construction
  const double edges = expected_edges(options, agents);
  const double bytes = bytes_each * (edges + static_cast<double>(agents));
  if (bytes <= memory_left()) return;
  throw InputError("graph.agents", "topology " + topology_text(options) + " with " + std::to_string(agents) +
                                       " agents has about " + shortest(std::round(edges)) +
                                       " links and would take about " + memory_text(bytes) + "; " +
                                       memory_limit_text() + ", or use fewer agents");
}

Edges draw(const GraphOptions& o, Index agents, Stream& random) {
  switch (o.topology) {
    case Topology::ring:
      return generate::ring(agents);
    case Topology::path:
      return generate::path(agents);
    case Topology::star:
      return generate::star(agents);
    case Topology::complete:
      return generate::complete(agents);
    case Topology::grid:
      return generate::grid(*o.rows, *o.columns);
    case Topology::torus:
      return generate::torus(*o.rows, *o.columns);
    case Topology::hypercube:
      return generate::hypercube(agents);
    case Topology::binary_tree:
      return generate::binary_tree(agents);
    case Topology::exponential:
      return generate::exponential(agents);
    case Topology::erdos_renyi:
      return generate::erdos_renyi(agents, *o.probability, random);
    case Topology::random_geometric:
      return generate::random_geometric(agents, *o.radius, random);
    case Topology::watts_strogatz:
      return generate::watts_strogatz(agents, *o.degree, *o.rewire, random);
    case Topology::barabasi_albert:
      return generate::barabasi_albert(agents, *o.attach, random);
    case Topology::random_regular:
      return generate::random_regular(agents, *o.degree, random);
    case Topology::stochastic_block:
      return generate::stochastic_block(agents, *o.blocks, *o.within, *o.between, random);
    case Topology::file:
      break;
  }
  throw Error("a graph file cannot be drawn");
}

std::string three_digits(double x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", x);
  return text.data();
}

/// What to change if no draw is connected.
std::string advice(const GraphOptions& o, Index agents) {
  const auto n = static_cast<double>(agents);
  switch (o.topology) {
    case Topology::erdos_renyi:
      return "raise probability above log(agents)/agents = " + three_digits(std::log(n) / n);
    case Topology::random_geometric:
      return "raise radius above sqrt(log(agents)/(pi agents)) = " +
             three_digits(std::sqrt(std::log(n) / (3.14159265 * n)));
    case Topology::stochastic_block:
      return "raise within or between: an agent needs more than log(agents) = " + three_digits(std::log(n)) +
             " links on average, and blocks need links between them";
    default:
      return "raise degree or lower rewire";
  }
}

Graph connected_graph(const GraphOptions& options, Index agents, std::uint64_t seed) {
  // Large graphs get fewer draws: except near the threshold they are connected almost always or almost never.
  constexpr double work = 5e7;
  const double one_draw = static_cast<double>(agents) + expected_edges(options, agents);
  const Index draws = std::clamp<Index>(static_cast<Index>(work / one_draw), 10, 1000);
  for (Index attempt = 0; attempt < draws; ++attempt) {
    Stream random(seed, Purpose::graph, 0, attempt);
    Graph graph = Graph::from_edges(agents, draw(options, agents, random));
    if (is_connected(graph)) return graph;
  }
  std::string keys;
  const Value table = GraphOptions::fields().write(options);
  for (const std::string& key : keys_of(options.topology)) keys += ", " + key + " = " + table.find(key)->text();
  throw InputError("graph.topology", "none of " + std::to_string(draws) + " draws of " + topology_text(options) +
                                         " (agents = " + std::to_string(agents) + keys + ") is connected; " +
                                         advice(options, agents));
}

}  // namespace

const FieldTable<GraphOptions>& GraphOptions::fields() {
  using O = GraphOptions;
  static const auto table = [] {
    FieldTable<O> t;
    t.require("topology", &O::topology, "who is linked to whom");
    t.add("agents", &O::agents, "number of agents; not needed for grid, torus and file", count_from(1));
    t.add("probability", &O::probability, "erdos-renyi: probability of a link between any two agents",
          polyhop::within(0, 1));
    t.add("radius", &O::radius, "random-geometric: agents in the unit square are linked if they are this close",
          above(0));
    t.add("degree", &O::degree, "watts-strogatz, random-regular: neighbours per agent", count_from(0));
    t.add("rewire", &O::rewire, "watts-strogatz: probability that a link is rewired", polyhop::within(0, 1));
    t.add("attach", &O::attach, "barabasi-albert: links that a new agent makes", count_from(0));
    t.add("rows", &O::rows, "grid, torus: number of rows", count_from(1));
    t.add("columns", &O::columns, "grid, torus: number of columns", count_from(1));
    t.add("blocks", &O::blocks, "stochastic-block: number of groups", count_from(1));
    t.add("within", &O::within, "stochastic-block: probability of a link inside a group", polyhop::within(0, 1));
    t.add("between", &O::between, "stochastic-block: probability of a link between groups", polyhop::within(0, 1));
    t.add("file", &O::file,
          "file: edge list (.txt .edges .csv), GraphML (.graphml .xml), Matrix Market (.mtx), dense matrix (.mat "
          ".dense)");
    t.add("weights", &O::weights, "rule for the combination matrix");
    t.add("seed", &O::seed, "the graph's own seed: the same graph whatever the run's seed", count_from(0));
    return t;
  }();
  return table;
}

std::vector<std::pair<std::string, std::string>> needed_keys(Topology topology) {
  std::vector<std::string> keys = keys_of(topology);
  if (!has_own_agents(topology)) keys.insert(keys.begin(), "agents");
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& key : keys) out.emplace_back(key, example_of(key));
  return out;
}

NetworkGraph make_network(const GraphOptions& options, std::uint64_t seed) {
  if (options.given) return *options.given;
  // Options built in code pass the same checks, with the same messages, as those read from a file.
  static_cast<void>(GraphOptions::fields().read(GraphOptions::fields().write(options), "graph"));
  check_keys(options);
  if (options.topology == Topology::file) return read_network(options.file, options.agents, options.weights);
  if (options.weights == Weights::given) {
    throw InputError("graph.weights", "\"given\" needs topology \"file\", with the weights in that file");
  }
  const Index agents = agents_of(options);
  check_numbers(options, agents);
  check_memory(options, agents);
  return with_weights(connected_graph(options, agents, options.seed ? static_cast<std::uint64_t>(*options.seed) : seed),
                      options.weights);
}

}  // namespace polyhop

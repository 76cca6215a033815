// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/graph/weights.hpp"

namespace polyhop {

enum class Topology {
  ring,
  path,
  star,
  complete,
  grid,
  torus,
  hypercube,
  binary_tree,
  erdos_renyi,
  random_geometric,
  watts_strogatz,
  barabasi_albert,
  random_regular,
  exponential,
  stochastic_block,
  file
};

template <>
struct EnumNames<Topology> {
  static constexpr std::array<std::pair<Topology, std::string_view>, 16> names = {{
      {Topology::ring, "ring"},
      {Topology::path, "path"},
      {Topology::star, "star"},
      {Topology::complete, "complete"},
      {Topology::grid, "grid"},
      {Topology::torus, "torus"},
      {Topology::hypercube, "hypercube"},
      {Topology::binary_tree, "binary-tree"},
      {Topology::erdos_renyi, "erdos-renyi"},
      {Topology::random_geometric, "random-geometric"},
      {Topology::watts_strogatz, "watts-strogatz"},
      {Topology::barabasi_albert, "barabasi-albert"},
      {Topology::random_regular, "random-regular"},
      {Topology::exponential, "exponential"},
      {Topology::stochastic_block, "stochastic-block"},
      {Topology::file, "file"},
  }};
};

/// The [graph] table. A topology takes the keys that it needs and rejects the others.
struct GraphOptions {
  Topology topology = Topology::ring;
  std::optional<Index> agents;  // may be left out if other keys or the file determine it
  std::optional<double> probability;
  std::optional<double> radius;
  std::optional<Index> degree;
  std::optional<double> rewire;
  std::optional<Index> attach;
  std::optional<Index> rows;
  std::optional<Index> columns;
  std::optional<Index> blocks;
  std::optional<double> within;
  std::optional<double> between;
  std::string file;
  Weights weights = Weights::metropolis;
  std::optional<Index> seed;
  /// The network of a program that already has one; everything else is then ignored.
  std::shared_ptr<const NetworkGraph> given = nullptr;

  static const FieldTable<GraphOptions>& fields();
};

/// The keys of [graph] that a topology requires, each with an example value.
std::vector<std::pair<std::string, std::string>> needed_keys(Topology topology);

/// Checks the options, then builds or reads the graph and its weights. Random topologies are drawn from Stream(seed,
/// Purpose::graph, 0, attempt) until connected; `options.seed` overrides `seed`. Builds nothing dense: 100,000 agents
/// of degree 10 take under a second. Throws InputError, with paths starting with "graph.".
NetworkGraph make_network(const GraphOptions& options, std::uint64_t seed);

}  // namespace polyhop

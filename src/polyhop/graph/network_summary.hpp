// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/graph/graph.hpp"
#include "polyhop/graph/spectrum.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/graph/weights.hpp"

namespace polyhop {

/// How many agents have between `low` and `high` neighbours.
struct DegreeBin {
  Index low = 0;
  Index high = 0;
  Index agents = 0;
};

/// At most `max_bins` bins of equal width that cover all degrees; one per degree if that is enough.
std::vector<DegreeBin> degree_histogram(const Graph& graph, Index max_bins = 10);

/// How many agents are within two hops of each agent, itself included: the size of the lists that GAP works on.
struct TwoHopSizes {
  double mean = 0;
  Index most = 0;
  Index total = 0;
};

/// Empty if counting would visit more than `work` links. Agents next to one that knows everybody cost nothing.
std::optional<TwoHopSizes> two_hop_sizes(const Graph& graph, Index work = 2'000'000'000);

/// One rule for the weights, tried on a network.
struct WeightsTrial {
  Weights rule = Weights::metropolis;
  bool chosen = false;    // the one that the options choose
  std::string objection;  // why the rule does not suit this network; empty if it does
  Estimate gap;
  bool negative = false;  // some a_kl < 0
  Index idle = 0;         // links without weight
};

/// Everything that can be said about a network before it is used.
struct NetworkSummary {
  Index agents = 0;
  Index links = 0;
  Index least_degree = 0;
  double mean_degree = 0;
  Index max_degree = 0;
  std::vector<DegreeBin> degrees;
  Diameter diameter;
  std::optional<TwoHopSizes> two_hop;
  std::vector<WeightsTrial> weights;  // the chosen rule first
};

/// Builds the network of the options and describes it. Other rules than the chosen one are tried up to 5,000 agents
/// (fastest-mixing: 100), for a few seconds each; which of the gaps are found may depend on the machine.
NetworkSummary summarise(const GraphOptions& options, std::uint64_t seed);

}  // namespace polyhop

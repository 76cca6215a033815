// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/network_summary.hpp"

#include <algorithm>
#include <cstdint>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

constexpr double seconds_chosen = 10;
constexpr double seconds_other = 3;
constexpr Index others_up_to = 5000;
constexpr Index fastest_mixing_up_to = 100;  // a search that takes seconds above that

/// Counts who is within two hops of an agent, using marks that need no clearing between agents.
class NearCounter {
 public:
  explicit NearCounter(const Graph& graph) : graph_(graph), mark_(graph.agents(), -1) {}

  /// The number of links that `count` will visit.
  [[nodiscard]] Index price(Index k) const {
    if (sees_everybody(k)) return 0;
    Index looks = 0;
    for (const std::int32_t m : graph_.neighbours(k)) looks += graph_.degree(m);
    return looks;
  }

  Index count(Index k) {
    if (sees_everybody(k)) return graph_.agents();
    Index found = 0;
    const auto meet = [&](Index l) {
      auto& mark = mark_[l];
      found += mark != k;
      mark = k;
    };
    meet(k);
    for (const std::int32_t m : graph_.neighbours(k)) {
      meet(m);
      for (const std::int32_t l : graph_.neighbours(m)) meet(l);
    }
    return found;
  }

 private:
  [[nodiscard]] bool sees_everybody(Index k) const {
    const Index others = graph_.agents() - 1;
    return graph_.degree(k) == others ||
           std::ranges::any_of(graph_.neighbours(k), [&](std::int32_t m) { return graph_.degree(m) == others; });
  }

  const Graph& graph_;
  std::vector<Index> mark_;
};

void describe_degrees(const Graph& graph, NetworkSummary& summary) {
  summary.degrees = degree_histogram(graph);
  summary.least_degree = graph.degree(0);
  for (Index k = 0; k < graph.agents(); ++k) summary.least_degree = std::min(summary.least_degree, graph.degree(k));
  summary.max_degree = graph.max_degree();
  summary.mean_degree = 2 * static_cast<double>(graph.edges()) / static_cast<double>(graph.agents());
}

WeightsTrial tried(const NetworkGraph& network, Weights rule, Index links, double seconds) {
  WeightsTrial trial;
  trial.rule = rule;
  trial.gap = spectral_gap(network.matrix, seconds);
  trial.negative = !network.matrix.non_negative();
  trial.idle = links - network.graph.edges();
  return trial;
}

WeightsTrial tried(const Graph& graph, Weights rule) {
  try {
    const Index most = rule == Weights::fastest_mixing ? fastest_mixing_up_to : others_up_to;
    if (graph.agents() > most) {
      throw InputError("", "not tried above " + std::to_string(most) + " agents unless chosen");
    }
    return tried(with_weights(graph, rule), rule, graph.edges(), seconds_other);
  } catch (const InputError& e) {
    WeightsTrial trial;
    trial.rule = rule;
    trial.objection = e.message();
    return trial;
  }
}

}  // namespace

std::vector<DegreeBin> degree_histogram(const Graph& graph, Index max_bins) {
  Index low = graph.degree(0);
  for (Index k = 0; k < graph.agents(); ++k) low = std::min(low, graph.degree(k));
  const Index range = graph.max_degree() - low + 1;
  const Index width = (range + max_bins - 1) / max_bins;
  std::vector<DegreeBin> bins;
  for (Index d = low; d < low + range; d += width) bins.push_back({d, std::min(d + width, low + range) - 1, 0});
  for (Index k = 0; k < graph.agents(); ++k) ++bins[(graph.degree(k) - low) / width].agents;
  return bins;
}

std::optional<TwoHopSizes> two_hop_sizes(const Graph& graph, Index work) {
  NearCounter counter(graph);
  Index price = 0;
  for (Index k = 0; k < graph.agents() && price <= work; ++k) price += counter.price(k);
  if (price > work) return std::nullopt;
  TwoHopSizes sizes;
  for (Index k = 0; k < graph.agents(); ++k) {
    const Index near = counter.count(k);
    sizes.total += near;
    sizes.most = std::max(sizes.most, near);
  }
  sizes.mean = static_cast<double>(sizes.total) / static_cast<double>(graph.agents());
  return sizes;
}

NetworkSummary summarise(const GraphOptions& options, std::uint64_t seed) {
  const NetworkGraph network = make_network(options, seed);
  // All links, including those that the chosen rule leaves without weight.
  GraphOptions plain = options;
  plain.weights = Weights::metropolis;
  const Graph graph = options.weights == Weights::fastest_mixing || options.weights == Weights::given
                          ? make_network(plain, seed).graph
                          : network.graph;
  NetworkSummary summary;
  summary.agents = graph.agents();
  summary.links = graph.edges();
  describe_degrees(graph, summary);
  summary.diameter = diameter(graph);
  summary.two_hop = two_hop_sizes(network.graph);
  summary.weights.push_back(tried(network, options.weights, graph.edges(), seconds_chosen));
  summary.weights.front().chosen = true;
  for (const auto& [rule, name] : EnumNames<Weights>::names) {
    if (rule != options.weights && rule != Weights::given) summary.weights.push_back(tried(graph, rule));
  }
  return summary;
}

}  // namespace polyhop

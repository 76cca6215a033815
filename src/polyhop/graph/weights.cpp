// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/weights.hpp"

#include <algorithm>
#include <string>

#include "polyhop/core/error.hpp"
#include "polyhop/graph/fastest_mixing.hpp"
#include "polyhop/graph/spectrum.hpp"

namespace polyhop {
namespace {

/// The matrix with a_kl = weight(k, l) along links; the diagonal takes the rest of 1.
template <class Weight>
SparseRows from_links(const Graph& graph, Weight weight) {
  SparseRows a;
  a.offset.reserve(graph.agents() + 1);
  a.column.reserve(graph.agents() + 2 * graph.edges());
  a.weight.reserve(a.column.capacity());
  for (Index k = 0; k < graph.agents(); ++k) {
    const auto own =
        static_cast<Index>(a.column.size()) +
        (std::lower_bound(graph.neighbours(k).begin(), graph.neighbours(k).end(), k) - graph.neighbours(k).begin());
    double sum = 0;
    for (const std::int32_t l : graph.neighbours(k)) {
      if (static_cast<Index>(a.column.size()) == own) a.add(static_cast<std::int32_t>(k), 0);
      const double a_kl = weight(k, l);
      a.add(l, a_kl);
      sum += a_kl;
    }
    if (static_cast<Index>(a.column.size()) == own) a.add(static_cast<std::int32_t>(k), 0);
    a.weight[own] = 1 - sum;
    a.end_row();
  }
  return a;
}

SparseRows metropolis(const Graph& graph) {
  return from_links(graph, [&](Index k, Index l) {
    return 1 / (1 + static_cast<double>(std::max(graph.degree(k), graph.degree(l))));
  });
}

SparseRows constant(const Graph& graph, double alpha) {
  return from_links(graph, [alpha](Index, Index) { return alpha; });
}

SparseRows lazy(const Graph& graph) {
  SparseRows a = metropolis(graph);
  for (Index k = 0; k < a.rows(); ++k) {
    for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) {
      a.weight[e] = a.column[e] == k ? 0.5 * (1 + a.weight[e]) : 0.5 * a.weight[e];
    }
  }
  return a;
}

double best_constant(const Graph& graph) {
  if (graph.agents() == 1) return 0;
  const LaplacianRange range = laplacian_range(graph);
  return 2 / (range.largest + range.second);
}

SparseRows uniform(const Graph& graph) {
  const Index agents = graph.agents();
  if (graph.edges() != agents * (agents - 1) / 2) {
    throw InputError("graph.weights", "\"uniform\" needs the complete graph with " +
                                          std::to_string(agents * (agents - 1) / 2) + " links, found " +
                                          std::to_string(graph.edges()) + "; \"metropolis\" suits any connected graph");
  }
  SparseRows a = constant(graph, 1 / static_cast<double>(agents));
  std::fill(a.weight.begin(), a.weight.end(), 1 / static_cast<double>(agents));
  return a;
}

SparseRows fastest(const Graph& graph) {
  if (graph.agents() > fastest_mixing_limit) {
    throw InputError("graph.weights", "\"fastest-mixing\" works for at most " + std::to_string(fastest_mixing_limit) +
                                          " agents, found " + std::to_string(graph.agents()) +
                                          "; \"metropolis\" or \"best-constant\" work for any number");
  }
  return fastest_mixing(graph, metropolis(graph));
}

CombinationMatrix matrix_of(const Graph& graph, Weights rule) {
  switch (rule) {
    case Weights::metropolis:
      return CombinationMatrix(metropolis(graph));
    case Weights::max_degree:
      return CombinationMatrix(constant(graph, 1 / (1 + static_cast<double>(graph.max_degree()))));
    case Weights::best_constant:
      return CombinationMatrix(constant(graph, best_constant(graph)), Sign::any);
    case Weights::lazy:
      return CombinationMatrix(lazy(graph));
    case Weights::fastest_mixing:
      return CombinationMatrix(fastest(graph));
    case Weights::uniform:
      return CombinationMatrix(uniform(graph));
    case Weights::given:
      break;
  }
  throw InputError("graph.weights", "\"given\" needs topology \"file\", with the weights in that file");
}

}  // namespace

NetworkGraph with_weights(Graph graph, Weights rule) {
  CombinationMatrix matrix = matrix_of(graph, rule);
  if (matrix.rows().entries() != graph.agents() + 2 * graph.edges()) graph = pattern(matrix.rows());
  return {std::move(graph), std::move(matrix)};
}

}  // namespace polyhop

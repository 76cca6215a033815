// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "polyhop/core/fields.hpp"
#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/graph/graph.hpp"

namespace polyhop {

/// How links get their weights; d_k is the degree of agent k without itself, L the Laplacian:
///   metropolis      a_kl = 1/(1 + max(d_k, d_l))
///   max-degree      A = I - L/(d_max + 1)
///   best-constant   A = I - alpha L, alpha = 2/(lambda_1(L) + lambda_{K-1}(L)); entries may be negative
///   lazy            A = (I + A_metropolis)/2
///   fastest-mixing  the non-negative A with the largest spectral gap, at most 200 agents
///   uniform         a_kl = 1/K, complete graph only
///   given           the weights of the graph's file
enum class Weights { metropolis, max_degree, best_constant, lazy, fastest_mixing, uniform, given };

template <>
struct EnumNames<Weights> {
  static constexpr std::array<std::pair<Weights, std::string_view>, 7> names = {{
      {Weights::metropolis, "metropolis"},
      {Weights::max_degree, "max-degree"},
      {Weights::best_constant, "best-constant"},
      {Weights::lazy, "lazy"},
      {Weights::fastest_mixing, "fastest-mixing"},
      {Weights::uniform, "uniform"},
      {Weights::given, "given"},
  }};
};

/// A graph with weights along its links: a_kl is nonzero exactly if k and l are linked, or k = l.
struct NetworkGraph {
  Graph graph;
  CombinationMatrix matrix;
};

/// Weights for a connected graph, by any rule except `given`. A rule may leave a link without weight: it would carry
/// nothing, so the result's graph drops it.
NetworkGraph with_weights(Graph graph, Weights rule);

}  // namespace polyhop

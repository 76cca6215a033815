// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/graph/generators.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/graph/weights.hpp"

namespace polyhop::test {

using Dense = std::vector<std::vector<double>>;

inline Dense zeros(Index rows, Index columns) {
  return Dense(static_cast<std::size_t>(rows), std::vector<double>(columns));
}

/// The combination matrix with these entries.
inline CombinationMatrix matrix_of(const Dense& a) {
  SparseRows rows;
  for (const auto& row : a) {
    for (std::size_t l = 0; l < row.size(); ++l) {
      if (row[l] != 0) rows.add(static_cast<std::int32_t>(l), row[l]);
    }
    rows.end_row();
  }
  return CombinationMatrix(std::move(rows));
}

/// A topology without keys of its own, with Metropolis weights; one agent is the 1 x 1 identity.
inline CombinationMatrix network_of(Topology topology, Index agents) {
  if (agents == 1) return matrix_of({{1.0}});
  GraphOptions options;
  options.topology = topology;
  options.agents = agents;
  return make_network(options, 0).matrix;
}

/// A connected random graph of any density, with Metropolis weights.
inline CombinationMatrix random_network(Index agents, double probability, std::uint64_t seed) {
  if (agents == 1) return matrix_of({{1.0}});
  // A path keeps it connected, however few links are drawn.
  auto edges = generate::path(agents);
  Stream random(seed, Purpose::graph);
  for (const Edge& edge : generate::erdos_renyi(agents, probability, random)) edges.push_back(edge);
  return with_weights(Graph::from_edges(agents, edges), Weights::metropolis).matrix;
}

inline Dense dense(const SparseRows& rows, Index columns) {
  Dense out = zeros(rows.rows(), columns);
  for (Index k = 0; k < rows.rows(); ++k) {
    for (std::size_t e = 0; e < rows.columns_of(k).size(); ++e) {
      out[k][rows.columns_of(k)[e]] = rows.weights_of(k)[e];
    }
  }
  return out;
}

/// A as a full matrix.
inline Dense dense(const CombinationMatrix& a) { return dense(a.rows(), a.agents()); }

inline Dense product(const Dense& x, const Dense& y) {
  Dense out = zeros(static_cast<Index>(x.size()), static_cast<Index>(y.front().size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < y.front().size(); ++j) {
      for (std::size_t m = 0; m < y.size(); ++m) out[i][j] += x[i][m] * y[m][j];
    }
  }
  return out;
}

inline Dense transposed(const Dense& x) {
  Dense out = zeros(static_cast<Index>(x.front().size()), static_cast<Index>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.front().size(); ++j) out[j][i] = x[i][j];
  }
  return out;
}

/// B = A^T A.
inline Dense two_hop_weights(const CombinationMatrix& a) { return product(transposed(dense(a)), dense(a)); }

/// How many rows each agent is sent in a message of two hops, sender by sender: every agent sends its own row to its
/// neighbours; then it forwards a row that it got to those that are not linked with the row's owner, unless the two
/// have a common neighbour of a smaller number.
inline std::vector<Index> rows_over_two_hops(const CombinationMatrix& matrix) {
  const Dense a = dense(matrix);
  const std::size_t agents = a.size();
  const auto linked = [&](std::size_t k, std::size_t l) { return k != l && a[k][l] != 0; };
  std::vector<Index> received(agents);
  for (std::size_t sender = 0; sender < agents; ++sender) {
    for (std::size_t to = 0; to < agents; ++to) {
      if (!linked(sender, to)) continue;
      ++received[to];
      for (std::size_t from = 0; from < agents; ++from) {
        if (!linked(from, sender) || from == to || linked(from, to)) continue;
        bool is_first = true;
        for (std::size_t other = 0; other < sender; ++other) {
          is_first = is_first && !(linked(from, other) && linked(other, to));
        }
        if (is_first) ++received[to];
      }
    }
  }
  return received;
}

/// The largest eigenvalue of a symmetric matrix, by Jacobi's rotations.
inline double largest_eigenvalue(Dense s) {
  const std::size_t n = s.size();
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * s[p][q], s[q][q] - s[p][p]);
        const double c = std::cos(angle);
        const double d = std::sin(angle);
        for (std::size_t j = 0; j < n; ++j) {
          const double x = s[p][j];
          s[p][j] = c * x - d * s[q][j];
          s[q][j] = d * x + c * s[q][j];
        }
        for (std::size_t j = 0; j < n; ++j) {
          const double x = s[j][p];
          s[j][p] = c * x - d * s[j][q];
          s[j][q] = d * x + c * s[j][q];
        }
      }
    }
  }
  double largest = s[0][0];
  for (std::size_t j = 1; j < n; ++j) largest = std::fmax(largest, s[j][j]);
  return largest;
}

}  // namespace polyhop::test

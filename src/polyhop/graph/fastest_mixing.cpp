// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/fastest_mixing.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace polyhop {
namespace {

struct Link {
  std::int32_t k, l;
  double weight;
};

std::vector<Link> links_of(const SparseRows& a) {
  std::vector<Link> links;
  for (Index k = 0; k < a.rows(); ++k) {
    for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) {
      if (a.column[e] > k) links.push_back({static_cast<std::int32_t>(k), a.column[e], a.weight[e]});
    }
  }
  return links;
}

Eigen::MatrixXd dense(Index agents, const std::vector<Link>& links) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Identity(agents, agents);
  for (const Link& e : links) {
    a(e.k, e.l) = a(e.l, e.k) = e.weight;
    a(e.k, e.k) -= e.weight;
    a(e.l, e.l) -= e.weight;
  }
  return a;
}

/// max(lambda_2, -lambda_K) and its subgradient with respect to the link weights: d lambda(u)/dp_kl = -(u_k - u_l)^2.
double mixing_rate(Index agents, const std::vector<Link>& links, std::vector<double>& gradient) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense(agents, links));
  const double second = solver.eigenvalues()[agents - 2];
  const double last = solver.eigenvalues()[0];
  const bool upper = second >= -last;
  const Index which = upper ? agents - 2 : 0;
  gradient.resize(links.size());
  for (std::size_t e = 0; e < links.size(); ++e) {
    const double slope = solver.eigenvectors()(links[e].k, which) - solver.eigenvectors()(links[e].l, which);
    gradient[e] = upper ? -slope * slope : slope * slope;
  }
  return std::max(second, -last);
}

/// Agent by agent: if its weights sum to more than 1, replaces them by the nearest non-negative weights that sum to 1.
void project(Index agents, const std::vector<std::vector<std::size_t>>& at, std::vector<Link>& links) {
  for (Link& e : links) e.weight = std::max(e.weight, 0.0);
  std::vector<double> sorted;
  for (Index k = 0; k < agents; ++k) {
    sorted.clear();
    double sum = 0;
    for (const std::size_t e : at[k]) {
      sorted.push_back(links[e].weight);
      sum += links[e].weight;
    }
    if (sum <= 1) continue;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double taken = 0;
    double shift = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      taken += sorted[i];
      const double candidate = (taken - 1) / static_cast<double>(i + 1);
      if (candidate < sorted[i]) shift = candidate;
    }
    for (const std::size_t e : at[k]) links[e].weight = std::max(links[e].weight - shift, 0.0);
  }
}

SparseRows rows_of(Index agents, const std::vector<std::vector<std::size_t>>& at, const std::vector<Link>& links) {
  SparseRows a;
  for (Index k = 0; k < agents; ++k) {
    // Links are sorted by (k, l), so an agent's links come in ascending order of the far end.
    double sum = 0;
    for (const std::size_t e : at[k]) sum += links[e].weight;
    const double own = std::max(1 - sum, 0.0);
    bool diagonal_done = false;
    for (const std::size_t e : at[k]) {
      const std::int32_t l = links[e].k == k ? links[e].l : links[e].k;
      if (l > k && !diagonal_done) {
        a.add(static_cast<std::int32_t>(k), own);
        diagonal_done = true;
      }
      if (links[e].weight > 0) a.add(l, links[e].weight);
    }
    if (!diagonal_done) a.add(static_cast<std::int32_t>(k), own);
    a.end_row();
  }
  return a;
}

}  // namespace

SparseRows fastest_mixing(const Graph& graph, const SparseRows& start) {
  const Index agents = graph.agents();
  if (agents == 1) return start;
  std::vector<Link> links = links_of(start);
  std::vector<std::vector<std::size_t>> at(agents);
  for (std::size_t e = 0; e < links.size(); ++e) {
    at[links[e].k].push_back(e);
    at[links[e].l].push_back(e);
  }
  std::vector<double> gradient;
  double best_rate = mixing_rate(agents, links, gradient);
  std::vector<Link> best = links;
  const Index steps = agents <= 50 ? 4000 : 600;
  constexpr double nothing = 1e-13;  // one combination makes all agents agree: no better weights exist
  for (Index i = 0; i < steps && best_rate > nothing; ++i) {
    double square = 0;
    for (const double g : gradient) square += g * g;
    if (square == 0) break;
    const double step = 0.3 / std::sqrt(square * static_cast<double>(i + 1));
    for (std::size_t e = 0; e < links.size(); ++e) links[e].weight -= step * gradient[e];
    project(agents, at, links);
    const double rate = mixing_rate(agents, links, gradient);
    if (rate < best_rate) {
      best_rate = rate;
      best = links;
    }
  }
  return rows_of(agents, at, best);
}

}  // namespace polyhop

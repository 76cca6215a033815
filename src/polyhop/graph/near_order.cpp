// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/near_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

namespace polyhop {
namespace {

// Appends the component of `first` to `order`, layer by layer; the agents of a layer in order of those that led to
// them, and then of their degrees.
void walk(const SparseRows& a, std::int32_t first, std::vector<std::int32_t>& order, std::vector<char>& seen) {
  const auto degree = [&](std::int32_t k) { return a.offset[k + 1] - a.offset[k]; };
  std::size_t next = order.size();
  order.push_back(first);
  seen[first] = 1;
  for (; next < order.size(); ++next) {
    const auto found = static_cast<std::ptrdiff_t>(order.size());
    for (const std::int32_t l : a.columns_of(order[next])) {
      if (seen[l] != 0) continue;
      seen[l] = 1;
      order.push_back(l);
    }
    std::stable_sort(order.begin() + found, order.end(),
                     [&](std::int32_t k, std::int32_t l) { return degree(k) < degree(l); });
  }
}

}  // namespace

double mean_distance(const SparseRows& a, const Numbering* numbering) {
  const Block all{0, a.rows(), numbering};
  double sum = 0;
  for (Index k = 0; k < a.rows(); ++k) {
    const Index place = all.place(k);
    for (const std::int32_t l : a.columns_of(k)) sum += static_cast<double>(std::abs(place - all.place(l)));
  }
  return sum / static_cast<double>(std::max<Index>(1, a.entries() - a.rows()));
}

Numbering near_order(const SparseRows& a) {
  const auto agents = static_cast<std::size_t>(a.rows());
  Numbering out;
  out.agent.reserve(agents);
  std::vector<char> seen(agents, 0);
  std::vector<char> tried(agents, 0);
  std::vector<std::int32_t> trial;
  for (std::size_t k = 0; k < agents; ++k) {
    if (seen[k] != 0) continue;
    // The last agent of a walk is far from where that began, and the last of a walk from there farther still.
    auto first = static_cast<std::int32_t>(k);
    for (int again = 0; again < 2; ++again) {
      trial.clear();
      walk(a, first, trial, tried);
      for (const std::int32_t l : trial) tried[l] = 0;
      first = trial.back();
    }
    walk(a, first, out.agent, seen);
  }
  std::ranges::reverse(out.agent);
  out.place.resize(agents);
  for (std::size_t place = 0; place < agents; ++place) out.place[out.agent[place]] = static_cast<std::int32_t>(place);
  return out;
}

std::optional<Numbering> paying_order(const SparseRows& a) {
  constexpr Index few = 100;
  constexpr double worth_it = 2;
  if (a.rows() < few) return {};
  const double before = mean_distance(a);
  // No order of a two-dimensional grid does much better.
  if (before <= std::sqrt(static_cast<double>(a.rows()))) return {};
  Numbering order = near_order(a);
  if (mean_distance(a, &order) * worth_it > before) return {};
  return order;
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/placement.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/graph/near_order.hpp"

#ifdef POLYHOP_HAS_METIS
#include <metis.h>
#endif

namespace polyhop {

#ifdef POLYHOP_HAS_METIS
namespace {

// The process of each agent, by METIS: parts of about equal cost with few edges between them.
std::vector<Index> parts_by_metis(const CombinationMatrix& matrix, std::span<const double> cost, Index processes) {
  const SparseRows& a = matrix.rows();
  if (a.entries() > std::numeric_limits<idx_t>::max()) {
    throw InputError("placement", "the graph has too many edges for METIS; use \"contiguous\"");
  }
  std::vector<idx_t> offset = {0};
  std::vector<idx_t> neighbour;
  for (Index k = 0; k < a.rows(); ++k) {
    for (const std::int32_t l : a.columns_of(k)) {
      if (l != k) neighbour.push_back(static_cast<idx_t>(l));
    }
    offset.push_back(static_cast<idx_t>(neighbour.size()));
  }
  // Integers whose sum is far below the largest that METIS can handle.
  const double unit = std::accumulate(cost.begin(), cost.end(), 0.0) / 5e8;
  std::vector<idx_t> weight;
  for (const double c : cost) weight.push_back(static_cast<idx_t>(1 + (unit > 0 ? c / unit : 0)));

  idx_t agents = static_cast<idx_t>(a.rows());
  idx_t constraints = 1;
  idx_t count = static_cast<idx_t>(processes);
  idx_t cut = 0;
  std::vector<idx_t> part(agents);
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 0;
  // METIS uses the C library's random numbers, which all threads share.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const int code = METIS_PartGraphKway(&agents, &constraints, offset.data(), neighbour.data(), weight.data(), nullptr,
                                       nullptr, &count, nullptr, nullptr, options.data(), &cut, part.data());
  if (code != METIS_OK) throw Error("METIS could not partition the graph (code " + std::to_string(code) + ")");
  return {part.begin(), part.end()};
}

// Empty parts take one agent each from the largest part.
void leave_no_part_empty(std::vector<Index>& part, Index processes) {
  std::vector<Index> members(processes);
  for (const Index p : part) ++members[p];
  for (std::size_t p = 0; p < members.size(); ++p) {
    if (members[p] > 0) continue;
    const auto richest = std::ranges::max_element(members);
    *std::ranges::find(part, richest - members.begin()) = static_cast<Index>(p);
    --*richest;
    members[p] = 1;
  }
}

// Which agents of other parts an agent is near, within two hops.
struct Nearest {
  Index part = std::numeric_limits<Index>::max();
  int hops = 3;
};

// Within a part, agents that others hear of come first, grouped by listener: the rows that one message takes are then
// consecutive in memory, along one hop and along two, and need not be packed.
std::vector<Nearest> nearest_parts(const CombinationMatrix& matrix, const std::vector<Index>& part) {
  std::vector<Nearest> out(part.size());
  for (int hops = 1; hops <= 2; ++hops) {
    for (std::size_t k = 0; k < part.size(); ++k) {
      if (out[k].hops < hops) continue;
      for (const std::int32_t neighbour : matrix.rows().columns_of(static_cast<Index>(k))) {
        const bool foreign = part[neighbour] != part[k];
        if (hops == 1 ? !foreign : foreign || out[neighbour].hops != 1) continue;
        out[k] = {std::min(out[k].part, hops == 1 ? part[neighbour] : out[neighbour].part), hops};
      }
    }
  }
  return out;
}

Ownership by_metis(const CombinationMatrix& matrix, std::span<const double> cost, Index processes) {
  std::vector<Index> part = parts_by_metis(matrix, cost, processes);
  leave_no_part_empty(part, processes);
  auto numbering = std::make_shared<Numbering>();
  numbering->agent.resize(part.size());
  numbering->place.resize(part.size());
  std::iota(numbering->agent.begin(), numbering->agent.end(), 0);
  const std::vector<Nearest> nearest = nearest_parts(matrix, part);
  std::ranges::stable_sort(numbering->agent, {},
                           [&](std::int32_t k) { return std::tuple(part[k], nearest[k].part, nearest[k].hops); });
  Ownership out;
  out.first.assign(processes + 1, 0);
  for (std::size_t place = 0; place < part.size(); ++place) {
    const auto agent = static_cast<std::size_t>(numbering->agent[place]);
    numbering->place[agent] = static_cast<std::int32_t>(place);
    ++out.first[part[agent] + 1];
  }
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  out.numbering = std::move(numbering);
  return out;
}

}  // namespace

bool has_metis() { return true; }
#else
bool has_metis() { return false; }

namespace {

Ownership by_metis(const CombinationMatrix&, std::span<const double>, Index) {
  throw InputError("placement",
                   "\"metis\" was not built in: install libmetis-dev and build again, or use \"contiguous\"");
}

}  // namespace
#endif

Ownership choose_ownership(const CombinationMatrix& matrix, std::span<const double> cost, Index processes,
                           Placement placement) {
  const Index agents = matrix.agents();
  if (processes > agents) {
    throw InputError("graph.agents", "there are " + std::to_string(processes) + " processes for " +
                                         std::to_string(agents) + (agents == 1 ? " agent" : " agents") +
                                         "; start at most as many as there are agents");
  }
  // With one process, or one agent per process, there is nothing to choose.
  const bool choice = processes > 1 && processes < agents;
  if (placement == Placement::metis && (choice || !has_metis())) return by_metis(matrix, cost, processes);
  Ownership out = balanced_ownership(cost, processes);
  if (placement == Placement::automatic && processes == 1) {
    if (auto order = paying_order(matrix.rows())) out.numbering = std::make_shared<Numbering>(std::move(*order));
  }
  return out;
}

}  // namespace polyhop

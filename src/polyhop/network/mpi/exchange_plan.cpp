// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/mpi/exchange_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace polyhop::mpi {
namespace {

// Agents, each once and in order of their places.
using Agents = std::vector<std::int32_t>;

// The rows between two processes, by agent.
struct Rows {
  Agents sent;
  Agents received;
  Index here = -1;
  Index there = -1;
};
using Exchange = std::map<Index, Rows>;

class Planner {
 public:
  Planner(const SparseRows& a, const Ownership& ownership, Index rank)
      : a_(a), ownership_(ownership), own_(ownership.block(rank)), rank_(rank) {}

  [[nodiscard]] Index owner(Index agent) const {
    const auto& first = ownership_.first;
    return std::upper_bound(first.begin(), first.end(), own_.place(agent)) - first.begin() - 1;
  }

  // Own rows to whoever has a neighbour of theirs.
  [[nodiscard]] Exchange direct() const {
    Exchange out;
    for (Index k = 0; k < own_.size(); ++k) {
      const Index agent = own_.agent(k);
      for (const Index l : a_.columns_of(agent)) {
        if (own_.holds(l)) continue;
        Rows& rows = out[owner(l)];
        if (rows.here < 0) rows.here = agent, rows.there = l;
        rows.sent.push_back(static_cast<std::int32_t>(agent));
        rows.received.push_back(static_cast<std::int32_t>(l));
      }
    }
    for (auto& [rank, rows] : out) tidy(rows);
    return out;
  }

  // What agents here forward to their neighbours there, and the other way round.
  [[nodiscard]] Exchange forwarded(const Exchange& direct) const {
    Exchange out;
    for (const auto& [rank, first] : direct) {
      Rows& rows = out[rank];
      rows.here = first.here;
      rows.there = first.there;
      rows.sent = forwarded(first.sent, rank);
      rows.received = forwarded(first.received, rank_);
      tidy(rows);
      remove(rows.sent, first.sent);
      remove(rows.received, first.received);
    }
    return out;
  }

  // The agents of this process and those that it hears of.
  [[nodiscard]] Roster roster(const std::vector<Exchange>& phases) const {
    std::vector<std::int32_t> places;
    for (Index p = own_.first; p < own_.last; ++p) places.push_back(static_cast<std::int32_t>(p));
    for (const Exchange& phase : phases) {
      for (const auto& [rank, rows] : phase) {
        for (const Index agent : rows.received) places.push_back(static_cast<std::int32_t>(own_.place(agent)));
      }
    }
    std::ranges::sort(places);
    places.erase(std::ranges::unique(places).begin(), places.end());
    return {std::move(places), own_};
  }

 private:
  // The rows that these agents forward to their neighbours in another process, those left out that it owns.
  [[nodiscard]] Agents forwarded(const Agents& from, Index to) const {
    Agents out;
    std::vector<bool> listed(static_cast<std::size_t>(a_.rows()));
    for (const Index l : from) {
      for (const std::int32_t k : a_.columns_of(l)) {
        if (k == l || owner(k) == to || listed[static_cast<std::size_t>(k)]) continue;
        listed[static_cast<std::size_t>(k)] = true;
        out.push_back(k);
      }
    }
    return out;
  }
  void tidy(Agents& agents) const {
    std::ranges::sort(agents, {}, [&](Index agent) { return own_.place(agent); });
    agents.erase(std::ranges::unique(agents).begin(), agents.end());
  }
  void tidy(Rows& rows) const {
    tidy(rows.sent);
    tidy(rows.received);
  }
  void remove(Agents& from, const Agents& those) const {
    Agents left;
    std::ranges::set_difference(
        from, those, std::back_inserter(left), {}, [&](Index agent) { return own_.place(agent); },
        [&](Index agent) { return own_.place(agent); });
    from = std::move(left);
  }

  const SparseRows& a_;
  const Ownership& ownership_;
  Block own_;
  Index rank_;
};

}  // namespace

ExchangePlan plan_exchange(const SparseRows& a, const Ownership& ownership, Index rank, int hops) {
  const Planner planner(a, ownership, rank);
  std::vector<Exchange> phases = {planner.direct()};
  if (hops == 2) phases.push_back(planner.forwarded(phases[0]));
  ExchangePlan plan{planner.roster(phases), {}};
  const auto slots = [&](const Agents& agents) {
    Agents out;
    for (const Index agent : agents) out.push_back(static_cast<std::int32_t>(plan.roster.slot(agent)));
    return out;
  };
  for (const Exchange& phase : phases) {
    auto& list = plan.phases.emplace_back();
    for (const auto& [peer, rows] : phase) {
      const bool owns = std::ranges::all_of(rows.received, [&](Index k) { return planner.owner(k) == peer; });
      list.push_back({static_cast<int>(peer), slots(rows.sent), slots(rows.received), rows.here, rows.there, owns});
    }
  }
  return plan;
}

}  // namespace polyhop::mpi

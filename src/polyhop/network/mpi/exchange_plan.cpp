// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/mpi/exchange_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace polyhop::mpi {
namespace {

// Agents, each once and in order of their places.
using Agents = std::vector<std::int32_t>;

// The rows between two processes, by agent.
struct PeerRows {
  Agents sent;
  Agents received;
  Index here = -1;
  Index there = -1;
};
using ByPeer = std::map<Index, PeerRows>;

class Planner {
 public:
  Planner(const SparseRows& a, const Ownership& ownership, Index rank)
      : a_(a), ownership_(ownership), own_(ownership.block(rank)), rank_(rank) {}

  [[nodiscard]] Index owner(Index agent) const { return ownership_.owner(agent); }

  // Own rows, to every process that has a neighbour of theirs.
  [[nodiscard]] ByPeer direct() const {
    ByPeer out;
    for (Index k = 0; k < own_.size(); ++k) {
      const Index agent = own_.agent(k);
      for (const Index l : a_.columns_of(agent)) {
        if (own_.holds(l)) continue;
        PeerRows& rows = out[owner(l)];
        if (rows.here < 0) rows.here = agent, rows.there = l;
        rows.sent.push_back(static_cast<std::int32_t>(agent));
        rows.received.push_back(static_cast<std::int32_t>(l));
      }
    }
    for (auto& [rank, rows] : out) tidy(rows);
    return out;
  }

  // What agents here forward to their neighbours there, and the other way round: rows that the sender owns.
  [[nodiscard]] ByPeer forwarded_own(const ByPeer& direct) const {
    return forwarded(direct, [](Index owner, Index sender) { return owner == sender; });
  }
  // The same for rows that third processes own.
  [[nodiscard]] ByPeer forwarded_others(const ByPeer& direct) const {
    return forwarded(direct, [](Index owner, Index sender) { return owner != sender; });
  }

  // The agents of this process, then those it hears of, in the order in which they arrive.
  [[nodiscard]] Roster roster(const std::vector<ByPeer>& exchanges) const {
    std::vector<std::int32_t> places;
    std::vector<bool> listed(a_.rows());
    const auto list = [&](Index place) {
      if (listed[place]) return;
      listed[place] = true;
      places.push_back(static_cast<std::int32_t>(place));
    };
    for (Index p = own_.first; p < own_.last; ++p) list(p);
    for (const auto& [peer, first] : exchanges[0]) {
      for (const ByPeer& exchange : exchanges) {
        for (const Index agent : exchange.at(peer).received) {
          if (owner(agent) == peer) list(own_.place(agent));
        }
      }
    }
    for (const auto& [peer, last] : exchanges.back()) {
      for (const Index agent : last.received) list(own_.place(agent));
    }
    return {std::move(places), own_};
  }

 private:
  template <class Wants>
  [[nodiscard]] ByPeer forwarded(const ByPeer& direct, Wants wants) const {
    ByPeer out;
    const std::vector<bool> near_here = neighbours_of(rank_);
    for (const auto& [rank, first] : direct) {
      PeerRows& rows = out[rank];
      rows.here = first.here;
      rows.there = first.there;
      rows.sent = forwarded(first.sent, rank);
      rows.received = forwarded(first.received, rank_);
      const auto keep = [&](Agents& agents, Index sender, const std::vector<bool>& near) {
        std::erase_if(agents, [&](Index k) { return !wants(owner(k), sender) || bringer(k, near) != sender; });
      };
      keep(rows.sent, rank_, neighbours_of(rank));
      keep(rows.received, rank, near_here);
      tidy(rows);
      remove(rows.sent, first.sent);
      remove(rows.received, first.received);
    }
    return out;
  }
  // The rows that these agents forward to their neighbours in another process, except those that it owns.
  [[nodiscard]] Agents forwarded(const Agents& from, Index to) const {
    Agents out;
    std::vector<bool> listed(a_.rows());
    for (const Index l : from) {
      for (const std::int32_t k : a_.columns_of(l)) {
        if (k == l || owner(k) == to || listed[k]) continue;
        listed[k] = true;
        out.push_back(k);
      }
    }
    return out;
  }
  // Marks the agents that have a neighbour in a process.
  [[nodiscard]] std::vector<bool> neighbours_of(Index rank) const {
    std::vector<bool> out(a_.rows());
    const Block block = ownership_.block(rank);
    for (Index k = 0; k < block.size(); ++k) {
      for (const Index l : a_.columns_of(block.agent(k))) out[l] = true;
    }
    return out;
  }
  // The process that brings an agent's row to the process whose neighbours are `near`: the agent's owner if it owns any
  // agent on the way, the agent itself included; else the owner of the agent with the smallest number.
  [[nodiscard]] Index bringer(Index agent, const std::vector<bool>& near) const {
    Index first = -1;
    for (const Index m : a_.columns_of(agent)) {
      if (!near[m]) continue;
      if (owner(m) == owner(agent)) return owner(agent);
      if (first < 0) first = owner(m);
    }
    return first;
  }
  void tidy(Agents& agents) const {
    std::ranges::sort(agents, {}, [&](Index agent) { return own_.place(agent); });
    agents.erase(std::unique(agents.begin(), agents.end()), agents.end());
  }
  void tidy(PeerRows& rows) const {
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
  std::vector<ByPeer> exchanges = {planner.direct()};
  if (hops == 2) {
    exchanges.push_back(planner.forwarded_own(exchanges[0]));
    exchanges.push_back(planner.forwarded_others(exchanges[0]));
  }
  ExchangePlan plan{planner.roster(exchanges), {}};
  const auto add = [&](std::vector<std::int32_t>& slots, const Agents& agents) {
    for (const Index agent : agents) slots.push_back(static_cast<std::int32_t>(plan.roster.slot(agent)));
  };
  // The rows of one exchange, or of several in one message.
  const auto listed = [&](std::initializer_list<std::size_t> numbers) {
    std::vector<Correspondence> out;
    for (const auto& [peer, first] : exchanges[0]) {
      Correspondence& with = out.emplace_back();
      with.rank = static_cast<int>(peer);
      with.here = first.here;
      with.there = first.there;
      for (const std::size_t n : numbers) {
        const PeerRows& rows = exchanges[n].at(peer);
        add(with.sent, rows.sent);
        add(with.received, rows.received);
      }
    }
    return out;
  };
  plan.one_hop = listed({0});
  if (hops == 2) plan.two_hops = {listed({0, 1}), listed({2})};
  return plan;
}

std::vector<Correspondence> plan_level(const SpanningTree& tree, const Ownership& ownership, Index rank,
                                       const Roster& roster, Index level) {
  const Block own = ownership.block(rank);
  std::map<Index, Correspondence> peers;
  const auto add = [](std::vector<std::int32_t>& slots, Index slot) {
    // Several agents here may be below the same agent there, whose row comes once.
    const auto at = static_cast<std::int32_t>(slot);
    if (std::ranges::find(slots, at) == slots.end()) slots.push_back(at);
  };
  for (Index agent = 0; agent < std::ssize(tree.depth); ++agent) {
    if (tree.depth[agent] != std::abs(level)) continue;
    const Index above = tree.above[agent];
    if (own.holds(agent) == own.holds(above)) continue;
    const Index other = ownership.owner(own.holds(agent) ? above : agent);
    Correspondence& peer = peers[other];
    const Index sender = level > 0 ? agent : above;
    add(own.holds(sender) ? peer.sent : peer.received, roster.slot(sender));
  }
  std::vector<Correspondence> out;
  for (auto& [other, peer] : peers) {
    peer.rank = static_cast<int>(other);
    out.push_back(std::move(peer));
  }
  return out;
}

}  // namespace polyhop::mpi

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/faults.hpp"

#include <algorithm>
#include <span>

#include "polyhop/core/random.hpp"

namespace polyhop {
namespace {

// Loses each message independently, with the same probability.
class LossyDoor final : public Door {
 public:
  LossyDoor(const FaultOptions& options, std::uint64_t seed, const Network& network)
      : drop_(options.drop), seed_(seed), a_(network.matrix().rows()), block_(network.block()) {
    for (const Account account : options.exchange) is_lossy_[static_cast<std::size_t>(account)] = true;
  }

  Delivery open(const Exchange& exchange, const Delivery& sent) override {
    if (!loses(exchange.account)) return sent;
    ++exchanges_;
    Redirected& out = redirected_[exchange.hops - 1][exchange.numbers ? 1 : 0];
    const Index begin = sent.links.offset[0];  // entries may be counted from the start of the whole matrix
    out.offset.resize(block_.size() + 1);
    out.slot.resize(sent.links.offset[block_.size()] - begin);
    for (Index k = 0; k < block_.size(); ++k) {
      note_arrivals(block_.agent(k), exchange.hops);
      const Index first = sent.links.offset[k];
      const Index last = sent.links.offset[k + 1];
      const auto* own = std::find(sent.sender + first, sent.sender + last, block_.agent(k));
      const std::int32_t own_slot = sent.links.slot[own - sent.sender];
      for (Index e = first; e < last; ++e) {
        out.slot[e - begin] = arrived_[sent.sender[e]] == stamp_ ? sent.links.slot[e] : own_slot;
      }
      out.offset[k + 1] = last - begin;
    }
    return {{out.offset.data(), out.slot.data(), sent.links.weight + begin}, sent.sender + begin, sent.mail};
  }

  [[nodiscard]] bool needs_every_path(Account account) const override { return loses(account); }

  Traffic send_again(Account account, const Edges& edges) override {
    if (!loses(account)) return {};
    ++exchanges_;
    Traffic again;
    edges([&](Index from, Index to) {
      Stream fate = fate_of(from, to, 1);
      Index tries = 0;
      while (fate.uniform() < drop_) ++tries;
      again.rounds = std::max(again.rounds, tries);
      if (block_.holds(to)) again.vectors += tries;
    });
    return again;
  }

  void register_state(StateRegistry& state) override { state.number("faults.exchanges", exchanges_); }

 private:
  [[nodiscard]] bool loses(Account account) const { return is_lossy_[static_cast<std::size_t>(account)]; }

  // Random numbers for one message: along an edge, in one of the two rounds of this exchange.
  [[nodiscard]] Stream fate_of(Index from, Index to, int round) const {
    return {seed_, Purpose::faults, from * a_.rows() + to, 2 * exchanges_ + round - 1};
  }
  [[nodiscard]] bool is_lost(Index from, Index to, int round) const {
    return fate_of(from, to, round).uniform() < drop_;
  }

  // Marks everybody whose row reaches the agent, including itself.
  void note_arrivals(Index agent, int hops) {
    arrived_.resize(a_.rows(), 0);
    ++stamp_;
    arrived_[agent] = stamp_;
    for (const Index m : a_.columns_of(agent)) {
      if (m != agent && got_first(m, agent)) arrived_[m] = stamp_;
    }
    if (hops == 1) return;
    for (const Index m : a_.columns_of(agent)) {
      if (m == agent || is_lost(m, agent, 2)) continue;
      for (const Index l : a_.columns_of(m)) {
        if (l != m && l != agent && got_first(l, m)) arrived_[l] = stamp_;
      }
    }
  }

  // Whether `to` got what `from` sent in the first round: drawn once for all agents that `to` forwards it to.
  [[nodiscard]] bool got_first(Index from, Index to) {
    if (known_.empty()) {
      known_.assign(a_.rows(), -1);
      first_.resize(a_.entries());
    }
    if (known_[to] != exchanges_) {
      known_[to] = exchanges_;
      for (Index e = a_.offset[to]; e < a_.offset[to + 1]; ++e) first_[e] = is_lost(a_.column[e], to, 1) ? 0 : 1;
    }
    const auto row = a_.columns_of(to);
    return first_[a_.offset[to] + (std::ranges::lower_bound(row, from) - row.begin())] != 0;
  }

  double drop_;
  std::uint64_t seed_;
  const SparseRows& a_;
  Block block_;
  std::array<bool, 2> is_lossy_{};
  Index exchanges_ = 0;  // those that could lose something

  struct Redirected {
    std::vector<Index> offset;
    std::vector<std::int32_t> slot;
  };
  std::array<std::array<Redirected, 2>, 2> redirected_;  // of the last exchange, by hops and kind
  std::vector<Index> arrived_;                           // by agent: the last mark under which it arrived
  Index stamp_ = 0;
  std::vector<Index> known_;  // by receiver: the exchange whose first round is in first_
  std::vector<char> first_;   // by edge: whether it arrived
};

}  // namespace

const FieldTable<FaultOptions>& FaultOptions::fields() {
  using O = FaultOptions;
  static const auto table =
      FieldTable<O>()
          .add("drop", &O::drop, "probability that a message between two agents is lost",
               {Constraint<double>{"in [0, 1)", [](double x) { return x >= 0 && x < 1; }}})
          .add("exchange", &O::exchange,
               "which messages may be lost: the algorithm's, those that choose the steps, or both");
  return table;
}

void add_faults(const FaultOptions& options, std::uint64_t seed, Network& network) {
  if (options.any()) network.set_door(std::make_unique<LossyDoor>(options, seed, network));
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "polyhop/core/reach.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/network/traffic.hpp"

namespace polyhop {

/// Rows by agent, in the roster's order: up to two vectors and any number of scalars per agent.
struct Mail {
  std::array<Rows, 2> vectors;
  Rows scalars;
};

/// What a message is for: the algorithm's models, or the choice of step sizes.
enum class Account { models, steps };

/// One exchange: every agent sends the same kind of message to each neighbour, and over two hops the neighbours forward
/// it (see `Network::reach`). All workers make the same exchanges in the same order.
struct Exchange {
  Account account = Account::models;
  int hops = 1;
  bool numbers = false;  // only numbers, no vectors
};

/// What reached the agents of a block in one exchange. Entry e of the block's k-th agent (links.offset[k] <= e <
/// links.offset[k+1]) came from `sender[e]`: row links.slot[e] of the mail, with weight links.weight[e]. Entries are in
/// order of the senders' numbers, and include the agent itself. Weights may be arbitrary.
struct Delivery {
  SparseView links;
  const std::int32_t* sender = nullptr;
  const Mail* mail = nullptr;
};

/// Everything from other agents comes through a door. A runtime delivers all that was sent; your own door
/// (`Network::set_door`) may lose, delay, repeat or disturb single messages. Each worker asks the door about the agents
/// of its own block. For results to be the same on any workers, what happens to a message must follow from the seed,
/// the edge and the number of the exchange.
class Door {
 public:
  virtual ~Door() = default;

  /// The part of `sent` that reaches the block's agents. The arrays and rows it points to may be the door's own; they
  /// stay valid until the next exchange with the same hops and of the same kind (vectors or numbers).
  virtual Delivery open(const Exchange& exchange, const Delivery& sent) = 0;

  /// Whether, over two hops, every neighbour forwards all that it got, so that a row lost on one path may arrive on
  /// another. Each row then counts once for every path. Otherwise it is forwarded once.
  [[nodiscard]] virtual bool needs_every_path(Account /*account*/) const { return true; }

  /// The cost of resending in an exchange where everything must arrive: sums over the tree, agreements. `edges` names
  /// all edges of the network that carry a message, sender first. Returns the rounds beyond the first, and in `vectors`
  /// the messages beyond the first to agents of the block.
  using Edges = std::function<void(const std::function<void(Index from, Index to)>& use)>;
  virtual Traffic send_again(Account account, const Edges& edges) = 0;

  /// Registers what must survive from one iteration to the next.
  virtual void register_state(StateRegistry& state) = 0;
};

}  // namespace polyhop

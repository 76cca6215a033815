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

/// Rows by agent, as the roster says: up to two vectors and any count of numbers per agent.
struct Mail {
  std::array<Rows, 2> vectors;
  Rows scalars;
};

/// What a message is for: the algorithm's models, or the choice of step sizes.
enum class Account { models, steps };

/// One exchange: every agent sends the same kind of message to each neighbour, and over two hops these forward it (see
/// `Network::reach`). All workers make the same exchanges in the same order.
struct Exchange {
  Account account = Account::models;
  int hops = 1;
  bool numbers = false;  // only numbers, no vectors
};

/// What reached the agents of a block in one exchange. Entry e of the block's k-th agent (links.offset[k] <= e <
/// links.offset[k+1]) is what it got of `sender[e]`: the row links.slot[e] of the mail, with weight links.weight[e].
/// Entries stand in order of the senders' numbers, the agent itself among them. Nothing is assumed of the weights.
struct Delivery {
  SparseView links;
  const std::int32_t* sender = nullptr;
  const Mail* mail = nullptr;
};

/// The door through which everything from other agents comes. A runtime delivers all that was sent; your own door
/// (`Network::set_door`) may lose, delay, repeat or disturb single messages. What it does to a message has to follow
/// from its seed, the edge and the number of the exchange, so that bits do not depend on the workers: it is asked on
/// every worker, for the agents of its block.
class Door {
 public:
  virtual ~Door() = default;

  /// What reaches the block's agents of `sent`. The arrays and rows it points to may be the door's own; they stay until
  /// the next exchange of the same hops and kind (vectors or numbers).
  virtual Delivery open(const Exchange& exchange, const Delivery& sent) = 0;

  /// Whether, over two hops, every neighbour forwards all that it got, so that what is lost on one path may come on
  /// another; each row is charged for every path then. Otherwise it is forwarded once.
  [[nodiscard]] virtual bool needs_every_path(Account /*account*/) const { return true; }

  /// What has to be sent again, in an exchange where everything must arrive: sums over the tree, agreements. `edges`
  /// names all edges of the network that carry a message, sender first. Returns the rounds beyond the first, and in
  /// `vectors` the messages beyond the first to agents of the block.
  using Edges = std::function<void(const std::function<void(Index from, Index to)>& use)>;
  virtual Traffic send_again(Account account, const Edges& edges) = 0;

  /// What survives an iteration.
  virtual void register_state(StateRegistry& state) = 0;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/graph/graph.hpp"

/// The links of each topology. Arguments are assumed to be valid (topology.cpp checks them). Links may repeat:
/// Graph::from_edges drops duplicates. The random ones make one draw, connected or not.
namespace polyhop::generate {

using Edges = std::vector<Edge>;

/// k - k+1 around the circle; two agents share one link.
Edges ring(Index agents);
Edges path(Index agents);
/// Agent 0 is the hub.
Edges star(Index agents);
Edges complete(Index agents);
/// Agent r * columns + c is in row r, column c.
Edges grid(Index rows, Index columns);
/// The grid with its borders glued together.
Edges torus(Index rows, Index columns);
/// k - k xor 2^j; `agents` is a power of two.
Edges hypercube(Index agents);
/// k - (k-1)/2, agent 0 is the root.
Edges binary_tree(Index agents);
/// k - k + 2^j modulo agents, for 2^j < agents.
Edges exponential(Index agents);

/// Every pair is linked with the given probability. O(agents + edges): skips from link to link.
Edges erdos_renyi(Index agents, double probability, Stream& random);
/// Agents uniform on the unit square, linked up to a distance of `radius`. O(agents + edges): cells.
Edges random_geometric(Index agents, double radius, Stream& random);
/// A ring of `degree` nearest neighbours (even), each link's far end moved with probability `rewire` to an
/// agent that is not linked yet (Watts and Strogatz 1998).
Edges watts_strogatz(Index agents, Index degree, double rewire, Stream& random);
/// Starts from a star of attach + 1 agents and adds agents with `attach` links each, to distinct agents chosen in
/// proportion to their degree (Barabasi and Albert 1999). Always connected.
Edges barabasi_albert(Index agents, Index attach, Stream& random);
/// Every agent has `degree` neighbours: random pairing of stubs, with repair from degree 4 on (Steger and Wormald
/// 1999). Degree 2 is a random cycle, which is that draw given that it is connected; if `degree` is at least half the
/// number of agents, it is the complement of a sparse draw.
Edges random_regular(Index agents, Index degree, Stream& random);
/// `blocks` contiguous groups of sizes as equal as possible; linked with probability `within` groups, `between` groups.
Edges stochastic_block(Index agents, Index blocks, double within, double between, Stream& random);

}  // namespace polyhop::generate

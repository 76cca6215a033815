// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "polyhop/core/collective.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/network/network.hpp"

namespace polyhop {

/// One of the workers that share a run: the network of its own block, and the collective, for everything that is not
/// part of the algorithm.
struct Worker {
  Worker(Network& of_block, Collective& of_all, Index its_number = 0, Index of_workers = 1)
      : network(of_block), collective(of_all), number(its_number), count(of_workers) {
    network.set_up_with(collective);
  }
  Network& network;
  Collective& collective;
  Index number;
  Index count;
};

using Body = std::function<void(Worker&)>;

/// The network of one block that holds all agents: rows need no delivery.
std::unique_ptr<Network> serial_network(const CombinationMatrix& matrix, VectorType vectors);

/// Runs `body` once, on all agents, in the calling thread. Here and below, `numbering` is the order of agents in
/// blocks, if it is not by number; it must outlive the run.
void launch_serial(const CombinationMatrix& matrix, VectorType vectors, const Body& body,
                   const Numbering* numbering = nullptr);

/// Runs `body` on `workers` threads, each with a contiguous block of agents (at most one worker per agent). The first
/// exception of any worker ends all of them and is rethrown here.
void launch_threads(const CombinationMatrix& matrix, VectorType vectors, Index workers, const Body& body,
                    const Numbering* numbering = nullptr);

/// Serial for one worker, threads for more.
void launch(const CombinationMatrix& matrix, VectorType vectors, Index workers, const Body& body,
            const Numbering* numbering = nullptr);

}  // namespace polyhop

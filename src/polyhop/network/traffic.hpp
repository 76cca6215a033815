// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/index.hpp"

namespace polyhop {

/// What agents send each other, counted as if every agent had its own machine: vectors of M numbers, and single
/// numbers, over all edges and directions. In one round, every agent sends one message to each neighbour.
struct Traffic {
  Index rounds = 0;
  Index vectors = 0;
  Index scalars = 0;

  Traffic& operator+=(const Traffic& other) {
    rounds += other.rounds;
    vectors += other.vectors;
    scalars += other.scalars;
    return *this;
  }
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>

#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/network/runtime.hpp"

namespace polyhop {

/// How much of all agents' data any process holds at once while they pass through the first worker; at least one
/// agent's row.
inline constexpr Index max_bytes_at_once = Index{16} << 20;

/// How many rows of `columns` numbers that is.
constexpr Index rows_at_once(Index columns) {
  const Index bytes = columns * Index{sizeof(double)};
  return bytes < max_bytes_at_once ? max_bytes_at_once / (bytes > 0 ? bytes : 1) : 1;
}

// All workers make these calls together. Rows are in order of the agents' numbers, whatever the blocks: what some
// workers have sent, others can receive.

/// Passes everything registered to the first worker's `sink`, part by part; the others' sinks are not called.
void send_state(Worker& worker, const StateRegistry& state, const StateSink& sink);

/// The same for the rows of all agents; `rows` are the block's own.
void send_rows(Worker& worker, const std::string& name, const Rows& rows, const StateSink& sink);

/// The way back: deals what the first worker's `stream` provides, in parts of any size. Throws Error if its shape
/// differs from what is registered.
void receive_state(Worker& worker, StateRegistry& state, const StateStream& stream);

}  // namespace polyhop

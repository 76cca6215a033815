// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/core/real.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// A saved state of all agents: what a checkpoint holds. It knows nothing of blocks, so that a run may be
/// taken up by another number of workers.
struct Snapshot {
  struct Entry {
    std::string name;
    Index rows = 0;  // K for what belongs to agents, 1 for a number that all share
    Index columns = 0;
    std::vector<Real> data;  // rows x columns, without padding
  };
  std::vector<Entry> entries;
};

/// Everything that survives an iteration, registered by name by whoever owns it: algorithm, rule, oracle,
/// averaging. Checkpoints, other worker counts and inspection all read this one list.
class StateRegistry {
 public:
  /// Per-agent rows of the block.
  void rows(const std::string& name, Rows& rows);
  /// Per-agent numbers of the block.
  void scalars(const std::string& name, std::vector<Real>& scalars);
  /// A number that every worker holds alike.
  void number(const std::string& name, Real& number);
  void number(const std::string& name, Index& number);

  /// An empty snapshot of the right shape for `agents` agents.
  [[nodiscard]] Snapshot shape(Index agents) const;
  /// Writes the block's part; workers may do so side by side.
  void save(const Block& block, Snapshot& snapshot) const;
  /// Reads the block's part back; throws Error when the snapshot is of another shape.
  void restore(const Block& block, const Snapshot& snapshot);

 private:
  enum class Kind { rows, scalars, real, index };
  struct Item {
    std::string name;
    Kind kind;
    void* place;
    Index columns;
  };
  void insert(const std::string& name, Kind kind, void* place, Index columns);
  std::vector<Item> items_;
};

}  // namespace polyhop

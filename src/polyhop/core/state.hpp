// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// The state of all agents in memory: for inspection, and for runs in a single process. It is independent of blocks, so
/// a run may be resumed by a different number of workers. Rows are in order of the agents' numbers.
struct Snapshot {
  struct Entry {
    std::string name;
    Index rows = 0;  // K for per-agent data, the number of rows for shared data, 1 for a number
    Index columns = 0;
    std::vector<double> data;  // rows x columns, without padding
    bool shared = false;       // the same for all agents
  };
  std::vector<Entry> entries;
};

/// Some rows of one entry of a state on their way to a file or back: those of the agents first .. first + rows, by
/// number, without padding; or shared rows, with a number as one row.
struct StatePart {
  std::string name;
  Index first = 0;
  Index rows = 0;
  Index columns = 0;
  std::span<const double> data;
};
using StateSink = std::function<void(const StatePart& part)>;
/// Passes all parts of a state to a sink: entry by entry, with the agents in order.
using StateStream = std::function<void(const StateSink& sink)>;

/// Everything that must survive from one iteration to the next, registered by name by its owner: algorithm, rule,
/// oracle, averaging. Checkpoints, other worker counts and inspection all use this one list.
class StateRegistry {
 public:
  /// Per-agent rows of the block. If blocks have rows of different lengths, they are saved at the greatest length,
  /// padded with zeros.
  void rows(const std::string& name, Rows& rows);
  /// Per-agent numbers of the block.
  void scalars(const std::string& name, std::vector<double>& scalars);
  /// A number that is the same in every worker.
  void number(const std::string& name, double& number);
  void number(const std::string& name, Index& number);
  /// Rows that are the same in every worker; they are saved once.
  void shared(const std::string& name, Rows& rows);

  /// What is registered, in order.
  struct Entry {
    std::string name;
    bool per_agent = false;  // otherwise a number or shared rows
    Index columns = 0;
    Index rows = 1;  // of shared rows
  };
  [[nodiscard]] std::vector<Entry> entries() const;
  /// Copies the n-th entry of the block's k-th agent (or the k-th shared row): `columns` numbers or, if another block
  /// has longer rows, more.
  void copy_out(std::size_t n, Index k, std::span<double> out) const;
  void copy_in(std::size_t n, Index k, std::span<const double> in);

  /// An empty snapshot of the right shape for `agents` agents.
  [[nodiscard]] Snapshot shape(Index agents) const;
  /// Writes the block's part; workers may do so concurrently.
  void save(const Block& block, Snapshot& snapshot) const;
  /// Reads the block's part back; throws Error if the snapshot has a different shape.
  void restore(const Block& block, const Snapshot& snapshot);

 private:
  enum class Kind { rows, scalars, real, index, shared };
  struct Item {
    std::string name;
    Kind kind;
    void* place;
    Index columns;
    Index count = 1;  // of the shared rows
    [[nodiscard]] bool per_agent() const { return kind == Kind::rows || kind == Kind::scalars; }
  };
  void insert(const std::string& name, Kind kind, void* place, Index columns, Index count = 1);
  std::vector<Item> items_;
};

/// Matches the parts of a saved state with the entries of this run, which has this many agents. Throws Error if they do
/// not match.
class StateMatching {
 public:
  StateMatching(std::vector<StateRegistry::Entry> entries, Index agents)
      : entries_(std::move(entries)), agents_(agents) {}
  /// The number of the entry that the part belongs to.
  std::size_t find(const StatePart& part);
  /// Call this after the last part.
  void end() const;

 private:
  void begin(const StatePart& part);
  void check_last() const;
  [[nodiscard]] Index rows_of(const StateRegistry::Entry& entry) const {
    return entry.per_agent ? agents_ : entry.rows;
  }

  std::vector<StateRegistry::Entry> entries_;
  Index agents_;
  std::size_t count_ = 0;  // entries begun
  Index rows_ = 0;         // seen of the last entry
};

}  // namespace polyhop

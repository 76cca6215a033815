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

/// A state of all agents in memory: for inspection, and for runs that one process does alone. It knows nothing of
/// blocks, so that a run may be taken up by another number of workers. Rows stand by the agents' numbers.
struct Snapshot {
  struct Entry {
    std::string name;
    Index rows = 0;  // K for what belongs to agents, as many as there are of what all share; of a number 1
    Index columns = 0;
    std::vector<double> data;  // rows x columns, without padding
    bool shared = false;       // the same for all agents
  };
  std::vector<Entry> entries;
};

/// Some rows of one entry of a state on their way to a file or back: those of the agents first .. first + rows, by
/// number, without padding; or rows that all share, a number as one row.
struct StatePart {
  std::string name;
  Index first = 0;
  Index rows = 0;
  Index columns = 0;
  std::span<const double> data;
};
using StateSink = std::function<void(const StatePart& part)>;
/// Gives all parts of a state to a sink: entry after entry, in each of them the agents in order.
using StateStream = std::function<void(const StateSink& sink)>;

/// Everything that survives an iteration, registered by name by its owner: algorithm, rule, oracle,
/// averaging. Checkpoints, other worker counts and inspection all read this one list.
class StateRegistry {
 public:
  /// Per-agent rows of the block. Where blocks have rows of different lengths, the longest are what is saved, the
  /// others filled up with zeros.
  void rows(const std::string& name, Rows& rows);
  /// Per-agent numbers of the block.
  void scalars(const std::string& name, std::vector<double>& scalars);
  /// A number that every worker holds alike.
  void number(const std::string& name, double& number);
  void number(const std::string& name, Index& number);
  /// Rows that every worker holds alike; they are saved once.
  void shared(const std::string& name, Rows& rows);

  /// What is registered, in order.
  struct Entry {
    std::string name;
    bool per_agent = false;  // else a number or rows that all share
    Index columns = 0;
    Index rows = 1;  // of what all share
  };
  [[nodiscard]] std::vector<Entry> entries() const;
  /// Copies what the block's k-th agent has in the n-th entry (the k-th row of what all share), `columns` numbers or,
  /// where another block has longer rows, more.
  void copy_out(std::size_t n, Index k, std::span<double> out) const;
  void copy_in(std::size_t n, Index k, std::span<const double> in);

  /// An empty snapshot of the right shape for `agents` agents.
  [[nodiscard]] Snapshot shape(Index agents) const;
  /// Writes the block's part; workers may do so side by side.
  void save(const Block& block, Snapshot& snapshot) const;
  /// Reads the block's part back; throws Error when the snapshot is of another shape.
  void restore(const Block& block, const Snapshot& snapshot);

 private:
  enum class Kind { rows, scalars, real, index, shared };
  struct Item {
    std::string name;
    Kind kind;
    void* place;
    Index columns;
    Index count = 1;  // of the rows that all share
    [[nodiscard]] bool per_agent() const { return kind == Kind::rows || kind == Kind::scalars; }
  };
  void insert(const std::string& name, Kind kind, void* place, Index columns, Index count = 1);
  std::vector<Item> items_;
};

/// Finds the parts of a saved state among the entries of this run, which has this many agents. Throws Error if they do
/// not match.
class StateMatching {
 public:
  StateMatching(std::vector<StateRegistry::Entry> entries, Index agents)
      : entries_(std::move(entries)), agents_(agents) {}
  /// The number of the entry that the part belongs to.
  std::size_t find(const StatePart& part);
  /// To be called after the last part.
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
  Index rows_ = 0;         // seen of the last of them
};

}  // namespace polyhop

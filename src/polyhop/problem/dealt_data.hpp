// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyhop/problem/agent_files.hpp"
#include "polyhop/problem/column_choice.hpp"
#include "polyhop/problem/data_table.hpp"
#include "polyhop/problem/dataset.hpp"
#include "polyhop/problem/loss_table.hpp"
#include "polyhop/problem/partition.hpp"

namespace polyhop {

/// Samples dealt to agents, and what their numbers mean.
struct DealtData {
  Dataset data;                             // of the requested agents, in order of their positions
  Index samples = 0;                        // of all agents
  std::vector<std::string> features;        // names, or empty
  std::string target;                       // its column's name, or number from 1, or empty
  std::vector<std::string> classes;         // names in order of their numbers; empty if targets are not classes
  LearnedColumns columns = {};              // the positions of unnamed features in the file, if some were left out
  std::string id = {};                      // the id column's name or number, or empty
  Index skipped = 0;                        // rows of all agents left out because they lack a value
  std::vector<Index> without_samples = {};  // agents whose own files hold none
  LossSpec loss = {};                       // as requested, or as it follows from the target
  std::string why_loss = {};                // what in the target suggests the loss; empty if it was requested
};

/// Where samples come from: a bundled set by name; one file that is dealt to the agents; or, if `file` contains
/// "{agent}", one file per agent, numbered from 0 ("{agent+1}": from 1). Columns with names may stand in a different
/// order than in agent 0's file.
struct DataSource {
  std::string bundled;
  std::string file;
  std::string target;  // the target column's name or number
  ColumnChoice choice = {};
  bool skip_missing = false;  // CSV: leave out rows that lack a value
  /// The samples, if the program already has them; then no file is read.
  std::shared_ptr<const DataTable> table = nullptr;
};

/// Reads and deals. The targets become what the loss takes: -1 and 1 for two classes, 0, 1, ... for softmax, numbers
/// otherwise. If no loss is named, it follows from the target. Throws InputError, also for targets that the loss cannot
/// take.
DealtData read_dealt(const DataSource& source, const LossSpec& loss, const PartitionOptions& partition, Index agents,
                     std::uint64_t seed);

/// The same in steps, for processes that each have some of the agents. No process keeps the features of others' agents,
/// or opens their files. `open` and `read` may fail in one process only, `finish` fails in all of them or in none.
class DealtReader {
 public:
  DealtReader(DataSource source, LossSpec loss, const PartitionOptions& partition, Index agents, std::uint64_t seed);

  /// Whether every agent has its own file.
  [[nodiscard]] bool has_own_files() const { return own_files_.has_value(); }
  /// For one file for all agents: deals the samples by their targets. With `features`, it keeps these too, so that the
  /// file is read once.
  void open(bool features);
  /// How many samples each agent has, after `open`; empty if only the agents know.
  [[nodiscard]] std::vector<Index> samples() const;
  /// The samples of the block's agents.
  void read(const Block& block);
  /// A summary of what this process read, which the others need.
  [[nodiscard]] std::string summary() const;
  /// `summaries`: those of all processes, in order.
  DealtData finish(const std::vector<std::string>& summaries);

 private:
  struct OwnFile;
  [[nodiscard]] DataTable read_one(bool features, std::vector<Index> keep) const;
  void read_own(const Block& block);
  void read_dealt(const Block& block);
  void finish_own(const std::vector<std::string>& summaries);
  void finish_dealt(const std::vector<std::string>& summaries) const;
  void refuse_unlike(const std::vector<OwnFile>& files) const;
  [[noreturn]] void refuse_missing(Index agent) const;
  void join(Index columns, const std::vector<std::string>& labels);
  void decide_loss(const std::vector<std::string>& labels, const std::vector<double>& values, Index samples);
  [[nodiscard]] std::size_t max_values() const;
  void take_classes(const std::vector<std::string>& labels, const std::vector<double>& values);
  void number_classes(std::span<double> targets) const;
  void to_loss(std::span<double> targets) const;

  DataSource source_;
  LossSpec loss_;             // without a name until it is decided
  PartitionOptions options_;  // of the partition
  Index agents_;
  std::uint64_t seed_;
  std::optional<AgentFiles> own_files_;
  DataTable table_;  // one file for all: the targets, and the features if requested
  bool has_features_ = false;
  Partition partition_;
  std::vector<DataTable> tables_;  // agents' own files: those of the block's agents
  std::vector<Index> owners_;      // the agents they belong to
  std::vector<double> values_;     // for classes without names: the targets that stand for them, ascending
  DealtData out_;
};

/// Divides every row by its norm; rows of zeros stay.
void scale_to_unit_rows(Dataset& data);

/// Adds a last column of ones.
void add_intercept(Dataset& data);

}  // namespace polyhop

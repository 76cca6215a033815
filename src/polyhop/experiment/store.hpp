// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/state.hpp"
#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// The state of a run before iteration `iteration`. With the agents' state it is everything needed to resume, with
/// results bit-identical to those of an uninterrupted run.
struct Checkpoint {
  Index iteration = 0;
  double seconds = 0;
  double first_risk = 0;  // what divergence is judged against
  Point totals;           // the counts so far: rounds, vectors, ...
};

/// One cell of an experiment: which run it is, and the settings that determine its numbers.
struct CellKey {
  std::string method;
  std::uint64_t seed = 0;
  std::string settings;  // resolved, in a fixed order; without the method's name
  /// A hash of the settings: equal for equal runs, whatever their file and name.
  [[nodiscard]] std::string id() const;
};

/// The results of an experiment, in one SQLite file, DIR/experiment.sqlite; everything else is generated from it.
/// Points, checkpoints and endings are committed together, so a run that was killed at any moment resumes with
/// bit-identical results. Calls may come from several threads. Failures throw Error with the file and the reason.
///
/// Columns are found by name. A column that an older store lacks reads as NaN, or 0 for a count, and is added when the
/// store is opened for writing; an unknown column is left alone. A newer format is rejected.
class Store {
 public:
  enum class Mode {
    write,  // created if missing; for one run at a time
    read    // must exist; nothing is changed
  };
  Store(const std::string& folder, Mode mode);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  static std::string file_in(const std::string& folder);

  /// Sets the experiment's name, settings, provenance, tunings, cells in order, and the network to draw. Cells that the
  /// file no longer names stay in the store, in case it names them again.
  void set_experiment(const Record& head, const std::vector<CellKey>& cells);
  /// Forgets all cells, tunings and points.
  void clear();

  /// The name of the experiment; "" in a store where none was set yet.
  [[nodiscard]] std::string name() const;
  /// How a cell ended; `unfinished` while it runs; empty if it was never started.
  [[nodiscard]] std::optional<Status> status(const std::string& id) const;
  /// The state of an unfinished or failed cell, if it reached a checkpoint; its points up to there are in the store.
  [[nodiscard]] std::optional<Checkpoint> checkpoint(const std::string& id) const;
  /// Passes the saved state to `sink`, part by part, as it was written; only one part is in memory at a time.
  void read_state(const std::string& id, const StateSink& sink) const;
  /// The cell as far as it is known.
  [[nodiscard]] Cell load_cell(const std::string& id, const std::string& method, std::uint64_t seed,
                               bool with_models) const;

  /// Forgets a cell's results, so that it starts over.
  void restart(const std::string& id);
  /// Commits the points from number `first_new` on, the checkpoint and all parts of its state in one transaction. If
  /// that fails, the last commit is still there.
  void save(const std::string& id, const Cell& cell, std::size_t first_new, const Checkpoint& checkpoint,
            const StateStream& state);
  /// Commits the last points, how the cell ended, and the parts of its "models" and "averaged" ones (ignoring those in
  /// `cell`); deletes its checkpoint.
  void finish(const std::string& id, const Cell& cell, std::size_t first_new, const StateStream& models);
  /// Stores the message of a cell that failed; it is tried again next time.
  void fail(const std::string& id, const std::string& message);

  /// The result of a search, by the hash of its settings.
  [[nodiscard]] std::optional<Tuning> tuning(const std::string& id) const;
  /// Also deletes its trials.
  void save_tuning(const std::string& id, const Tuning& tuning);
  /// The trials of an unfinished search, in order, as the numbers in which they were saved.
  [[nodiscard]] std::vector<std::vector<double>> trials(const std::string& search) const;
  void save_trial(const std::string& search, Index number, std::span<const double> numbers);

  /// The experiment as last set: every cell as far as it is known. Models only on request: they may be large.
  [[nodiscard]] Record load(bool with_models) const;
  /// The size in bytes of all models that it holds.
  [[nodiscard]] Index model_bytes() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace polyhop

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

/// Where a run stands before iteration `iteration`. With the agents' state it is everything needed to resume, with
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
  std::string settings;  // resolved, in a fixed order; the method's name is not among them
  /// A hash of the settings: equal for equal runs, whatever their file and name.
  [[nodiscard]] std::string id() const;
};

/// The results of an experiment, in one SQLite file, DIR/experiment.sqlite; everything else is generated from it.
/// Points, checkpoints and endings are committed together, so that after a kill at any instant the run resumes, with
/// bit-identical results. Calls may come from several threads. Failures throw Error with the file and the reason.
///
/// Columns are found by their names. One that an older store lacks reads as NaN, or 0 for a count, and is added when
/// the store is opened for writing; one that this version does not know is left alone. A newer format is refused.
class Store {
 public:
  enum class Mode {
    write,  // made if missing; for one run at a time
    read    // must be there; nothing is changed
  };
  Store(const std::string& folder, Mode mode);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  static std::string file_in(const std::string& folder);

  /// Sets what the experiment consists of now: name, settings, provenance, tunings, its cells in order, the network to
  /// draw. Cells that no file names any
  /// more stay in the store, and are there when the file names them again.
  void set_experiment(const Record& head, const std::vector<CellKey>& cells);
  /// Forgets all cells, tunings and points.
  void clear();

  /// What the experiment is called; "" in a store that none was set in yet.
  [[nodiscard]] std::string name() const;
  /// How a cell ended; `unfinished` while it runs; nothing if it was never started.
  [[nodiscard]] std::optional<Status> status(const std::string& id) const;
  /// Where an unfinished or failed cell stands, if it got as far as a checkpoint; its points up to there are in the
  /// store.
  [[nodiscard]] std::optional<Checkpoint> checkpoint(const std::string& id) const;
  /// Passes the saved state to `sink`, part by part, as it was written; only one part is in memory at a time.
  void read_state(const std::string& id, const StateSink& sink) const;
  /// The cell as far as it is known.
  [[nodiscard]] Cell load_cell(const std::string& id, const std::string& method, std::uint64_t seed,
                               bool with_models) const;

  /// Forgets what a cell has so far: it starts over.
  void restart(const std::string& id);
  /// Commits the points from number `first_new` on, the checkpoint and all parts of its state in one transaction. Any
  /// failure on the way leaves what was committed before.
  void save(const std::string& id, const Cell& cell, std::size_t first_new, const Checkpoint& checkpoint,
            const StateStream& state);
  /// Commits the last points, how the cell ended, and the parts of its "models" and "averaged" ones (those in `cell`
  /// are not looked at); its checkpoint goes.
  void finish(const std::string& id, const Cell& cell, std::size_t first_new, const StateStream& models);
  /// Keeps the message of a cell that failed; it is tried again next time.
  void fail(const std::string& id, const std::string& message);

  /// What a search found, by the hash of its settings.
  [[nodiscard]] std::optional<Tuning> tuning(const std::string& id) const;
  /// Also forgets its trials.
  void save_tuning(const std::string& id, const Tuning& tuning);
  /// The trials of a search that has not ended, in order, as the numbers in which they were saved.
  [[nodiscard]] std::vector<std::vector<double>> trials(const std::string& search) const;
  void save_trial(const std::string& search, Index number, std::span<const double> numbers);

  /// The experiment as it was last set: every cell as far as it is known. Models only on request: they may be large.
  [[nodiscard]] Record load(bool with_models) const;
  /// How large: the bytes of all models that it holds.
  [[nodiscard]] Index model_bytes() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment_run.hpp"
#include "polyhop/core/atomic_file.hpp"
#include "polyhop/report/scoreboard.hpp"

namespace polyhop::app {

/// The files of a scoreboard: scoreboard.md, .html and .csv, opened at once, and figures/scoreboard-SCORE.svg if
/// gnuplot is installed.
class ScoreboardFiles {
 public:
  explicit ScoreboardFiles(const std::filesystem::path& folder);
  /// `command` regenerates the scoreboard.
  void write(const Scoreboard& board, const std::string& command);

  [[nodiscard]] const std::string& page() const { return page_.path(); }
  [[nodiscard]] const std::string& table() const { return csv_.path(); }
  [[nodiscard]] const std::string& document() const { return markdown_.path(); }

 private:
  bool draw(const Scoreboard& board) const;
  std::filesystem::path folder_;
  OutputFolder made_;
  AtomicFile markdown_;
  AtomicFile page_;
  AtomicFile csv_;
};

/// The folders below `folder` that hold an experiment, in order of their names.
std::vector<std::string> experiments_in(const std::string& folder);

/// The scoreboard of the experiments in these folders, one store in memory at a time.
Scoreboard load_scoreboard(const std::vector<std::string>& folders);

/// Prints the tables and where the files are, or everything as JSON.
void print_scoreboard(const Scoreboard& board, const ScoreboardFiles& files, bool json);

}  // namespace polyhop::app

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/experiment/record.hpp"

namespace polyhop::app {

/// A line on standard error that is redrawn in place on a terminal; elsewhere, separate lines.
class StatusLine {
 public:
  StatusLine();
  [[nodiscard]] bool in_place() const { return width_ > 0; }
  /// Shows as many of the pieces, from the first on, as fit into the line. Only the first may be cut.
  void show(const std::vector<std::string>& pieces);
  /// Leaves the line and goes to the next, or erases it.
  void leave();
  void clear();

 private:
  Index width_;
  bool drawn_ = false;
};

/// An experiment's progress, on standard error: one line in place on a terminal; elsewhere, a plain line per 10%, and
/// now and then in a search. One of several experiments has a label: its line begins with it and is erased at the end,
/// and nothing is printed elsewhere.
class Progress {
 public:
  Progress(bool quiet, Index iterations, Index total, std::string label = "");
  /// The search for a method's constant has tried so many steps, of at most `budget`.
  void trial(const std::string& method, Index tried, Index budget);
  /// An earlier command has finished so many runs of `total`.
  void found(Index finished, Index total);
  /// A run has recorded a point.
  void point(const Cell& cell);
  /// A run has ended; `finished` of `total` have by now.
  void cell(const Cell& cell, Index finished, Index total);
  /// A remark in lines of its own.
  void note(const std::string& text);
  /// Leaves the line in place; that of one of several experiments is erased.
  void end();

 private:
  void begin();
  void show(const Cell& cell, bool ended);
  [[nodiscard]] double share() const;

  bool quiet_;
  StatusLine line_;
  double iterations_;
  std::string label_;
  Index finished_ = 0;
  Index total_ = 0;
  double gained_ = 0;  // runs' worth of iterations since the command was started: what an earlier one did took no time
  double told_ = 0;
  // Of the runs, or of the search before them.
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool has_begun_ = false;  // its first run, since the last search
  std::string searched_;    // the method whose constant is being searched for
  Index first_tried_ = 0;   // by its first line; steps that an earlier run tried take no time
  std::chrono::steady_clock::time_point shown_ = begin_;
  std::map<std::pair<std::string, std::uint64_t>, double> running_;  // the share done of each running cell
};

}  // namespace polyhop::app

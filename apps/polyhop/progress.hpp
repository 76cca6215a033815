// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/clock.hpp"
#include "polyhop/experiment/record.hpp"
#include "polyhop/experiment/tuning.hpp"

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
  using Now = std::function<Clock::time_point()>;
  Progress(bool quiet, Index iterations, Index total, std::string label = "", Now now = Clock::now);
  /// The search for a method's constant has tried so many steps, of at most `budget`.
  void trial(const std::string& method, Index tried, Index budget);
  /// It is within a trial.
  void trial_point(const std::string& method, const TrialPoint& at, Index budget);
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
  void search(const std::string& method);
  void show_search(std::vector<std::string> pieces, double tried, Index budget);
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
  Now now_;
  Clock::time_point begin_ = now_();  // of the runs, or of the search before them
  bool has_begun_ = false;            // its first run, since the last search
  std::string searched_;              // the method whose constant is being searched for
  double first_tried_ = -1;           // when its first trial began: what an earlier command tried took no time
  Clock::time_point shown_ = begin_;
  std::map<std::pair<std::string, std::uint64_t>, double> running_;  // the share done of each running cell
};

}  // namespace polyhop::app

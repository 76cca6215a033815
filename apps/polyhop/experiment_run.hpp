// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/record.hpp"
#include "progress.hpp"

namespace polyhop::app {

/// The arguments of `run`.
struct RunArguments {
  const Registry* registry = nullptr;  // what the files can name
  std::vector<std::string> files;
  std::optional<std::string> output;
  std::vector<KeySetting> settings;  // the seeds among them
  Index threads = 0;
  bool fresh = false;
  bool json = false;
  bool quiet = false;
  ClusterArguments cluster;
};

/// A folder, created with its parents. Those that had to be created are removed if they are still empty at the end.
class OutputFolder {
 public:
  explicit OutputFolder(std::filesystem::path path);
  ~OutputFolder() { remove_empty(); }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  void remove_empty() const;
  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // deepest first
};

/// The outcome of a run.
struct Outcome {
  Record record;  // without cells: it was stopped while it searched for a constant
  std::string page;
  std::string curves;
  std::string models;  // "": too many for one file made in memory
};

/// An experiment's name as a folder name; throws InputError if it cannot be one.
std::filesystem::path folder_name(const std::string& name, const std::string& file);

/// Runs an experiment and writes the store, and everything generated from it, into a folder. Runs that the store
/// already holds are not repeated. All outputs are opened first; if the run cannot start, nothing is left behind. All
/// processes of the team call it; the first one writes, and gets the outcome.
Outcome run_experiment(const Config& config, const std::filesystem::path& place, const RunArguments& arguments,
                       Progress& progress, Team& team);

/// From now on the first SIGINT, SIGTERM or SIGUSR1 asks to stop, and a second one ends the process.
void stop_on_signals();
/// The signal that asked to stop, or 0. The first one ends runs at their next checkpoint.
int stop_signal();

/// Reports the runs that failed and why, each after `prefix`; returns the exit code.
int tell_failures(const Record& record, const std::string& prefix = "");

/// The exit code if the command was interrupted, otherwise `code`.
int ending(int code);

}  // namespace polyhop::app

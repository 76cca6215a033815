// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhop/experiment/config.hpp"

namespace polyhop {

/// The time that a method takes, measured in a few iterations on the first seed; empty if time was up before its turn.
struct MethodForecast {
  std::string method;
  std::optional<double> seconds;  // for one run on one core
  Index measured = 0;             // iterations
  Index trials = 0;               // the most runs that the search for a tuned step can take, before those on the seeds
  double expected_trials = 0;     // how many runs of full length the search is expected to equal
};

/// The time and memory of an experiment on an otherwise idle machine. These are estimates: runs may end early, and a
/// search may be longer or shorter than most.
struct Forecast {
  Index agents = 0;
  Index dimension = 0;
  Index samples = 0;  // per agent, of data that are read; else 0
  Index cells = 0;
  double instance_seconds = 0;  // graph, data and reference of one seed
  double seconds = 0;           // for everything, on `threads` threads
  double bytes = 0;             // of memory
  std::vector<MethodForecast> methods;
};

/// Builds the first seed's instance and every method on it, so that whatever `run` would reject is rejected here with
/// the same message; then measures for about `budget` seconds. Throws InputError.
Forecast forecast(const Config& config, Index threads, double budget = 2);

}  // namespace polyhop

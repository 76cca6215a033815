// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhop/experiment/config.hpp"

namespace polyhop {

/// What a method will take, from a few iterations on the first seed; nothing where time was up before its turn.
struct MethodForecast {
  std::string method;
  std::optional<double> seconds;  // of one run on one core
  Index measured = 0;             // iterations
  Index trials = 0;               // runs that the search for a tuned step takes at most, before those on the seeds
  double expected_trials = 0;     // as many runs of full length as it is expected to be like
};

/// What an experiment will take on a machine that has nothing else to do. Estimates: runs may end early, and a search
/// may be longer or shorter than most.
struct Forecast {
  Index agents = 0;
  Index dimension = 0;
  Index cells = 0;
  double instance_seconds = 0;  // graph, data and reference of one seed
  double seconds = 0;           // all of it, on `threads` threads
  double bytes = 0;             // of memory
  std::vector<MethodForecast> methods;
};

/// Builds the first seed's instance and every method on it, so that whatever `run` would refuse is refused here with
/// the same words, then measures for about `budget` seconds. Throws InputError.
Forecast forecast(const Config& config, Index threads, double budget = 2);

}  // namespace polyhop

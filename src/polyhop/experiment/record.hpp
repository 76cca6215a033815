// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop {

/// How a run ended: all iterations done, ended at the target, numbers beyond all bounds, or out of time.
enum class Status { done, target, diverged, time_limit };
template <>
struct EnumNames<Status> {
  static constexpr std::array<std::pair<Status, std::string_view>, 4> names = {{{Status::done, "done"},
                                                                                {Status::target, "target"},
                                                                                {Status::diverged, "diverged"},
                                                                                {Status::time_limit, "time-limit"}}};
};

/// One recorded point of a run; the columns of curves.csv. NaN where something is not known.
struct Point {
  Index iteration = 0;
  double seconds = 0;                 // inside iterations, recording apart
  double excess_risk = 0;             // (1/K) sum_k J(w_k) - J(w^o)
  double excess_risk_worst = 0;       // max_k J(w_k) - J(w^o)
  double excess_risk_mean_model = 0;  // J((1/K) sum_k w_k) - J(w^o)
  double excess_risk_averaged = std::numeric_limits<double>::quiet_NaN();  // of the averaged iterates
  double consensus_error = 0;         // (1/K) sum_k ||w_k - mean||^2
  double distance = 0;                // (1/K) sum_k ||w_k - w^o||^2
  double step_min = 0;                // of the iteration before; NaN at 0
  double step_median = 0;
  double step_max = 0;
  Index rounds = 0;                   // totals so far, over all edges and directions
  Index vectors = 0;
  Index scalars = 0;
  Index step_vectors = 0;             // the share of the step size in them
  Index step_scalars = 0;
  Index values = 0;                   // evaluations of agents' costs and gradients
  Index gradients = 0;
};

/// One run: a method on a seed.
struct Cell {
  std::string method;
  std::uint64_t seed = 0;
  Status status = Status::done;
  std::vector<Point> points;
  std::vector<std::vector<Real>> steps;  // per point, where every agent's step is recorded
  Rows models;                           // K x M, the last iterate
  Rows averaged;                         // K x M, or empty
  double reference_value = 0;            // J(w^o)
  double reference_accuracy = 0;
  std::string reference_how;
  Index recorded_agents = 0;             // how many models the excess risk averages over
};

/// All that an experiment gave.
struct Record {
  std::string name;
  double target = 0;
  Value config;             // resolved
  std::vector<Cell> cells;  // by seed, then by method in the order of the file
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop {

/// How a run ended: all iterations done, ended at the target, numbers beyond all bounds, out of time; or, in a store,
/// has not: stopped on the way, or ended by an error (`Cell::message`). `stalled`: all iterations done, but not solved,
/// and in the end nobody moved any more, every step being 0.
enum class Status { done, target, diverged, time_limit, unfinished, failed, stalled };
template <>
struct EnumNames<Status> {
  static constexpr std::array<std::pair<Status, std::string_view>, 7> names = {{{Status::done, "done"},
                                                                                {Status::target, "target"},
                                                                                {Status::diverged, "diverged"},
                                                                                {Status::time_limit, "time-limit"},
                                                                                {Status::unfinished, "unfinished"},
                                                                                {Status::failed, "failed"},
                                                                                {Status::stalled, "stalled"}}};
};

/// One recorded point of a run; the columns of curves.csv. NaN where something is not known.
struct Point {
  Index iteration = 0;
  double seconds = 0;                                                      // inside iterations, recording apart
  double excess_risk = 0;                                                  // (1/K) sum_k J(w_k) - J(w^o)
  double excess_risk_worst = 0;                                            // max_k J(w_k) - J(w^o)
  double excess_risk_mean_model = 0;                                       // J((1/K) sum_k w_k) - J(w^o)
  double excess_risk_averaged = std::numeric_limits<double>::quiet_NaN();  // of the averaged iterates
  double consensus_error = 0;                                              // (1/K) sum_k ||w_k - mean||^2
  double distance = 0;                                                     // (1/K) sum_k ||w_k - w^o||^2
  double step_min = 0;                                                     // of the iteration before; NaN at 0
  double step_median = 0;
  double step_max = 0;
  Index rounds = 0;  // totals so far, over all edges and directions
  Index vectors = 0;
  Index scalars = 0;
  Index step_vectors = 0;  // the share of the step size in them
  Index step_scalars = 0;
  Index values = 0;  // evaluations of agents' costs and gradients
  Index gradients = 0;
  double level = std::numeric_limits<double>::quiet_NaN();       // mean of what a rule has estimated for Jhat_k(w^o)
  double error_rate = std::numeric_limits<double>::quiet_NaN();  // of the mean model on all samples; NaN: no classes
  Index crossed_vectors = 0;  // rows that went from one process to another, each once: 0 where one does all
  Index crossed_scalars = 0;
};

/// A number of a point under its name.
struct PointColumn {
  std::string_view name;
  std::variant<Index Point::*, double Point::*> number;
};

/// All numbers of a point, in the order of curves.csv and of the store.
inline constexpr std::array<PointColumn, 22> point_columns = {{
    {"iteration", &Point::iteration},
    {"seconds", &Point::seconds},
    {"excess_risk", &Point::excess_risk},
    {"excess_risk_worst", &Point::excess_risk_worst},
    {"excess_risk_mean_model", &Point::excess_risk_mean_model},
    {"excess_risk_averaged", &Point::excess_risk_averaged},
    {"consensus_error", &Point::consensus_error},
    {"distance", &Point::distance},
    {"step_min", &Point::step_min},
    {"step_median", &Point::step_median},
    {"step_max", &Point::step_max},
    {"rounds", &Point::rounds},
    {"vectors", &Point::vectors},
    {"scalars", &Point::scalars},
    {"step_vectors", &Point::step_vectors},
    {"step_scalars", &Point::step_scalars},
    {"values", &Point::values},
    {"gradients", &Point::gradients},
    {"level", &Point::level},
    {"error_rate", &Point::error_rate},
    {"crossed_vectors", &Point::crossed_vectors},
    {"crossed_scalars", &Point::crossed_scalars},
}};

/// The counts of a point, which only grow.
inline constexpr std::array<Index Point::*, 9> point_counts = {
    &Point::rounds, &Point::vectors,   &Point::scalars,         &Point::step_vectors,   &Point::step_scalars,
    &Point::values, &Point::gradients, &Point::crossed_vectors, &Point::crossed_scalars};

/// What a search for the best constant took, over all its trial runs, and what it found.
struct Tuning {
  std::string method;
  Real value = 0;        // the constant found
  Real factor = 1;       // the share of it that the method runs with
  Index trials = 0;      // runs
  Index iterations = 0;  // totals over all trials
  Index vectors = 0;
  Index scalars = 0;
  Index values = 0;
  Index gradients = 0;
  double seconds = 0;
};

/// A network, to draw: that of one seed.
struct NetworkPicture {
  std::uint64_t seed = 0;
  Index agents = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // k < l, in order
};

/// One run: a method on a seed.
struct Cell {
  std::string method;
  std::uint64_t seed = 0;
  Status status = Status::done;
  std::string message;     // why a run failed, or what to do about one that diverged or stalled
  bool bad_input = false;  // it failed because of what it was given
  std::vector<Point> points;
  std::vector<std::vector<Real>> steps;  // per point, where every agent's step is recorded; else empty
  Rows models;                           // K x M, the last iterate
  Rows averaged;                         // K x M, or empty
  double reference_value = 0;            // J(w^o)
  double reference_accuracy = 0;
  double reference_error_rate = std::numeric_limits<double>::quiet_NaN();  // of w^o; NaN: no classes, or no w^o
  std::string reference_how;
  Index recorded_agents = 0;  // how many models the excess risk averages over
};

/// All that an experiment gave.
struct Record {
  std::string name;
  double target = 0;
  Value config;                                                 // resolved
  std::vector<Cell> cells;                                      // by seed, then by method in the order of the file
  std::vector<NetworkPicture> networks;                         // of the first seed, unless too large to draw
  std::vector<Tuning> tunings;                                  // of the methods that were tuned
  std::vector<std::pair<std::string, std::string>> provenance;  // version, compiler, machine, date: name and text
};

}  // namespace polyhop

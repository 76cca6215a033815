// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/method/tuned_step.hpp"

namespace polyhop {

/// How a run ended: all iterations done, target reached, diverged, out of time. In a store also: not finished yet, or
/// failed with an error (`Cell::message`). `stalled`: all iterations done without reaching the target, and at the end
/// no agent moved, because every step was 0.
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

/// One recorded point of a run; point_columns explains its numbers. Unknown numbers are NaN.
struct Point {
  Index iteration = 0;
  double seconds = 0;
  double excess_risk = 0;
  double excess_risk_worst = 0;
  double excess_risk_mean_model = 0;
  double excess_risk_averaged = std::numeric_limits<double>::quiet_NaN();
  double consensus_error = 0;
  double distance = 0;
  double step_min = 0;
  double step_median = 0;
  double step_max = 0;
  Index rounds = 0;
  Index vectors = 0;
  Index scalars = 0;
  Index step_vectors = 0;
  Index step_scalars = 0;
  Index values = 0;
  Index gradients = 0;
  double level = std::numeric_limits<double>::quiet_NaN();
  double error_rate = std::numeric_limits<double>::quiet_NaN();
  Index crossed_vectors = 0;
  Index crossed_scalars = 0;
};

/// The kind of a number in a point: the progress of the run; the distance from the optimum, which curves show on a
/// logarithmic axis; the steps, or what their rule is based on; a total that only grows.
enum class ColumnKind { progress, measure, step, count };
template <>
struct EnumNames<ColumnKind> {
  static constexpr std::array<std::pair<ColumnKind, std::string_view>, 4> names = {{{ColumnKind::progress, "progress"},
                                                                                    {ColumnKind::measure, "measure"},
                                                                                    {ColumnKind::step, "step"},
                                                                                    {ColumnKind::count, "count"}}};
};

/// The line that a figure draws beside a measure: the experiment's target, or the error rate of w^o.
enum class ComparedWith { nothing, target, optimum };

/// A number of a point: everything that the store, files, pages, figures and documents know about it.
struct PointColumn {
  std::string_view name;  // in files; options and pages write it with dashes
  std::variant<Index Point::*, double Point::*> number;
  ColumnKind kind;
  std::string_view unit;
  std::string_view help;        // a sentence without its full stop
  std::string_view label = {};  // of an axis, if it can be one
  ComparedWith compared = ComparedWith::nothing;
};

/// All numbers of a point, in the order of curves.csv. New ones are appended, and none is ever renamed.
inline constexpr auto point_columns = [] {
  using P = Point;
  using enum ColumnKind;
  using enum ComparedWith;
  return std::to_array<PointColumn>({
      {"iteration", &P::iteration, progress, "iterations", "iterations done", "iteration"},
      {"seconds", &P::seconds, progress, "s", "time inside iterations, without recording", "seconds"},
      {"excess_risk", &P::excess_risk, measure, "cost",
       "mean over agents of J(w_k) - J(w^o), where J is the average of all agents' costs", "excess risk", target},
      {"excess_risk_worst", &P::excess_risk_worst, measure, "cost", "the largest J(w_k) - J(w^o) of any agent",
       "excess risk, worst agent", target},
      {"excess_risk_mean_model", &P::excess_risk_mean_model, measure, "cost", "J(mean of all w_k) - J(w^o)",
       "excess risk of the mean model", target},
      {"excess_risk_averaged", &P::excess_risk_averaged, measure, "cost",
       "mean over agents of J(average of w_k so far) - J(w^o)", "excess risk, averaged iterates", target},
      {"consensus_error", &P::consensus_error, measure, "model^2", "mean over agents of ||w_k - mean of all w_k||^2",
       "consensus error"},
      {"distance", &P::distance, measure, "model^2",
       "mean over agents of ||w_k - w^o||^2, where w^o is the minimiser of least norm",
       "squared distance to the optimum"},
      {"step_min", &P::step_min, step, "model^2/cost", "the smallest step of any agent in the previous iteration"},
      {"step_median", &P::step_median, step, "model^2/cost", "the median step of all agents in the previous iteration"},
      {"step_max", &P::step_max, step, "model^2/cost", "the largest step of any agent in the previous iteration"},
      {"rounds", &P::rounds, count, "rounds", "rounds of communication so far"},
      {"vectors", &P::vectors, count, "vectors", "vectors sent so far, over all edges and directions", "vectors sent"},
      {"scalars", &P::scalars, count, "scalars", "scalars sent so far, over all edges and directions"},
      {"step_vectors", &P::step_vectors, count, "vectors", "the step size's share of `vectors`"},
      {"step_scalars", &P::step_scalars, count, "scalars", "the step size's share of `scalars`"},
      {"values", &P::values, count, "evaluations", "evaluations of agents' batch costs so far"},
      {"gradients", &P::gradients, count, "evaluations", "evaluations of agents' batch gradients so far"},
      {"level", &P::level, step, "cost", "mean over agents of what `optimum = \"estimate\"` uses for Jhat_k(w^o)"},
      {"error_rate", &P::error_rate, measure, "share",
       "share of all samples that the mean of all w_k assigns to the wrong class; unknown if targets are not classes",
       "share of samples misclassified", optimum},
      {"crossed_vectors", &P::crossed_vectors, count, "vectors",
       "those of `vectors` that went from one process to another, counted once per pair of processes and exchange"},
      {"crossed_scalars", &P::crossed_scalars, count, "scalars",
       "those of `scalars` that went from one process to another, counted once per pair of processes and exchange"},
  });
}();

/// The columns of one kind, in order.
template <ColumnKind kind>
inline constexpr auto columns_of = [] {
  constexpr auto is_one = [](const PointColumn& column) { return column.kind == kind; };
  std::array<PointColumn, static_cast<std::size_t>(std::ranges::count_if(point_columns, is_one))> out{};
  std::ranges::copy_if(point_columns, out.begin(), is_one);
  return out;
}();

/// The members of the counts.
inline constexpr auto point_counts = [] {
  std::array<Index Point::*, columns_of<ColumnKind::count>.size()> out{};
  std::ranges::transform(columns_of<ColumnKind::count>, out.begin(),
                         [](const PointColumn& column) { return std::get<Index Point::*>(column.number); });
  return out;
}();

/// The column of a member.
template <class T>
constexpr const PointColumn& column_of(T Point::*member) {
  return *std::ranges::find(point_columns, decltype(PointColumn::number)(member), &PointColumn::number);
}

/// The number in a column, whatever its type.
inline double number_in(const PointColumn& column, const Point& point) {
  return std::visit([&](const auto member) { return static_cast<double>(point.*member); }, column.number);
}

/// The result of the search for the best constant, and its cost over all trial runs.
struct Tuning {
  std::string method;
  double value = 0;      // the constant found
  double factor = 1;     // the multiple of it that the method uses
  Index trials = 0;      // runs
  Index iterations = 0;  // totals over all trials
  Index vectors = 0;
  Index scalars = 0;
  Index values = 0;
  Index gradients = 0;
  double seconds = 0;
  TuningGoal goal = TuningGoal::iterations_to_target;  // what the constant is best for
};

/// The largest network that a page draws.
inline constexpr Index drawn_agents = 500;

/// A network to draw, that of one seed.
struct NetworkPicture {
  std::uint64_t seed = 0;
  Index agents = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // k < l, in order
};

/// If columns of features differ in size by more than this, that is the likely reason why a run missed its target.
inline constexpr double unlike_columns = 10;

/// One run: a method on a seed.
struct Cell {
  std::string method;
  std::uint64_t seed = 0;
  Status status = Status::done;
  std::string message;     // why a run failed, or what to do about one that diverged or stalled
  bool bad_input = false;  // it failed because of bad input
  MeteredVector<Point> points;
  std::vector<MeteredVector<double>> steps;  // per point, if every agent's step is recorded; otherwise empty
  /// Every agent's ||w_k - mean of all w_k||, if the network is small enough to draw; otherwise empty.
  std::vector<MeteredVector<double>> distances;
  Rows models;                 // K x M, the last iterate
  Rows averaged;               // K x M, or empty
  double reference_value = 0;  // J(w^o)
  double reference_accuracy = 0;
  double reference_error_rate = std::numeric_limits<double>::quiet_NaN();  // of w^o; NaN: no classes, or no w^o
  std::string reference_how;
  double column_spread = 1;   // the largest column of the features over the smallest, as root mean squares
  Index recorded_agents = 0;  // how many models the excess risk averages over
};

/// Everything an experiment produced.
struct Record {
  std::string name;
  double target = 0;
  Value config;                                                 // resolved
  std::vector<Cell> cells;                                      // by seed, then by method in the file's order
  std::vector<NetworkPicture> networks;                         // of the first seed, unless too large to draw
  std::vector<Tuning> tunings;                                  // of the tuned methods
  std::vector<std::pair<std::string, std::string>> provenance;  // version, compiler, machine, date: name and text
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/forecast.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>

#include "polyhop/core/clock.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/tuning.hpp"
#include "polyhop/method/rule_table.hpp"

namespace polyhop {
namespace {

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

double present_bytes() {
  double all = 0;
  double resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// CPU seconds of this process: what other programs use does not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Index points_of(Index iterations, Index every) { return 1 + iterations / every + (iterations % every != 0 ? 1 : 0); }

// What a run took outside its iterations: a fixed amount, plus an amount for each recorded point.
struct Around {
  double fixed = 0;
  double per_point = 0;
};

// Two runs with different numbers of recorded points separate the two; a single run cannot.
Around around_of(double before, Index points_before, double now, Index points) {
  if (points <= points_before) return {0, now / static_cast<double>(points)};
  const double per_point = std::max(0.0, (now - before) / static_cast<double>(points - points_before));
  return {std::max(0.0, now - per_point * static_cast<double>(points)), per_point};
}

// Runs more and more iterations until `share` seconds are spent, all are done, or the run ends as the real one will;
// scales up the measurement.
void measure(const ExperimentOptions& options, const Method& method, const Instance& instance, double share,
             MethodForecast& out) {
  const double begin = cpu_seconds();
  ExperimentOptions few = options;
  double around_before = 0;
  Index points_before = std::numeric_limits<Index>::max();
  for (few.iterations = std::min<Index>(1, options.iterations);; few.iterations *= 4) {
    few.iterations = std::min(few.iterations, options.iterations);
    const auto start = Clock::now();
    const double cpu_start = cpu_seconds();
    const Cell cell = run_cell(few, method, instance, options.seeds.list.front(), 1);
    const double whole = cpu_seconds() - cpu_start;
    const Point& last = cell.points.back();
    // The recorded seconds are wall-clock time.
    const double inside_all = whole * std::min(1.0, last.seconds / std::max(since(start), 1e-12));
    const auto points = std::ssize(cell.points);
    out.measured = last.iteration;
    const bool ended = cell.status != Status::done || few.iterations == options.iterations;
    const Index iterations = ended ? last.iteration : options.iterations;
    const double inside = last.iteration > 0 ? inside_all / static_cast<double>(last.iteration) : 0;
    const double around_now = whole - inside_all;
    const Around around = around_of(around_before, points_before, around_now, points);
    const Index all_points = ended ? points : points_of(options.iterations, options.record_every);
    out.seconds =
        inside * static_cast<double>(iterations) + around.fixed + around.per_point * static_cast<double>(all_points);
    if (options.time_limit) out.seconds = std::min(*out.seconds, *options.time_limit);
    if (ended || cpu_seconds() - begin > share / 4) return;
    around_before = around_now;
    points_before = points;
  }
}

// How many runs of full length a search is like. It tries a step, doubles or halves it a few times, then tries both
// sides of the best at ratios that approach 1. Most steps lose on the first half of the seeds, and the others do not
// run; if the goal is iterations to the target, a trial ends at the target or when it has lost. The constants are what
// the searches of the examples took.
double expected_trials(const ExperimentOptions& options, const Method& method) {
  constexpr double until_bracketed = 5;
  constexpr double share_of_a_run = 0.6;
  const double halvings = std::ceil(std::log2(std::log(2.0) / std::log1p(options.tuning.resolution)));
  const double steps =
      std::min(static_cast<double>(options.tuning.budget), until_bracketed + 2 * std::max(0.0, halvings));
  const bool to_target = goal_of(options, method) == TuningGoal::iterations_to_target;
  const auto majority = static_cast<double>(tuning_seeds(options).size() / 2 + 1);
  return steps * majority * (to_target ? share_of_a_run : 1);
}

// A run of no iterations that evaluates one agent: builds everything that a run builds, cheaply.
void build(const ExperimentOptions& options, const Method& method, const Instance& instance) {
  ExperimentOptions none = options;
  none.iterations = 0;
  none.record.agents = {RecordedAgents::Kind::some, 1};
  (void)run_cell(none, method, instance, options.seeds.list.front(), 1);
}

// What is measured instead of a method: a tuned step becomes a constant, and a small one does not diverge.
Method measurable(const Method& method) {
  if (!method.tuned) return method;
  Method constant = method;
  constant.tuned.reset();
  constant.rule = method.tuned->with(1e-9);
  return constant;
}

// All runs one after the other; a method without a measurement counts as the mean of the others.
double all_runs(const std::vector<MethodForecast>& methods, Index seeds) {
  double sum = 0;
  double known = 0;
  for (const MethodForecast& method : methods) {
    sum += method.seconds.value_or(0);
    known += method.seconds ? 1 : 0;
  }
  const double mean = known > 0 ? sum / known : 0;
  double total = 0;
  for (const MethodForecast& method : methods) {
    total += method.seconds.value_or(mean) * (static_cast<double>(seeds) + method.expected_trials);
  }
  return total;
}

}  // namespace

Forecast forecast(const Config& config, Index threads, double budget) {
  const ExperimentOptions& options = config.options;
  const auto seeds = static_cast<Index>(options.seeds.list.size());
  const double begin = cpu_seconds();
  const Instance instance = make_instance(options, options.seeds.list.front());
  Forecast out;
  out.agents = instance.problem->agents();
  out.dimension = instance.problem->dimension();
  out.samples = instance.samples;
  out.cells = seeds * static_cast<Index>(config.methods.size());
  out.instance_seconds = cpu_seconds() - begin;
  const double instance_bytes = present_bytes();
  std::set<std::string> searches;  // methods that differ only in their factor share one
  Index searched_instances = 0;
  for (const Method& method : config.methods) {
    build(options, measurable(method), instance);
    out.methods.push_back({method.name, {}, 0, 0, 0});
    if (!method.tuned || !searches.insert(tuning_settings(options, method)).second) continue;
    const auto tuned_on = static_cast<Index>(tuning_seeds(options).size());
    out.methods.back().trials = options.tuning.budget * tuned_on;
    out.methods.back().expected_trials = expected_trials(options, method);
    searched_instances += tuned_on;
  }
  const double measuring = cpu_seconds();
  const auto spent = [&] { return cpu_seconds() - measuring; };
  for (std::size_t n = 0; n < config.methods.size() && spent() < budget; ++n) {
    const double share = (budget - spent()) / static_cast<double>(config.methods.size() - n);
    measure(options, measurable(config.methods[n]), instance, share, out.methods[n]);
  }
  const Index beside = std::min(threads, out.cells);
  const double in_a_row =
      all_runs(out.methods, seeds) + out.instance_seconds * static_cast<double>(seeds + searched_instances);
  out.seconds = in_a_row / static_cast<double>(beside);
  const double peak = peak_bytes();
  out.bytes = peak + static_cast<double>(beside - 1) * std::max(0.0, peak - instance_bytes);
  return out;
}

}  // namespace polyhop

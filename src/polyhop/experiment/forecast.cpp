// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/forecast.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>

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

Index points_of(Index iterations, Index every) { return 1 + iterations / every + (iterations % every != 0 ? 1 : 0); }

// Runs more and more iterations until `share` seconds are spent or all are done, and scales up what was seen:
// iterations by their number, everything else by the number of recorded points.
void measure(const ExperimentOptions& options, const Method& method, const Instance& instance, double share,
             MethodForecast& out) {
  const auto begin = Clock::now();
  ExperimentOptions few = options;
  few.stop_at_target = false;
  for (few.iterations = std::min<Index>(1, options.iterations);; few.iterations *= 4) {
    few.iterations = std::min(few.iterations, options.iterations);
    const auto start = Clock::now();
    const Cell cell = run_cell(few, method, instance, options.seeds.list.front(), 1);
    const double whole = since(start);
    const Point& last = cell.points.back();
    out.measured = last.iteration;
    const double inside = last.iteration > 0 ? last.seconds / static_cast<double>(last.iteration) : 0;
    const double around = std::max(0.0, whole - last.seconds) / static_cast<double>(cell.points.size());
    out.seconds = inside * static_cast<double>(options.iterations) +
                  around * static_cast<double>(points_of(options.iterations, options.record_every));
    if (options.time_limit) out.seconds = std::min(*out.seconds, *options.time_limit);
    const bool ended_early = last.iteration < few.iterations;
    if (ended_early || few.iterations == options.iterations || since(begin) > share / 4) return;
  }
}

// A run of no iterations that looks at one agent: builds everything that a run builds, at little cost.
void build(const ExperimentOptions& options, const Method& method, const Instance& instance) {
  ExperimentOptions none = options;
  none.iterations = 0;
  none.record.agents = {RecordedAgents::Kind::some, 1};
  (void)run_cell(none, method, instance, options.seeds.list.front(), 1);
}

// What is measured in the place of a method: a tuned step is a constant, and a small one does not diverge.
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
    total += method.seconds.value_or(mean) * static_cast<double>(seeds + method.trials);
  }
  return total;
}

}  // namespace

Forecast forecast(const Config& config, Index threads, double budget) {
  const ExperimentOptions& options = config.options;
  const auto seeds = static_cast<Index>(options.seeds.list.size());
  const auto begin = Clock::now();
  const Instance instance = make_instance(options, options.seeds.list.front());
  Forecast out;
  out.agents = instance.problem->agents();
  out.dimension = instance.problem->dimension();
  out.cells = seeds * static_cast<Index>(config.methods.size());
  out.instance_seconds = since(begin);
  const double instance_bytes = present_bytes();
  for (const Method& method : config.methods) {
    build(options, measurable(method), instance);
    const Index trials = method.tuned ? options.tuning.budget * static_cast<Index>(tuning_seeds(options).size()) : 0;
    out.methods.push_back({method.name, {}, 0, trials});
  }
  const auto measuring = Clock::now();
  for (std::size_t n = 0; n < config.methods.size() && since(measuring) < budget; ++n) {
    const double share = (budget - since(measuring)) / static_cast<double>(config.methods.size() - n);
    measure(options, measurable(config.methods[n]), instance, share, out.methods[n]);
  }
  const Index beside = std::min(threads, out.cells);
  const double in_a_row = all_runs(out.methods, seeds) + out.instance_seconds * static_cast<double>(seeds);
  out.seconds = in_a_row / static_cast<double>(beside);
  const double peak = peak_bytes();
  out.bytes = peak + static_cast<double>(beside - 1) * std::max(0.0, peak - instance_bytes);
  return out;
}

}  // namespace polyhop

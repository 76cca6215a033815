// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/machine.hpp"
#include "polyhop/core/words.hpp"
#include "polyhop/experiment/instance.hpp"
#include "polyhop/experiment/run_cell.hpp"
#include "polyhop/network/runtime.hpp"

namespace polyhop {
namespace {

Method method_of(const SolveOptions& options, const Registry& registry) {
  Value table = Value::Table{{"step", options.step}, {"average", Value(options.average)}};
  table["gradient"] = Codec<GradientEstimate>::write(options.gradient);
  if (!options.algorithm.empty()) table["algorithm"] = options.algorithm;
  Method method = read_method(table, "", registry);
  if (!method.tuned) return method;
  throw InputError("step",
                   "\"tuned\" searches for a constant by whole runs on several seeds; run an experiment for that");
}

// The first models of the block's agents.
Rows start_of(const SolveOptions& options, const Problem& problem, const Block& block) {
  Rows out(block.size(), problem.dimension());
  const Rows& start = options.start;
  if (start.rows() == 0) return out;
  if (start.columns() != problem.dimension() || (start.rows() != 1 && start.rows() != problem.agents())) {
    throw InputError("start",
                     fmt::format("has {} x {} numbers, expected 1 x {} (one model for all) or {} x {}", start.rows(),
                                 start.columns(), problem.dimension(), problem.agents(), problem.dimension()));
  }
  for (Index k = 0; k < block.size(); ++k) {
    std::ranges::copy(start.row(start.rows() == 1 ? 0 : block.agent(k)), out.row(k).begin());
  }
  return out;
}

void check_sizes(const Problem& problem, const CombinationMatrix& network) {
  if (problem.agents() == network.agents()) return;
  throw InputError("network", fmt::format("has {} agents, the problem {}", network.agents(), problem.agents()));
}

ExperimentOptions experiment_of(const SolveOptions& options, const Reference& reference) {
  const auto require = [](bool holds, const char* path, const Value& found, const char* expected) {
    if (!holds) throw InputError(path, "found " + found.text() + ", expected " + expected);
  };
  require(options.iterations >= 0, "iterations", options.iterations, "an integer >= 0");
  require(options.record_every >= 1, "record_every", options.record_every, "an integer >= 1");
  (void)FaultOptions::fields().read(FaultOptions::fields().write(options.faults), "faults");
  const double target = options.target.value_or(1e-6);
  require(std::isfinite(target) && (target > 0 || !reference.known), "target", target, "a number > 0");
  ExperimentOptions out;
  out.iterations = options.iterations;
  out.record_every = options.record_every;
  out.target = target;
  out.stop_at_target = options.stop_at_target && (options.target || reference.known);
  out.time_limit = options.time_limit;
  out.record.agents = options.record_agents;
  out.faults = options.faults;
  return out;
}

// How a run ended, as text.
std::string ending(const Summary& summary) {
  const std::string iterations = count_of(summary.curves.back().iteration, "iteration");
  switch (summary.status) {
    case Status::done:
      return "ended after its " + iterations;
    case Status::target:
      return "reached its target after " + iterations;
    case Status::diverged:
      return "diverged after " + iterations;
    case Status::time_limit:
      return "ran out of time after " + iterations;
    case Status::stalled:
      return "stalled after " + iterations + ": every step is 0";
    case Status::unfinished:
    case Status::failed:
      break;
  }
  return "was stopped after " + iterations;
}

// Rules that compare a sample's value with its gradient cannot use an estimate, which is the gradient of no value.
void check_estimate(const Method& method, const StepSize& rule) {
  if (method.gradient == GradientEstimate::plain || !rule.uses_values()) return;
  throw InputError(
      "method." + in_quotes(method.name) + ".gradient",
      fmt::format(
          "\"{}\" is not the gradient of any value, and rule {} compares the two; expected \"plain\", or a rule "
          "that uses only gradients, such as \"constant\"",
          name_of(method.gradient), in_quotes(method.rule.name)));
}

const Point& last(const Summary& summary) { return summary.curves.back(); }

// Differences J(w) - J(w^o) of this size are rounding; 0 where the minimum is not known.
double rounding_of(const Summary& summary) {
  if (!summary.reference_known) return 0;
  constexpr double round_off = 1e-14;
  constexpr double exact = 1e-12;  // a risk this far below 0 is rounding as well, and shows how much there is
  const double reference = std::abs(summary.reference);
  const double largest = exact * (reference + std::abs(summary.curves.front().excess_risk));
  double floor = round_off * reference;
  const Point& end = last(summary);
  for (const double risk : {end.excess_risk, end.excess_risk_worst, end.excess_risk_averaged}) {
    if (-risk <= largest) floor = std::max(floor, -risk);
  }
  return floor;
}

std::string risk_text(const Summary& summary, double risk, int digits) {
  return std::abs(risk) <= rounding_of(summary) ? "0" : fmt::format("{:.{}g}", risk, digits);
}

const char* risk_name(const Summary& summary) { return summary.reference_known ? "excess risk" : "risk"; }

}  // namespace

Run::Run(const Problem& problem, const CombinationMatrix& network, const SolveOptions& options,
         const Registry& registry)
    : own_((check_sizes(problem, network), serial_network(network, problem.vectors()))),
      solved_(std::make_unique<Reference>(make_reference(options.reference, problem))),
      network_(own_.get()) {
  build(problem, method_of(options, registry), *solved_, start_of(options, problem, network_->block()), options.seed,
        options.faults, options.iterations);
}

Run::Run(const Problem& problem, Network& network, const Method& method, const Reference& reference, Rows start,
         std::uint64_t seed, const FaultOptions& faults, Index iterations)
    : network_(&network) {
  build(problem, method, reference, std::move(start), seed, faults, iterations);
}

void Run::build(const Problem& problem, const Method& method, const Reference& reference, Rows start,
                std::uint64_t seed, const FaultOptions& faults, Index iterations) {
  start = converted(std::move(start), problem.element());
  const auto at = [&](const InputError& e, const std::string& key) {
    return InputError("method." + in_quotes(method.name) + key + e.path(), e.message(), e.line(), e.file());
  };
  try {
    oracle_ = make_oracle(problem, network_->block(), seed, method.gradient);
  } catch (const InputError& e) {
    throw at(e, ".");
  }
  Setting setting = {*network_, &reference, {}, seed, oracle_.get(), iterations};
  try {
    setting.recursion = method.algorithm.recursion(network_->matrix());
  } catch (const InputError& e) {
    throw at(e, ".algorithm.");
  }
  if (method.average) average_.emplace(start);
  try {
    rule_ = method.rule.build(setting);
  } catch (const InputError& e) {
    throw at(e, ".step.");
  }
  try {
    algorithm_ = method.algorithm.build(std::move(start), setting);
  } catch (const InputError& e) {
    throw at(e, ".algorithm.");
  }
  check_estimate(method, *rule_);
  algorithm_->register_state(state_);
  rule_->register_state(state_);
  oracle_->register_state(state_);
  if (average_) average_->register_state(state_);
  add_faults(faults, seed, *network_);
  if (network_->door() != nullptr) network_->door()->register_state(state_);
}

void Run::step() {
  if (average_) {
    average_->step(i_, *algorithm_, *oracle_, *rule_, *network_);
  } else {
    algorithm_->step(i_, *oracle_, *rule_, *network_);
  }
  ++i_;
}

Summary solve(const Problem& problem, const CombinationMatrix& network, const SolveOptions& options,
              const Registry& registry) {
  check_sizes(problem, network);
  const Method method = method_of(options, registry);
  const Rows start = start_of(options, problem, {0, problem.agents()});
  const Reference reference = make_reference(options.reference, problem);
  const ExperimentOptions experiment = experiment_of(options, reference);
  bool stopped = false;
  CellControl control;
  control.start = &start;
  if (options.callback) {
    control.on_point = [&](const Cell& cell) { stopped = options.callback(cell.points.back()); };
  }
  control.stop = [&] { return stopped || (options.stop && options.stop()); };
  control.every_step = options.every_step;
  control.on_kept = options.on_kept;
  const Index workers = usable_threads(options.threads, 1, iteration_work(network, problem));
  Cell cell = run_cell(experiment, method, Stage{network, problem, reference}, options.seed,
                       std::min(workers, problem.agents()), control);
  Summary out;
  out.models = std::move(cell.models);
  out.averaged = std::move(cell.averaged);
  out.status = cell.status;
  out.message = std::move(cell.message);
  out.curves = std::move(cell.points);
  out.steps = std::move(cell.steps);
  const Point& end = last(out);
  if (options.callback && !stopped) (void)options.callback(end);
  out.vectors = end.vectors;
  out.scalars = end.scalars;
  out.values = end.values;
  out.gradients = end.gradients;
  out.seconds = end.seconds;
  out.reference = reference.value;
  out.reference_how = reference.how;
  out.reference_known = reference.known;
  out.method = method.name;
  return out;
}

std::vector<double> Summary::mean_model() const {
  std::vector<double> mean(models.columns());
  for (Index k = 0; k < models.rows(); ++k) {
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += models.row(k)[j] / static_cast<double>(models.rows());
  }
  return mean;
}

std::string Summary::shown_risk() const { return risk_text(*this, last(*this).excess_risk, 3); }

std::string Summary::brief() const {
  return fmt::format("{} {}: {} {}, {} sent, {}", method, ending(*this), risk_name(*this), shown_risk(),
                     count_of(vectors, "vector"), duration_text(seconds));
}

std::string Summary::full() const {
  const Point& end = last(*this);
  const Point& first = curves.front();
  std::string out = brief() + "\n";
  const auto line = [&](const char* name, const std::string& text) { out += fmt::format("  {:<22}{}\n", name, text); };
  if (!message.empty()) line("advice", message);
  line("agents x numbers", fmt::format("{} x {}", models.rows(), models.columns()));
  const auto risk = [&](double x) { return risk_text(*this, x, 6); };
  line(risk_name(*this), fmt::format("{} at the start, {} at the end, {} for the worst agent", risk(first.excess_risk),
                                     risk(end.excess_risk), risk(end.excess_risk_worst)));
  if (!std::isnan(end.excess_risk_averaged)) line("averaged iterates", risk(end.excess_risk_averaged));
  if (std::abs(end.excess_risk) <= rounding_of(*this) && rounding_of(*this) > 0) {
    line("rounding", fmt::format("0 stands for less than {:.2g}, the size of rounding errors", rounding_of(*this)));
  }
  line("minimum of the cost", reference_known ? fmt::format("{:.10g} ({})", reference, reference_how) : reference_how);
  line("consensus error", fmt::format("{:.3g}", end.consensus_error));
  line("steps", fmt::format("{:.3g} to {:.3g}, median {:.3g}", end.step_min, end.step_max, end.step_median));
  line("sent",
       fmt::format("{} and {} in {}; {} and {} of them for the steps", count_of(vectors, "vector"),
                   count_of(scalars, "scalar"), count_of(end.rounds, "round"), end.step_vectors, end.step_scalars));
  line("evaluations", fmt::format("{} values, {} gradients", values, gradients));
  line("seconds", fmt::format("{:.3g}", seconds));
  return out;
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/recorder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "polyhop/core/kernels.hpp"
#include "polyhop/experiment/median.hpp"

namespace polyhop {
namespace {

// What the workers add up at each point besides the risks; the steps of all agents follow.
enum Sum : std::size_t {
  consensus,
  distance,
  seconds_of_first,
  level,
  wrong,
  first_count,
  sum_count = first_count + point_counts.size()
};

std::vector<Index> watched_agents(const ExperimentOptions& options, const Problem& problem) {
  constexpr double most_work = 2e9;
  constexpr Index sample = 16;
  const Index agents = problem.agents();
  const double work =
      static_cast<double>(agents) * static_cast<double>(problem.samples()) * static_cast<double>(problem.dimension());
  Index count = agents;
  if (options.record.agents.kind == RecordedAgents::Kind::some) count = std::min(agents, options.record.agents.count);
  if (options.record.agents.kind == RecordedAgents::Kind::automatic && work > most_work) {
    count = std::min(agents, sample);
  }
  std::vector<Index> watched;
  for (Index n = 0; n < count; ++n) watched.push_back(n * agents / count);
  return watched;
}

}  // namespace

Recorder::Recorder(const ExperimentOptions& options, const Problem& problem, const Reference& reference, Worker& worker,
                   Cell& cell, bool every_step)
    : options_(options),
      problem_(problem),
      reference_(reference),
      worker_(worker),
      cell_(cell),
      watched_(watched_agents(options, problem)),
      every_step_(every_step || options.record.steps == RecordedSteps::agents) {
  if (reference.minimiser) {
    minimiser_ = Rows(1, problem.dimension());
    std::ranges::copy(*reference.minimiser, minimiser_.row(0).begin());
  }
  if (worker_.number != 0) return;
  cell_.reference_value = reference.value;
  cell_.reference_accuracy = reference.accuracy;
  cell_.reference_how = reference.how;
  cell_.recorded_agents = static_cast<Index>(watched_.size());
}

void Recorder::resume(const Checkpoint& checkpoint) {
  before_ = checkpoint.totals;
  first_risk_ = checkpoint.first_risk;
}

void Recorder::save(Index iteration, double seconds, const StateRegistry& state, const Oracle& oracle,
                    Checkpoint& checkpoint) {
  std::vector<double> sums(point_counts.size());
  worker_.collective.in_order(sums, [&](std::span<double> shared) {
    const Point own = own_counts(oracle);
    for (std::size_t n = 0; n < point_counts.size(); ++n) shared[n] += static_cast<double>(own.*point_counts[n]);
    // The first worker's turn comes first.
    if (worker_.number == 0) checkpoint = {iteration, seconds, first_risk_, {}, state.shape(problem_.agents())};
    state.save(worker_.network.block(), checkpoint.state);
  });
  if (worker_.number != 0) return;
  for (std::size_t n = 0; n < point_counts.size(); ++n)
    checkpoint.totals.*point_counts[n] = static_cast<Index>(sums[n]);
}

bool Recorder::due(Index iteration) const {
  return iteration % options_.record_every == 0 || iteration == options_.iterations;
}

// Brings the models to evaluate to every worker, and the mean of all models, summed in agent order.
void Recorder::gather_points(const Algorithm& algorithm, const AveragedIterate* average) {
  const Index m = problem_.dimension();
  const auto watched = static_cast<Index>(watched_.size());
  const Index count = watched * (average != nullptr ? 2 : 1) + 1;
  if (points_.rows() != count) {
    points_ = Rows(count, m);
    costs_ = Rows(worker_.network.block().size(), count);
    flat_.resize(static_cast<std::size_t>(count * m));
  }
  const Block block = worker_.network.block();
  worker_.collective.in_order(flat_, [&](std::span<double> flat) {
    for (Index n = 0; n < watched; ++n) {
      const Index agent = watched_[static_cast<std::size_t>(n)];
      if (!block.holds(agent)) continue;
      std::ranges::copy(algorithm.models().row(agent - block.first), flat.begin() + n * m);
      if (average == nullptr) continue;
      std::ranges::copy(average->models().row(agent - block.first), flat.begin() + (watched + 1 + n) * m);
    }
    double* mean = flat.data() + watched * m;
    for (Index k = 0; k < block.size(); ++k) {
      kernels::add_scaled(1, algorithm.models().row(k).data(), mean, mean, m);
    }
  });
  double* mean = flat_.data() + watched * m;
  kernels::scale(1 / static_cast<Real>(problem_.agents()), mean, mean, m);
  for (Index p = 0; p < count; ++p) std::copy_n(flat_.begin() + p * m, m, points_.row(p).begin());
}

// Adds up, in agent order: J_k at every point, distances, traffic, evaluations; lists all step sizes.
void Recorder::gather_sums(const Algorithm& algorithm, const Oracle& oracle, double seconds,
                           std::span<const Real> levels) {
  const Block block = worker_.network.block();
  const Index m = problem_.dimension();
  problem_.costs(block, points_, costs_);
  const auto risks = static_cast<std::size_t>(points_.rows());
  const auto watched = static_cast<Index>(watched_.size());
  sums_.resize(risks + sum_count + static_cast<std::size_t>(problem_.agents()));
  worker_.collective.in_order(sums_, [&](std::span<double> sums) {
    const auto extra = sums.subspan(risks);
    for (Index k = 0; k < block.size(); ++k) {
      for (std::size_t p = 0; p < risks; ++p) sums[p] += costs_(k, static_cast<Index>(p));
      const Real* w = algorithm.models().row(k).data();
      extra[consensus] += kernels::squared_distance(w, points_.row(watched).data(), m);
      if (minimiser_.rows() > 0) extra[distance] += kernels::squared_distance(w, minimiser_.data(), m);
      extra[sum_count + static_cast<std::size_t>(block.first + k)] = algorithm.steps()[static_cast<std::size_t>(k)];
    }
    for (const Real x : levels) extra[level] += x;
    extra[wrong] += static_cast<double>(problem_.misclassified(block, points_.row(watched).data()));
    const Point own = own_counts(oracle);
    for (std::size_t n = 0; n < point_counts.size(); ++n)
      extra[first_count + n] += static_cast<double>(own.*point_counts[n]);
    if (worker_.number == 0) extra[seconds_of_first] = seconds;
  });
}

// What this worker has to add to the point_counts. Rounds are everybody's, so the first worker tells them, and what was
// counted before a checkpoint.
Point Recorder::own_counts(const Oracle& oracle) const {
  const Traffic& own = worker_.network.algorithm_traffic();
  const Traffic& step = worker_.network.step_traffic();
  Point out = worker_.number == 0 ? before_ : Point{};
  if (worker_.number == 0) out.rounds += own.rounds + step.rounds;
  out.vectors += own.vectors + step.vectors;
  out.scalars += own.scalars + step.scalars;
  out.step_vectors += step.vectors;
  out.step_scalars += step.scalars;
  out.values += oracle.evaluations().values;
  out.gradients += oracle.evaluations().gradients;
  return out;
}

double Recorder::risk(Index p) const {
  return sums_[static_cast<std::size_t>(p)] / static_cast<double>(problem_.agents());
}

Point Recorder::point(Index iteration, bool averaged) const {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const auto watched = static_cast<Index>(watched_.size());
  const double optimum = reference_.value;
  const std::span<const double> extra = std::span(sums_).subspan(static_cast<std::size_t>(points_.rows()));
  const auto agents = static_cast<double>(problem_.agents());
  const auto mean_excess = [&](Index first) {
    double sum = 0;
    for (Index p = first; p < first + watched; ++p) sum += risk(p) - optimum;
    return sum / static_cast<double>(watched);
  };

  Point point;
  point.iteration = iteration;
  point.seconds = extra[seconds_of_first];
  point.excess_risk = mean_excess(0);
  point.excess_risk_worst = -std::numeric_limits<double>::infinity();
  for (Index p = 0; p < watched; ++p) {
    const double excess = risk(p) - optimum;
    // A NaN is the worst there is, and stays.
    if (excess > point.excess_risk_worst || std::isnan(excess)) point.excess_risk_worst = excess;
  }
  point.excess_risk_mean_model = risk(watched) - optimum;
  if (averaged) point.excess_risk_averaged = mean_excess(watched + 1);
  point.consensus_error = extra[consensus] / agents;
  point.distance = minimiser_.rows() > 0 ? extra[distance] / agents : unknown;
  point.level = extra[level] / agents;
  if (extra[wrong] >= 0) point.error_rate = extra[wrong] / static_cast<double>(problem_.samples());
  const auto steps = extra.subspan(sum_count);
  const bool stepped = iteration > 0;
  point.step_min = stepped ? *std::ranges::min_element(steps) : unknown;
  point.step_median = stepped ? median({steps.begin(), steps.end()}) : unknown;
  point.step_max = stepped ? *std::ranges::max_element(steps) : unknown;
  for (std::size_t n = 0; n < point_counts.size(); ++n)
    point.*point_counts[n] = static_cast<Index>(extra[first_count + n]);
  return point;
}

std::optional<Status> Recorder::observe(Index iteration, double seconds, const Algorithm& algorithm,
                                        const AveragedIterate* average, const Oracle& oracle,
                                        std::span<const Real> levels) {
  gather_points(algorithm, average);
  gather_sums(algorithm, oracle, seconds, levels);
  Point now = point(iteration, average != nullptr);
  if (levels.empty()) now.level = std::numeric_limits<double>::quiet_NaN();
  if (worker_.number == 0) {
    cell_.points.push_back(now);
    if (every_step_) {
      const auto first = sums_.end() - problem_.agents();
      cell_.steps.emplace_back(first, sums_.end());
      if (iteration == 0) std::ranges::fill(cell_.steps.back(), std::numeric_limits<double>::quiet_NaN());
    }
  }
  // Far beyond anything a transient reaches; a NaN fails the comparison as well.
  constexpr double beyond_return = 1e9;
  if (iteration == 0) first_risk_ = std::abs(now.excess_risk + reference_.value);
  if (!(now.excess_risk <= beyond_return * std::max(1.0, first_risk_)) || !std::isfinite(now.consensus_error)) {
    return Status::diverged;
  }
  if (options_.stop_at_target && now.excess_risk <= options_.target) return Status::target;
  if (iteration >= options_.iterations) return Status::done;
  if (options_.time_limit && now.seconds >= *options_.time_limit) return Status::time_limit;
  return {};
}

// A few thousand agents at a time, so that large models are not held twice.
void Recorder::copy_models(const Rows& from, Rows& to) {
  constexpr Index most = 4096;
  const Index m = problem_.dimension();
  const Block block = worker_.network.block();
  if (worker_.number == 0) to = Rows(problem_.agents(), m);
  std::vector<double> part;
  for (Index first = 0; first < problem_.agents(); first += most) {
    const Index last = std::min(first + most, problem_.agents());
    part.resize(static_cast<std::size_t>((last - first) * m));
    worker_.collective.in_order(part, [&](std::span<double> flat) {
      for (Index k = std::max(first, block.first); k < std::min(last, block.last); ++k) {
        std::ranges::copy(from.row(k - block.first), flat.begin() + (k - first) * m);
      }
    });
    if (worker_.number != 0) continue;
    for (Index k = first; k < last; ++k) std::copy_n(part.begin() + (k - first) * m, m, to.row(k).begin());
  }
}

void Recorder::finish(const Algorithm& algorithm, const AveragedIterate* average) {
  copy_models(algorithm.models(), cell_.models);
  if (average != nullptr) copy_models(average->models(), cell_.averaged);
}

}  // namespace polyhop

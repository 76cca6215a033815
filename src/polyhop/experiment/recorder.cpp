// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/recorder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "polyhop/core/block.hpp"
#include "polyhop/core/median.hpp"
#include "polyhop/experiment/agent_stream.hpp"

namespace polyhop {
namespace {

// What the workers add up at each point, besides the risks.
enum Sum : std::size_t {
  consensus,
  distance,
  seconds_of_first,
  level,
  wrong,
  wrong_at_optimum,
  first_count,
  sum_count = first_count + point_counts.size()
};

// NaN if nothing was counted.
double share_of(double count, Index samples) {
  return count >= 0 ? count / static_cast<double>(samples) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<Index> watched_agents(const ExperimentOptions& options, const Problem& problem) {
  constexpr double max_work = 2e9;
  constexpr Index sample = 16;
  const Index agents = problem.agents();
  const double work =
      static_cast<double>(agents) * static_cast<double>(problem.samples()) * static_cast<double>(problem.dimension());
  Index count = agents;
  if (options.record.agents.kind == RecordedAgents::Kind::some) count = std::min(agents, options.record.agents.count);
  if (options.record.agents.kind == RecordedAgents::Kind::automatic && work > max_work) {
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
      mean_(1, problem.dimension()),
      sums_(sum_count),
      every_step_(every_step || options.record.steps == RecordedSteps::agents) {
  if (reference.minimiser) {
    minimiser_ = Rows(1, problem.dimension());
    std::ranges::copy(*reference.minimiser, minimiser_.row(0).begin());
  }
  const Block& block = worker_.network.block();
  for (Index k = 0; k < block.size(); ++k) agents_.push_back(block.agent(k));
  wrong_at_optimum_ = reference.minimiser ? static_cast<double>(problem.misclassified(block, minimiser_.data())) : -1;
  if (worker_.number != 0) return;
  steps_.resize(problem.agents());
  cell_.reference_value = reference.value;
  cell_.reference_accuracy = reference.accuracy;
  cell_.reference_how = reference.how;
  cell_.recorded_agents = static_cast<Index>(watched_.size());
}

void Recorder::resume(const Checkpoint& checkpoint) {
  before_ = checkpoint.totals;
  first_risk_ = checkpoint.first_risk;
}

Checkpoint Recorder::standing(Index iteration, double seconds, const Oracle& oracle) {
  std::array<double, point_counts.size()> sums{};
  worker_.collective.in_order(sums, [&](std::span<double> shared) {
    const Point own = own_counts(oracle);
    for (std::size_t n = 0; n < point_counts.size(); ++n) shared[n] += static_cast<double>(own.*point_counts[n]);
  });
  Checkpoint checkpoint{iteration, seconds, first_risk_, {}};
  for (std::size_t n = 0; n < point_counts.size(); ++n) {
    checkpoint.totals.*point_counts[n] = static_cast<Index>(sums[n]);
  }
  return checkpoint;
}

bool Recorder::due(Index iteration) const {
  return iteration % options_.record_every == 0 || iteration == options_.iterations;
}

// The mean of all models, summed in agent order.
void Recorder::gather_mean(const Rows& models) {
  worker_.collective.by_agent(mean_.row(0), models.rows(),
                              [&](std::span<double> mean, Index k) { add_row(models, k, mean); });
  scale(1 / static_cast<double>(problem_.agents()), mean_);
}

// Sends `count` of the models to evaluate to every worker: those of the watched agents, the mean, the averaged ones.
void Recorder::gather_points(Index first, Index count, const Rows& models, const Rows* averaged) {
  const Block& block = worker_.network.block();
  const Index m = problem_.dimension();
  const auto watched = static_cast<Index>(watched_.size());
  if (points_.rows() != count) {
    points_ = Rows(count, m);
    costs_ = Rows(block.size(), count);
    flat_.resize(count * m);
  }
  worker_.collective.in_order(flat_, [&](std::span<double> flat) {
    for (Index p = first; p < first + count; ++p) {
      if (p == watched) continue;
      const Rows& rows = p < watched ? models : *averaged;
      const Index agent = watched_[p < watched ? p : p - watched - 1];
      if (!block.holds(agent)) continue;
      read_row(rows, block.place(agent) - block.first, flat.subspan((p - first) * m, m));
    }
  });
  for (Index p = 0; p < count; ++p) {
    const double* from = first + p == watched ? mean_.data() : flat_.data() + p * m;
    std::copy_n(from, m, points_.row(p).begin());
  }
}

// J at all these points, summed in agent order. Takes so many at a time that nobody holds the models of all agents.
void Recorder::gather_risks(const Rows& models, const Rows* averaged) {
  const Block& block = worker_.network.block();
  const auto all = static_cast<Index>(risks_.size());
  const Index share = problem_.agents() / worker_.count;  // costs have one row for each agent of a block
  const Index at_once = std::min(all, rows_at_once(std::max(problem_.dimension(), share)));
  for (Index first = 0; first < all; first += at_once) {
    const Index count = std::min(at_once, all - first);
    gather_points(first, count, models, averaged);
    problem_.costs(block, points_, costs_);
    const auto risks = std::span(risks_).subspan(first, count);
    worker_.collective.by_agent(risks, block.size(), [&](std::span<double> sums, Index k) {
      for (Index p = 0; p < count; ++p) sums[p] += costs_(k, p);
    });
    for (double& risk : risks) risk /= static_cast<double>(problem_.agents());
  }
}

// Adds up distances and levels in agent order, and counts, whose order does not matter.
void Recorder::gather_sums(const Algorithm& algorithm, const Oracle& oracle, double seconds,
                           std::span<const double> levels) {
  const Block& block = worker_.network.block();
  worker_.collective.by_agent(sums_, block.size(), [&](std::span<double> sums, Index k) {
    const Rows& w = algorithm.models();
    sums[consensus] += squared_distance(w, k, mean_, 0);
    if (minimiser_.rows() > 0) sums[distance] += squared_distance(w, k, minimiser_, 0);
    if (!levels.empty()) sums[level] += levels[k];
    if (k != 0) return;
    sums[wrong] += static_cast<double>(problem_.misclassified(block, mean_.data()));
    sums[wrong_at_optimum] += wrong_at_optimum_;
    const Point own = own_counts(oracle);
    for (std::size_t n = 0; n < point_counts.size(); ++n) {
      sums[first_count + n] += static_cast<double>(own.*point_counts[n]);
    }
    if (worker_.number == 0) sums[seconds_of_first] = seconds;
  });
}

void Recorder::gather_steps(const Algorithm& algorithm) {
  worker_.collective.gather(agents_, algorithm.steps(), steps_);
}

void Recorder::gather_distances(const Rows& models) {
  if (problem_.agents() > drawn_agents) return;
  away_.resize(agents_.size());
  distances_.resize(steps_.size());
  for (std::size_t k = 0; k < away_.size(); ++k) {
    away_[k] = std::sqrt(squared_distance(models, static_cast<Index>(k), mean_, 0));
  }
  worker_.collective.gather(agents_, away_, distances_);
}

// This worker's part of point_counts. Rounds are everybody's, so the first worker reports them, and what was counted
// before a checkpoint.
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
  const Traffic crossings = worker_.network.crossings();
  out.crossed_vectors += crossings.vectors;
  out.crossed_scalars += crossings.scalars;
  return out;
}

Point Recorder::point(Index iteration, bool averaged) const {
  const std::size_t watched = watched_.size();
  const auto agents = static_cast<double>(problem_.agents());
  const auto mean_excess = [&](std::size_t first) {
    double sum = 0;
    for (std::size_t p = first; p < first + watched; ++p) sum += excess(p);
    return sum / static_cast<double>(watched);
  };

  Point point;
  point.iteration = iteration;
  point.seconds = sums_[seconds_of_first];
  point.excess_risk = mean_excess(0);
  point.excess_risk_worst = -std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < watched; ++p) {
    // NaN counts as the worst and stays.
    if (excess(p) > point.excess_risk_worst || std::isnan(excess(p))) point.excess_risk_worst = excess(p);
  }
  point.excess_risk_mean_model = excess(watched);
  if (averaged) point.excess_risk_averaged = mean_excess(watched + 1);
  point.consensus_error = sums_[consensus] / agents;
  point.distance = minimiser_.rows() > 0 ? sums_[distance] / agents : std::numeric_limits<double>::quiet_NaN();
  point.level = sums_[level] / agents;
  point.error_rate = share_of(sums_[wrong], problem_.samples());
  for (std::size_t n = 0; n < point_counts.size(); ++n) {
    point.*point_counts[n] = static_cast<Index>(sums_[first_count + n]);
  }
  return point;
}

// Only the first worker knows all agents' steps.
void Recorder::fill_steps(Point& point) const {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const bool stepped = point.iteration > 0;
  point.step_min = stepped ? *std::ranges::min_element(steps_) : unknown;
  point.step_median = stepped ? median(steps_) : unknown;
  point.step_max = stepped ? *std::ranges::max_element(steps_) : unknown;
}

// Every agent's step, which does not exist before the first iteration; and its distance from the mean, unless the run
// was started without recording distances.
void Recorder::keep_agents(Index iteration) {
  const bool from_the_beginning = cell_.distances.size() + 1 == cell_.points.size();
  cell_.steps.emplace_back(steps_.begin(), steps_.end());
  if (iteration == 0) std::ranges::fill(cell_.steps.back(), std::numeric_limits<double>::quiet_NaN());
  if (!distances_.empty() && from_the_beginning) cell_.distances.emplace_back(distances_.begin(), distances_.end());
}

std::optional<Status> Recorder::observe(Index iteration, double seconds, const Algorithm& algorithm,
                                        const Rows* averaged, const Oracle& oracle, std::span<const double> levels) {
  risks_.resize(watched_.size() * (averaged != nullptr ? 2 : 1) + 1);
  gather_mean(algorithm.models());
  gather_risks(algorithm.models(), averaged);
  gather_sums(algorithm, oracle, seconds, levels);
  gather_steps(algorithm);
  gather_distances(algorithm.models());
  Point now = point(iteration, averaged != nullptr);
  if (levels.empty()) now.level = std::numeric_limits<double>::quiet_NaN();
  if (worker_.number == 0) {
    fill_steps(now);
    cell_.reference_error_rate = share_of(sums_[wrong_at_optimum], problem_.samples());
    with_enough_memory("record_every", [&] {
      cell_.points.push_back(now);
      if (every_step_) keep_agents(iteration);
    });
  }
  // Far beyond any transient; a NaN fails the comparison too.
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

void Recorder::send_models(const Algorithm& algorithm, const Rows* averaged, const StateSink& sink) {
  send_rows(worker_, "models", algorithm.models(), sink);
  if (averaged != nullptr) send_rows(worker_, "averaged", *averaged, sink);
}

void Recorder::finish(const Algorithm& algorithm, const Rows* averaged) {
  send_models(algorithm, averaged, [&](const StatePart& part) {
    Rows& to = part.name == "models" ? cell_.models : cell_.averaged;
    if (part.first == 0) to = Rows(problem_.agents(), part.columns);
    for (Index k = 0; k < part.rows; ++k) {
      std::copy_n(part.data.begin() + k * part.columns, part.columns, to.row(part.first + k).begin());
    }
  });
}

}  // namespace polyhop

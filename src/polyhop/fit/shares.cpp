// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/shares.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

namespace polyhop {
namespace {

// Counts of targets, one column per class; or their number, their sum, and the sum of their absolute values.
Rows own_targets(const Dataset& data, Index classes) {
  Rows out(data.agents(), std::max<Index>(3, classes));
  for (Index k = 0; k < data.agents(); ++k) {
    for (Index n = data.first(k); n < data.first(k + 1); ++n) {
      const double y = data.targets[n];
      if (classes > 2) {
        out(k, static_cast<Index>(y)) += 1;
      } else {
        out(k, 0) += 1;
        out(k, 1) += y;
        out(k, 2) += std::abs(y);
      }
    }
  }
  return out;
}

// One score for all samples, or one per class, that minimises the loss, at least approximately.
std::vector<double> scores_of(std::span<const double> sums, Task task, Index classes) {
  if (task == Task::classes) {
    std::vector<double> out;
    for (Index c = 0; c < classes; ++c) {
      // With two classes, sums[0] counts the samples and sums[1] those of class 1. A class without samples stays
      // possible.
      const double count = classes > 2 ? sums[c] : c == 1 ? sums[1] : sums[0] - sums[1];
      out.push_back(std::log(std::max(count, double{0.5})));
    }
    const double mean = std::accumulate(out.begin(), out.end(), double{0}) / static_cast<double>(classes);
    for (double& score : out) score -= mean;
    return out;
  }
  const double mean = sums[1] / sums[0];
  if (task == Task::regression) return {mean};
  if (task == Task::counts) return {mean > 0 ? std::log(mean) : 0};
  const double few = 0.5 / sums[0];  // for when all samples are of one class
  return {std::log(std::max(1 + mean, few) / std::max(1 - mean, few))};
}

// The sum of the absolute slopes over each agent's samples.
Rows own_slopes(const Dataset& data, const LossSpec& loss, std::span<const double> scores) {
  Rows out(data.agents(), 1);
  double total = 0;
  std::vector<double> p;
  for (const double score : scores) total += p.emplace_back(std::exp(score));
  for (double& x : p) x /= total;
  for (Index k = 0; k < data.agents(); ++k) {
    for (Index n = data.first(k); n < data.first(k + 1); ++n) {
      const double y = data.targets[n];
      if (loss.task == Task::classes) {
        out(k, 0) += 2 * (1 - p[static_cast<std::size_t>(y)]);
        continue;
      }
      std::array<double, 1> slope{};
      loss.loss->slopes(scores.first(1), std::span(&y, 1), slope);
      out(k, 0) += std::abs(slope[0]);
    }
  }
  return out;
}

}  // namespace

double coarse(double x, int bits) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::round(std::ldexp(mantissa, bits)), exponent - bits);
}

DataShare Shares::of(const Dataset& data) const {
  std::array<double, 1> samples{};
  team.collective().in_order(samples,
                             [&](std::span<double> shared) { shared[0] += static_cast<double>(data.targets.size()); });
  return {own().first, agents(), static_cast<Index>(samples[0])};
}

std::vector<double> Shares::sum(Rows rows, Traffic& traffic) const {
  team.launch(matrix, ownership, rows.columns(), 1, [&](Worker& worker) {
    worker.network.spread_sum(rows);
    const Traffic sent = of_all(worker.network.algorithm_traffic(), worker.collective);
    traffic += {sent.rounds, 0, sent.vectors * rows.columns()};
  });
  return {rows.row(0).begin(), rows.row(0).end()};
}

Start start_of(const Dataset& data, const ModelOptions& model, Index classes, const Shares& shares, Traffic& traffic) {
  const Task task = model.loss.task;
  const Index blocks = task == Task::classes ? classes : 1;
  const Index width = data.features.columns();
  const std::vector<double> sums = shares.sum(own_targets(data, task == Task::classes ? classes : 0), traffic);
  Start out{Rows(1, blocks * width)};
  std::vector<double> scores(blocks, 0);
  if (model.intercept) scores = scores_of(sums, task, classes);
  const double samples = static_cast<double>(shares.of(data).samples);
  const double slope = shares.sum(own_slopes(data, model.loss, scores), traffic)[0] / samples;
  // If all targets are alike, slopes are rounding errors.
  const double rounding = task == Task::regression ? 1e-12 * sums[2] / samples : 0;
  const double unit = std::max(slope, rounding);
  if (unit > 0 && std::isfinite(unit)) out.slope = coarse(unit, 10);
  const double step = std::ldexp(out.slope, -26);
  for (Index c = 0; model.intercept && c < blocks; ++c) {
    out.model(0, (c + 1) * width - 1) = step * std::round(scores[c] / step);
  }
  return out;
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "polyhop/core/elementary.hpp"

namespace polyhop::metrics {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

double ratio(double part, double whole) { return whole == 0 ? undefined : part / whole; }

// The mean of f(truth, predicted) over all samples.
template <class T, class F>
double mean_of(std::span<const T> truth, std::span<const T> predicted, F f) {
  double sum = 0;
  for (std::size_t n = 0; n < truth.size(); ++n) sum += f(truth[n], predicted[n]);
  return ratio(sum, static_cast<double>(truth.size()));
}

// ln of the sum of e^score over the classes, at sample n.
double log_sum_exp(const Rows& scores, Index n) {
  double largest = scores(0, n);
  for (Index c = 1; c < scores.rows(); ++c) largest = std::max(largest, scores(c, n));
  double sum = 0;
  for (Index c = 0; c < scores.rows(); ++c) sum += elementary::exp(scores(c, n) - largest);
  return largest + elementary::log(sum);
}

// ln(1 + e^-margin)
double log_one_plus_exp_minus(double margin) {
  return std::max(-margin, 0.0) + elementary::log1p(elementary::exp(-std::abs(margin)));
}

}  // namespace

double root_mean_squared_error(std::span<const double> truth, std::span<const double> predicted) {
  return std::sqrt(mean_of(truth, predicted, [](double t, double p) { return (t - p) * (t - p); }));
}

double mean_absolute_error(std::span<const double> truth, std::span<const double> predicted) {
  return mean_of(truth, predicted, [](double t, double p) { return std::abs(t - p); });
}

double r2(std::span<const double> truth, std::span<const double> predicted) {
  const double mean = mean_of(truth, truth, [](double t, double) { return t; });
  const double left = mean_of(truth, predicted, [](double t, double p) { return (t - p) * (t - p); });
  const double all = mean_of(truth, truth, [mean](double t, double) { return (t - mean) * (t - mean); });
  return 1 - ratio(left, all);
}

double mean_poisson_deviance(std::span<const double> truth, std::span<const double> predicted) {
  return 2 * mean_of(truth, predicted, [](double t, double p) {
           return (t == 0 ? 0 : t * (elementary::log(t) - elementary::log(p))) - t + p;
         });
}

double accuracy(std::span<const Index> truth, std::span<const Index> predicted) {
  return mean_of(truth, predicted, [](Index t, Index p) { return t == p ? 1.0 : 0.0; });
}

double log_loss(std::span<const Index> truth, const Rows& scores) {
  double sum = 0;
  for (std::size_t n = 0; n < truth.size(); ++n) {
    const auto column = static_cast<Index>(n);
    sum += scores.rows() == 1 ? log_one_plus_exp_minus(truth[n] == 1 ? scores(0, column) : -scores(0, column))
                              : log_sum_exp(scores, column) - scores(truth[n], column);
  }
  return ratio(sum, static_cast<double>(truth.size()));
}

double area_under_curve(std::span<const Index> truth, std::span<const double> score) {
  if (std::ranges::any_of(score, [](double z) { return std::isnan(z); })) return undefined;  // no order
  std::vector<std::size_t> order(truth.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return score[a] < score[b]; });
  std::vector<std::array<double, 2>> bins;
  for (std::size_t n = 0; n < order.size(); ++n) {
    if (n == 0 || score[order[n]] != score[order[n - 1]]) bins.push_back({});
    ++bins.back()[truth[order[n]] == 1 ? 1 : 0];
  }
  return area_under_curve(bins);
}

double area_under_curve(std::span<const std::array<double, 2>> bins) {
  double below = 0;  // samples of class 0 with a smaller score
  double ones = 0;
  double won = 0;
  for (const auto& [tied_zeros, tied_ones] : bins) {
    won += tied_ones * (below + 0.5 * tied_zeros);
    below += tied_zeros;
    ones += tied_ones;
  }
  return ratio(won, ones * below);
}

Confusion confusion_matrix(std::span<const Index> truth, std::span<const Index> predicted, Index classes) {
  Confusion count(classes, std::vector<Index>(classes, 0));
  for (std::size_t n = 0; n < truth.size(); ++n) {
    ++count[truth[n]][predicted[n]];
  }
  return count;
}

double precision(const Confusion& count, Index c) {
  Index predicted = 0;
  for (const auto& row : count) predicted += row[c];
  return ratio(static_cast<double>(count[c][c]), static_cast<double>(predicted));
}

double recall(const Confusion& count, Index c) {
  return ratio(static_cast<double>(count[c][c]), static_cast<double>(support(count, c)));
}

Index support(const Confusion& count, Index c) {
  const auto& row = count[c];
  return std::accumulate(row.begin(), row.end(), Index{0});
}

}  // namespace polyhop::metrics

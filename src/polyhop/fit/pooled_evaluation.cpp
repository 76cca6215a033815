// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/pooled_evaluation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "polyhop/fit/prediction.hpp"

namespace polyhop {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

// Integers in the same order as the scores; equal scores have equal keys.
using Key = std::uint64_t;
Key key_of(double score) {
  const auto bits = std::bit_cast<Key>(score + 0.0);  // -0 is 0
  constexpr Key sign = Key{1} << 63;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

// The keys that start with the same bits.
struct Bin {
  Key first = 0;
  int bits = 0;
  [[nodiscard]] Key last() const { return bits == 64 ? first : first | (~Key{0} >> bits); }
};

// Counts both classes in bins of the score, and splits bins that hold many samples of both into sixteen, until ties
// within bins no longer matter.
double area_under_curve(std::array<std::vector<Key>, 2> keys, double samples, Collective& collective) {
  constexpr double crowd = 1.0 / 4096;  // fraction of all samples
  for (auto& list : keys) std::ranges::sort(list);
  std::vector<Bin> bins = {{}};
  std::vector<double> counts;
  const double largest = std::max(1.0, crowd * samples);
  for (bool done = false; !done;) {
    counts.assign(2 * bins.size(), 0);
    collective.in_order(counts, [&](std::span<double> shared) {
      for (std::size_t n = 0; n < bins.size(); ++n) {
        for (std::size_t c = 0; c < 2; ++c) {
          const auto begin = std::ranges::lower_bound(keys[c], bins[n].first);
          const auto end = std::ranges::upper_bound(keys[c], bins[n].last());
          shared[2 * n + c] += static_cast<double>(end - begin);
        }
      }
    });
    std::vector<Bin> finer;
    done = true;
    for (std::size_t n = 0; n < bins.size(); ++n) {
      const double zeros = counts[2 * n];
      const double ones = counts[2 * n + 1];
      if (zeros + ones == 0) continue;
      if (zeros == 0 || ones == 0 || zeros + ones <= largest || bins[n].bits == 64) {
        finer.push_back(bins[n]);
        continue;
      }
      done = false;
      const int bits = bins[n].bits + 4;
      for (Key digit = 0; digit < 16; ++digit) finer.push_back({bins[n].first | digit << (64 - bits), bits});
    }
    if (!done) bins = std::move(finer);
  }
  std::vector<std::array<double, 2>> tied;
  for (std::size_t n = 0; n < bins.size(); ++n) tied.push_back({counts[2 * n], counts[2 * n + 1]});
  return metrics::area_under_curve(tied);
}

double pooled_auc(std::span<const ScoredSamples> agents, double samples, Collective& collective) {
  std::array<std::vector<Key>, 2> keys;
  double without_order = 0;
  for (const ScoredSamples& of_agent : agents) {
    for (std::size_t n = 0; n < of_agent.targets.size(); ++n) {
      const double score = of_agent.scores(0, static_cast<Index>(n));
      if (std::isnan(score)) ++without_order;
      keys[of_agent.targets[n] > 0 ? 1 : 0].push_back(key_of(score));
    }
  }
  std::array<double, 1> of_all{};
  collective.in_order(of_all, [&](std::span<double> shared) { shared[0] += without_order; });
  return of_all[0] > 0 ? no_value : area_under_curve(std::move(keys), samples, collective);
}

metrics::Confusion pooled_confusion(std::span<const ModelEvaluation> agents, std::size_t classes,
                                    Collective& collective) {
  std::vector<double> counts(classes * classes);
  collective.in_order(counts, [&](std::span<double> shared) {
    for (const ModelEvaluation& of_agent : agents) {
      for (std::size_t t = 0; t < classes; ++t) {
        for (std::size_t p = 0; p < classes; ++p) {
          shared[t * classes + p] += static_cast<double>(of_agent.confusion[t][p]);
        }
      }
    }
  });
  metrics::Confusion out(classes, std::vector<Index>(classes));
  for (std::size_t n = 0; n < counts.size(); ++n) out[n / classes][n % classes] = static_cast<Index>(counts[n]);
  return out;
}

// Sums over all samples, formed in order of the agents.
struct PooledSums {
  double samples = 0;
  double spread = 0;            // of the targets: sum (target - mean)^2
  std::vector<double> metrics;  // sums whose mean, or for rmse the root of the mean, is the metric
};

PooledSums pooled_sums(std::span<const ModelEvaluation> each, std::span<const ScoredSamples> agents,
                       std::size_t metrics, Collective& collective) {
  std::vector<double> numbers(3 + metrics);
  collective.by_agent(numbers, static_cast<Index>(agents.size()), [&](std::span<double> shared, Index k) {
    double& samples = shared[0];
    double& mean = shared[1];
    for (const double target : agents[k].targets) {
      const double off = target - mean;
      mean += off / ++samples;
      shared[2] += off * (target - mean);
    }
    for (std::size_t m = 0; each[k].samples > 0 && m < metrics; ++m) {
      const auto& [key, value] = each[k].metrics[m];
      shared[3 + m] += static_cast<double>(each[k].samples) * (key == "rmse" ? value * value : value);
    }
  });
  return {numbers[0], numbers[2], {numbers.begin() + 3, numbers.end()}};
}

}  // namespace

ModelEvaluation evaluate_pooled(const Model& model, std::span<const ScoredSamples> agents, Collective& collective) {
  std::vector<ModelEvaluation> each;
  for (const ScoredSamples& of_agent : agents) {
    each.push_back(evaluate_scores(model, of_agent.scores, of_agent.targets));
  }
  ModelEvaluation out = each.front();  // every worker has at least one agent; this gives the list of metrics
  const PooledSums sums = pooled_sums(each, agents, out.metrics.size(), collective);
  out.samples = static_cast<Index>(sums.samples);
  double squared_errors = 0;
  for (std::size_t m = 0; m < out.metrics.size(); ++m) {
    auto& [key, value] = out.metrics[m];
    value = sums.metrics[m] / sums.samples;
    if (key == "rmse") {
      squared_errors = sums.metrics[m];
      value = std::sqrt(value);
    } else if (key == "r2") {
      value = sums.spread > 0 ? 1 - squared_errors / sums.spread : no_value;
    } else if (key == "auc") {
      value = pooled_auc(agents, sums.samples, collective);
    }
  }
  if (predicts_classes(model)) {
    out.confusion = pooled_confusion(each, model.classes.size(), collective);
    out.classes = class_evaluations(model, out.confusion);
  }
  return out;
}

}  // namespace polyhop

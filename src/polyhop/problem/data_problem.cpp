// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/data_problem.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "polyhop/core/error.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/problem/block_dot.hpp"
#include "polyhop/problem/reference_optimum.hpp"

namespace polyhop {

DataProblem::DataProblem(Dataset data, LinearOptions options, Index predictions)
    : data_(std::move(data)), options_(std::move(options)), predictions_(predictions) {
  DataShare& share = options_.share;
  if (share.agents == 0) share = {0, data_.agents(), data_.features.rows(), share.is_private};
  if (const auto& weights = options_.weights; !weights.empty()) {
    if (static_cast<Index>(weights.size()) != data_.agents()) {
      throw InputError("weights", "found " + std::to_string(weights.size()) + ", expected one for each of " +
                                      std::to_string(data_.agents()) + " agents");
    }
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const bool has_samples = data_.samples(static_cast<Index>(k)) > 0;
      if (!((has_samples ? weights[k] > 0 : weights[k] == 0) && std::isfinite(weights[k]))) {
        throw InputError("weights",
                         "that of agent " + std::to_string(k) +
                             (has_samples ? " is not a number above 0" : " is not 0, and it has no samples"));
      }
    }
  }
  if (const auto& factors = options_.penalties; !factors.empty()) {
    if (static_cast<Index>(factors.size()) != features()) {
      throw InputError("penalties", "found " + std::to_string(factors.size()) + ", expected one for each of " +
                                        std::to_string(features()) + " features");
    }
    max_penalty_ = std::ranges::max(factors);
    if (!std::ranges::all_of(factors, [](double x) { return x >= 0 && std::isfinite(x); })) {
      throw InputError("penalties", "one is not a number >= 0");
    }
  }
  for (Index k = 0; k < data_.agents(); ++k) {
    if (data_.samples(k) < 1 && weight(k) != 0) {
      throw InputError("data", "agent " + std::to_string(share.first + k) + " has no samples");
    }
  }
  squared_norms_.reserve(data_.targets.size());
  for (Index n = 0; n < data_.features.rows(); ++n) squared_norms_.push_back(data_.features.squared_norm(n));
  if (options_.element == Element::float32) round_features();
}

Sampler DataProblem::sampler(Block block, std::uint64_t seed) const {
  std::vector<Index> samples;
  for (Index k = here(block.first); k < here(block.last); ++k) samples.push_back(data_.samples(k));
  return {block, std::move(samples), options_.batch, options_.sampling, seed};
}

// Features of a batch are read for the predictions and for the gradient; of sparse ones, only the stored entries.
double DataProblem::gradient_work() const {
  const Features& h = data_.features;
  double work = 0;
  for (Index k = 0; k < data_.agents(); ++k) {
    double numbers = static_cast<double>(h.columns());
    if (h.is_sparse()) {
      numbers = 0;
      for (Index n = data_.first(k); n < data_.first(k + 1); ++n)
        numbers += static_cast<double>(h.columns_of(n).size());
      numbers /= static_cast<double>(std::max<Index>(1, data_.samples(k)));
    }
    const Index samples = data_.samples(k);
    const Index batch = options_.batch.all || samples == 0 ? samples : options_.batch.size;
    work += 2 * static_cast<double>(batch * predictions_) * numbers;
  }
  return work;
}

// Rounds features that single precision can hold, and rejects others: the squares of numbers beyond these bounds
// overflow.
void DataProblem::round_features() {
  constexpr double most = 1e18;
  for (Index k = 0; k < data_.agents(); ++k) {
    for (Index n = data_.first(k); n < data_.first(k + 1); ++n) {
      const double norm = std::sqrt(squared_norms_[n]);
      if (norm == 0 || (norm >= 1 / most && norm <= most)) continue;
      throw InputError("problem.precision", "the features of a sample of agent " +
                                                std::to_string(options_.share.first + k) + " have the norm " +
                                                shortest(norm) +
                                                ", single precision takes 1e-18 to 1e18; rescale them (standardise = "
                                                "true), or use precision = \"double\"");
    }
  }
  data_.features = data_.features.rounded();
}

template <class T>
double DataProblem::penalised_square(const T* w) const {
  if (!options_.penalties.empty()) {
    double sum = 0;
    for (Index j = 0; j < dimension(); ++j) {
      const auto number = static_cast<double>(w[j]);
      sum += penalty_factor(j) * number * number;
    }
    return sum;
  }
  if (!intercept()) return kernels::dot(w, w, dimension());
  double sum = 0;
  for (Index c = 0; c < predictions_; ++c) {
    const T* block = w + c * features();
    sum += block_dot(block, block, features() - 1);
  }
  return sum;
}

template double DataProblem::penalised_square(const double* w) const;
template double DataProblem::penalised_square(const float* w) const;

template <class T>
void DataProblem::penalty_gradient(const T* w, T* g) const {
  if (!options_.penalties.empty()) {
    for (Index j = 0; j < dimension(); ++j) {
      g[j] = static_cast<T>(l2() * penalty_factor(j) * static_cast<double>(w[j]));
    }
    return;
  }
  kernels::scale(l2(), w, g, dimension());
  if (!intercept()) return;
  for (Index c = 1; c <= predictions_; ++c) g[c * features() - 1] = 0;
}

template void DataProblem::penalty_gradient(const double* w, double* g) const;
template void DataProblem::penalty_gradient(const float* w, float* g) const;

// wt(j, c * points + p) = number j of block c at point p; zeros after them up to whole tiles
Rows DataProblem::transposed(const Rows& points) const {
  const Index used = predictions_ * points.rows();
  Rows wt(features(), (used + kernels::product_tile - 1) / kernels::product_tile * kernels::product_tile);
  for (Index p = 0; p < points.rows(); ++p) {
    const double* w = points.row(p).data();
    for (Index c = 0; c < predictions_; ++c) {
      for (Index j = 0; j < features(); ++j) wt(j, c * points.rows() + p) = *w++;
    }
  }
  return wt;
}

// z(n, .) = the predictions for sample first + n at all points: one chain of fused multiply-adds each.
void DataProblem::predict(Index first, Index count, const Rows& wt, Rows& z) const {
  const Features& h = data_.features;
  if (!h.is_sparse()) {
    with_element(h.element(), [&](auto zero) {
      kernels::products(h.dense().as<decltype(zero)>(first), h.dense().stride(), count, wt.data(), wt.stride(),
                        wt.columns(), h.columns(), z.data(), z.stride());
    });
    return;
  }
  for (Index n = 0; n < count; ++n) {
    double* out = z.row(n).data();
    std::fill_n(out, wt.columns(), double{0});
    const auto columns = h.columns_of(first + n);
    with_element(h.element(), [&](auto zero) {
      const auto values = h.values_of<decltype(zero)>(first + n);
      for (std::size_t e = 0; e < columns.size(); ++e) {
        kernels::add_scaled(static_cast<double>(values[e]), wt.row(columns[e]).data(), out, out, wt.columns());
      }
    });
  }
}

void DataProblem::costs(Block block, const Rows& points, Rows& out) const {
  // Samples, of one agent after the other: so many that few tiles of products are incomplete, and not so many that the
  // predictions at many points take much memory.
  constexpr Index at_once = 252;
  const Rows wt = transposed(points);
  std::vector<double> penalties;
  for (Index p = 0; p < points.rows(); ++p) penalties.push_back(penalty(points.row(p).data()));
  std::vector<double> targets(penalties.size());
  std::vector<double> losses(penalties.size());
  std::vector<double> sums(penalties.size());
  Rows z(at_once, wt.columns());
  const Index begin = here(block.first);
  const Index end = data_.first(begin + block.size());
  // Rows of z hold the predictions for the samples z_first <= n < z_last.
  Index z_first = data_.first(begin);
  Index z_last = z_first;
  for (Index k = 0; k < block.size(); ++k) {
    const Index agent = begin + k;
    std::ranges::fill(sums, 0.0);
    for (Index n = data_.first(agent); n < data_.first(agent + 1); ++n) {
      if (n == z_last) {
        z_first = n;
        z_last = std::min(end, n + at_once);
        predict(z_first, z_last - z_first, wt, z);
      }
      std::ranges::fill(targets, data_.targets[n]);
      losses_at_points(z.row(n - z_first).data(), points.rows(), targets, losses);
      for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += losses[p];
    }
    const auto samples = static_cast<double>(std::max<Index>(1, data_.samples(agent)));  // without samples the sum is 0
    for (Index p = 0; p < points.rows(); ++p) {
      out(k, p) = weight(agent) * (sums[p] / samples) + penalties[p];
    }
  }
}

Reference DataProblem::minimise(Collective& collective, const Block& here) const {
  return solve_reference(*this, collective, here);
}

}  // namespace polyhop

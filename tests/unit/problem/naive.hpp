// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/problem/linear_problem.hpp"

/// Costs of linear models straight from their formulas, one sample after the other.
namespace polyhop::naive {

/// What a problem is made of.
struct Model {
  Dataset data;
  LossName loss = LossName::least_squares;
  Real l2 = 0;
  Real delta = 1;

  [[nodiscard]] LinearProblem problem(Batch batch = {1, true}, Sampling sampling = Sampling::cyclic) const {
    return LinearProblem(data, std::shared_ptr<const Loss>(make_loss(loss, delta)), l2, batch, sampling);
  }
};

inline double loss(const Model& model, double z, double y) {
  const double r = std::abs(z - y);
  switch (model.loss) {
    case LossName::least_squares:
      return r * r / 2;
    case LossName::logistic:
      return std::log(1 + std::exp(-y * z));
    case LossName::huber:
      return r <= model.delta ? r * r / 2 : model.delta * r - model.delta * model.delta / 2;
  }
  return 0;
}

inline double slope(const Model& model, double z, double y) {
  const double r = z - y;
  switch (model.loss) {
    case LossName::least_squares:
      return r;
    case LossName::logistic:
      return -y / (1 + std::exp(y * z));
    case LossName::huber:
      return std::abs(r) <= model.delta ? r : (r > 0 ? model.delta : -model.delta);
  }
  return 0;
}

inline double product(std::span<const Real> x, std::span<const Real> y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

inline std::vector<Index> all_samples(const Model& model, Index k) {
  std::vector<Index> out(static_cast<std::size_t>(model.data.samples(k)));
  std::iota(out.begin(), out.end(), Index{0});
  return out;
}

/// The mean loss of agent k over `samples`, with the penalty.
inline double value(const Model& model, Index k, std::span<const Index> samples, std::span<const Real> w) {
  double sum = 0;
  for (const Index n : samples) {
    const Index row = model.data.first(k) + n;
    sum += loss(model, product(model.data.features.row(row), w), model.data.targets[static_cast<std::size_t>(row)]);
  }
  return sum / static_cast<double>(samples.size()) + model.l2 / 2 * product(w, w);
}

inline std::vector<Real> gradient(const Model& model, Index k, std::span<const Index> samples,
                                  std::span<const Real> w) {
  std::vector<Real> out;
  for (const Real x : w) out.push_back(model.l2 * x);
  for (const Index n : samples) {
    const Index row = model.data.first(k) + n;
    const auto h = model.data.features.row(row);
    const double s = slope(model, product(h, w), model.data.targets[static_cast<std::size_t>(row)]);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += s * h[j] / static_cast<double>(samples.size());
  }
  return out;
}

/// J(w), the mean of all agents' whole costs.
inline double risk(const Model& model, std::span<const Real> w) {
  double sum = 0;
  for (Index k = 0; k < model.data.agents(); ++k) sum += value(model, k, all_samples(model, k), w);
  return sum / static_cast<double>(model.data.agents());
}

inline std::vector<Real> risk_gradient(const Model& model, std::span<const Real> w) {
  std::vector<Real> out(w.size());
  for (Index k = 0; k < model.data.agents(); ++k) {
    const auto g = gradient(model, k, all_samples(model, k), w);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += g[j] / static_cast<double>(model.data.agents());
  }
  return out;
}

/// Normal features, and targets that no w explains: agent k has samples[k] of them.
inline Dataset random_data(const std::vector<Index>& samples, Index dimension, bool classes, std::uint64_t seed = 1) {
  Dataset data;
  data.offset = {0};
  for (const Index n : samples) data.offset.push_back(data.offset.back() + n);
  data.features = Rows(data.offset.back(), dimension);
  Stream stream(seed, Purpose::features);
  for (Index n = 0; n < data.features.rows(); ++n) {
    stream.normals(data.features.row(n));
    const Real y = 2 * stream.normal();
    data.targets.push_back(classes ? (y < 0 ? -1.0 : 1.0) : y);
  }
  return data;
}

/// A random model of each kind: three agents with unlike numbers of samples.
inline Model random_model(LossName loss, Real l2 = 0, Index dimension = 3) {
  return {random_data({5, 3, 4}, dimension, loss == LossName::logistic), loss, l2, 0.7};
}

inline std::vector<Real> random_point(Index dimension, Index which) {
  std::vector<Real> w(static_cast<std::size_t>(dimension));
  Stream(2, Purpose::start, which).normals(w);
  return w;
}

inline Rows random_points(Index count, Index dimension) {
  Rows out(count, dimension);
  for (Index p = 0; p < count; ++p) std::ranges::copy(random_point(dimension, p), out.row(p).begin());
  return out;
}

}  // namespace polyhop::naive

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/packed_matrix.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/core/triangle_bands.hpp"
#include "polyhop/problem/sample_gradients.hpp"
#include "support/losses.hpp"

/// Costs of linear models straight from their formulas, one sample after the other.
namespace polyhop::naive {

/// What a problem is made of.
struct Model {
  Dataset data;
  std::string loss = "least-squares";
  double l2 = 0;
  double delta = 1;
  bool intercept = false;
  std::vector<double> weights = {};

  [[nodiscard]] LinearOptions options(Batch batch, Sampling sampling) const {
    return {l2, batch, sampling, intercept, weights};
  }
  [[nodiscard]] LinearProblem problem(Batch batch = {1, true}, Sampling sampling = Sampling::cyclic) const {
    return LinearProblem(data, make_loss(loss, delta), options(batch, sampling));
  }
  [[nodiscard]] double weight(Index k) const { return weights.empty() ? 1 : weights[k]; }
};

/// Every loss of one prediction.
inline const std::array<std::string, 5> all_losses = {"least-squares", "logistic", "huber", "smoothed-hinge",
                                                      "poisson"};

inline double loss(const Model& model, double z, double y) {
  const double r = std::abs(z - y);
  if (model.loss == "least-squares") return r * r / 2;
  if (model.loss == "logistic") return std::log(1 + std::exp(-y * z));
  if (model.loss == "huber") return r <= model.delta ? r * r / 2 : model.delta * r - model.delta * model.delta / 2;
  if (model.loss == "poisson") return std::exp(z) - y * z;
  if (y * z >= 1) return 0;
  return y * z > 0 ? (1 - y * z) * (1 - y * z) / 2 : 0.5 - y * z;
}

inline double slope(const Model& model, double z, double y) {
  const double r = z - y;
  if (model.loss == "least-squares") return r;
  if (model.loss == "logistic") return -y / (1 + std::exp(y * z));
  if (model.loss == "huber") return std::abs(r) <= model.delta ? r : (r > 0 ? model.delta : -model.delta);
  if (model.loss == "poisson") return std::exp(z) - y;
  if (y * z >= 1) return 0;
  return y * z > 0 ? -y * (1 - y * z) : -y;
}

inline double product(std::span<const double> x, std::span<const double> y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

inline std::vector<Index> all_samples(const Model& model, Index k) {
  std::vector<Index> out(model.data.samples(k));
  std::iota(out.begin(), out.end(), Index{0});
  return out;
}

/// The mean loss of agent k over `samples`, with the penalty.
inline double value(const Model& model, Index k, std::span<const Index> samples, std::span<const double> w) {
  double sum = 0;
  for (const Index n : samples) {
    const Index row = model.data.first(k) + n;
    sum += loss(model, product(model.data.features.dense().row(row), w), model.data.targets[row]);
  }
  const auto penalised = w.first(w.size() - (model.intercept ? 1 : 0));
  return model.weight(k) * sum / static_cast<double>(samples.size()) + model.l2 / 2 * product(penalised, penalised);
}

inline std::vector<double> gradient(const Model& model, Index k, std::span<const Index> samples,
                                    std::span<const double> w) {
  std::vector<double> out;
  for (const double x : w) out.push_back(model.l2 * x);
  if (model.intercept) out.back() = 0;
  for (const Index n : samples) {
    const Index row = model.data.first(k) + n;
    const auto h = model.data.features.dense().row(row);
    const double s = slope(model, product(h, w), model.data.targets[row]);
    for (std::size_t j = 0; j < out.size(); ++j)
      out[j] += model.weight(k) * s * h[j] / static_cast<double>(samples.size());
  }
  return out;
}

/// J(w), the mean of all agents' whole costs.
inline double risk(const Model& model, std::span<const double> w) {
  double sum = 0;
  for (Index k = 0; k < model.data.agents(); ++k) sum += value(model, k, all_samples(model, k), w);
  return sum / static_cast<double>(model.data.agents());
}

inline std::vector<double> risk_gradient(const Model& model, std::span<const double> w) {
  std::vector<double> out(w.size());
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
    stream.normals(data.features.dense().row(n));
    const double y = 2 * stream.normal();
    data.targets.push_back(classes ? (y < 0 ? -1.0 : 1.0) : y);
  }
  return data;
}

inline bool has_classes(const std::string& loss) { return loss == "logistic" || loss == "smoothed-hinge"; }

/// Targets that the loss is for.
inline Dataset random_data_for(const std::string& loss, const std::vector<Index>& samples, Index dimension) {
  Dataset data = random_data(samples, dimension, has_classes(loss));
  if (loss == "poisson") {
    for (double& y : data.targets) y = std::round(std::abs(y));
  }
  return data;
}

/// A random model of each kind: three agents with unlike numbers of samples.
inline Model random_model(const std::string& loss, double l2 = 0, Index dimension = 3) {
  return {random_data_for(loss, {5, 3, 4}, dimension), loss, l2, 0.7};
}

/// The same with about every other feature 0, the last column, where it is an intercept, of ones, and a weight each.
inline Model holey_model(const std::string& loss, double l2, Index dimension, bool intercept) {
  Model model = random_model(loss, l2, dimension);
  Rows& h = model.data.features.dense();
  Stream stream(7, Purpose::features);
  for (Index n = 0; n < h.rows(); ++n) {
    for (double& x : h.row(n)) x = stream.uniform() < 0.5 ? 0 : x;
    if (intercept) h(n, dimension - 1) = 1;
  }
  model.intercept = intercept;
  model.weights = {0.5, 2, 1.25};
  return model;
}

/// The rows without their zeros.
inline Features sparse(const Rows& rows) {
  MeteredVector<Index> offset = {0};
  MeteredVector<std::int32_t> column;
  MeteredVector<double> value;
  for (Index n = 0; n < rows.rows(); ++n) {
    for (Index j = 0; j < rows.columns(); ++j) {
      if (rows(n, j) == 0) continue;
      column.push_back(static_cast<std::int32_t>(j));
      value.push_back(rows(n, j));
    }
    offset.push_back(static_cast<Index>(column.size()));
  }
  return Features::sparse(rows.columns(), std::move(offset), std::move(column), std::move(value));
}

/// The same problem on sparse features.
inline Model sparse(Model model) {
  model.data.features = sparse(model.data.features.dense());
  return model;
}

inline std::vector<double> random_point(Index dimension, Index which) {
  std::vector<double> w(dimension);
  Stream(2, Purpose::start, which).normals(w);
  return w;
}

inline Rows random_points(Index count, Index dimension) {
  Rows out(count, dimension);
  for (Index p = 0; p < count; ++p) std::ranges::copy(random_point(dimension, p), out.row(p).begin());
  return out;
}

/// The second derivatives of the mean loss of some of agent 0's samples at w, as an oracle adds them up: a piece at a
/// time, each of the upper triangle's numbers in one of them.
inline std::vector<std::vector<double>> second_derivatives(const DataProblem& problem, std::span<const Index> samples,
                                                           std::span<const double> w) {
  const auto oracle = problem.oracle({0, problem.agents()}, 0);
  SampleGradients& cost = *oracle->samples();
  Rows at(problem.agents(), problem.dimension());
  std::ranges::copy(w, at.row(0).begin());
  std::vector<double> z(samples.size() * cost.width());
  std::vector<double> curvatures(z.size());
  cost.predict(0, samples, at, 0, z);
  cost.curvatures(0, samples, z, curvatures);
  const auto n = static_cast<Index>(w.size());
  const TriangleBands order(n);
  PackedMatrix sum(n);
  for (Index first = 0; first < order.numbers(); first += 4) {
    std::vector<double> piece(std::min<Index>(4, order.numbers() - first));
    cost.write_curvature(0, samples, curvatures, 1 / static_cast<double>(samples.size()), first, piece);
    sum.set(order, first, piece);
  }
  std::vector<std::vector<double>> out(n, std::vector<double>(n));
  for (Index i = 0; i < n; ++i) {
    for (Index j = i; j < n; ++j) out[i][j] = out[j][i] = sum.row(i)[j];
  }
  return out;
}

/// The largest difference between these and central differences of a gradient.
template <class Gradient>
double farthest_from_differences(const std::vector<std::vector<double>>& derivatives, std::vector<double> w,
                                 Gradient gradient) {
  constexpr double h = 1e-5;
  double out = 0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const double at = w[j];
    w[j] = at + h;
    const std::vector<double> up = gradient(w);
    w[j] = at - h;
    const std::vector<double> down = gradient(w);
    w[j] = at;
    for (std::size_t i = 0; i < w.size(); ++i) {
      out = std::max(out, std::abs((up[i] - down[i]) / (2 * h) - derivatives[i][j]));
    }
  }
  return out;
}

}  // namespace polyhop::naive

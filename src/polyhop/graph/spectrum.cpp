// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/graph/lanczos.hpp"

namespace polyhop {
namespace {

using Clock = std::chrono::steady_clock;
using Vector = Lanczos::Vector;

constexpr Index dense_up_to = 500;

/// Moves the constant vector, whose eigenvalue is not wanted, from eigenvalue `from` to `to`. It must land inside the
/// range sought: rounding brings the vector back, and only an outlier would grow in the iteration.
void move_constant(const Vector& x, Vector& y, double from, double to) {
  double sum = 0;
  for (const double value : x) sum += value;
  const double shift = (to - from) * sum / static_cast<double>(x.size());
  for (double& value : y) value += shift;
}

Vector random_start(Index size) {
  Vector start(size);
  Stream(0, Purpose::spectrum).normals(start);
  return start;
}

Lanczos on_matrix(const SparseRows& a) {
  const auto product = [&a](const Vector& x, Vector& y) {
    for (Index k = 0; k < a.rows(); ++k) {
      double sum = 0;
      for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) sum += a.weight[e] * x[a.column[e]];
      y[k] = sum;
    }
    move_constant(x, y, 1, 0);
  };
  return {product, random_start(a.rows())};
}

Lanczos on_laplacian(const Graph& graph) {
  const double mean = 2 * static_cast<double>(graph.edges()) / static_cast<double>(graph.agents() - 1);
  const auto product = [&graph, mean](const Vector& x, Vector& y) {
    for (Index k = 0; k < graph.agents(); ++k) {
      double sum = static_cast<double>(graph.degree(k)) * x[k];
      for (const std::int32_t l : graph.neighbours(k)) sum -= x[l];
      y[k] = sum;
    }
    move_constant(x, y, 0, mean);  // the mean of all other eigenvalues
  };
  return {product, random_start(graph.agents())};
}

Vector dense_eigenvalues(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric, Eigen::EigenvaluesOnly);
  return {solver.eigenvalues().begin(), solver.eigenvalues().end()};
}

Estimate dense_gap(const SparseRows& a) {
  Eigen::MatrixXd centred = Eigen::MatrixXd::Constant(a.rows(), a.rows(), -1.0 / static_cast<double>(a.rows()));
  for (Index k = 0; k < a.rows(); ++k) {
    for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) centred(k, a.column[e]) += a.weight[e];
  }
  const Vector values = dense_eigenvalues(centred);
  const double rate = std::max(std::abs(values.front()), std::abs(values.back()));
  return {1 - rate, 1e-15 * static_cast<double>(a.rows()), true, ""};
}

LaplacianRange dense_range(const Graph& graph) {
  Eigen::MatrixXd laplacian = Eigen::MatrixXd::Zero(graph.agents(), graph.agents());
  for (Index k = 0; k < graph.agents(); ++k) {
    laplacian(k, k) = static_cast<double>(graph.degree(k));
    for (const std::int32_t l : graph.neighbours(k)) laplacian(k, l) = -1;
  }
  const Vector values = dense_eigenvalues(laplacian);
  return {values[1], values.back()};
}

/// max(|lambda_2|, |lambda_K|) as far as known: the end that is farther out, unless the other may be even farther.
Lanczos::Ritz mixing_rate(const Lanczos& lanczos) {
  const Lanczos::Ritz upper = lanczos.largest();
  const Lanczos::Ritz lower = lanczos.smallest();
  const double first = std::max(upper.value, 0.0);
  const double second = std::max(-lower.value, 0.0);
  const double rate = std::max(first, second);
  const double at_most = std::max(first + upper.residual, second + lower.residual);
  const double own = first >= second ? upper.residual : lower.residual;
  return {rate, std::max(own, at_most - rate)};
}

}  // namespace

Estimate spectral_gap(const CombinationMatrix& matrix, double time_limit_seconds, double tolerance) {
  const SparseRows& a = matrix.rows();
  if (a.rows() == 1) return {1, 0, true, ""};
  if (a.rows() <= dense_up_to) return dense_gap(a);
  const auto limit = std::chrono::duration<double>(time_limit_seconds);
  const auto start = Clock::now();
  Lanczos lanczos = on_matrix(a);
  while (Clock::now() - start < limit) {
    const bool more = lanczos.step();
    if (more && !lanczos.time_to_look()) continue;
    lanczos.look();
    const Lanczos::Ritz rate = mixing_rate(lanczos);
    if (rate.residual <= tolerance || !more) return {1 - rate.value, rate.residual + 1e-14, true, ""};
  }
  return {0, 0, false,
          "the Lanczos iteration did not converge to " + shortest(tolerance) + " within " +
              shortest(time_limit_seconds) + " s and " + std::to_string(lanczos.steps()) + " steps"};
}

double least_eigenvalue(const SparseRows& a) {
  constexpr Index max_steps = 300;
  constexpr double tolerance = 1e-6;
  double bound = 0;
  for (Index k = 0; k < a.rows(); ++k) {
    double disc = 0;
    for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) {
      disc += a.column[e] == k ? a.weight[e] : -std::abs(a.weight[e]);
    }
    bound = std::min(bound, disc);
  }
  if (bound == 0) return bound;
  Lanczos lanczos = on_matrix(a);
  while (lanczos.steps() < max_steps) {
    const bool more = lanczos.step();
    if (more && !lanczos.time_to_look()) continue;
    lanczos.look();
    const Lanczos::Ritz least = lanczos.smallest();
    if (more && least.residual > 0.5 * tolerance) continue;
    return std::min(0.0, std::max(bound, least.value - std::max(least.residual, 1e-12)));
  }
  return bound;
}

LaplacianRange laplacian_range(const Graph& graph) {
  constexpr double tolerance = 1e-10;
  constexpr double work = 1e10;  // counted, not timed: whether it converges must not depend on the machine
  if (graph.agents() <= dense_up_to) return dense_range(graph);
  const double one_step = static_cast<double>(10 * graph.agents() + 2 * graph.edges());
  const auto max_steps = static_cast<Index>(std::clamp(work / one_step, 1000.0, 30000.0));
  Lanczos lanczos = on_laplacian(graph);
  while (lanczos.steps() < max_steps) {
    const bool more = lanczos.step();
    if (more && !lanczos.time_to_look()) continue;
    lanczos.look();
    const Lanczos::Ritz top = lanczos.largest();
    const Lanczos::Ritz bottom = lanczos.smallest();
    if (!more || std::max(top.residual, bottom.residual) <= tolerance * top.value) return {bottom.value, top.value};
  }
  throw InputError("graph.weights",
                   "\"best-constant\": the eigenvalues of this graph's Laplacian did not converge in " +
                       std::to_string(max_steps) + " Lanczos steps; \"metropolis\" needs none");
}

}  // namespace polyhop

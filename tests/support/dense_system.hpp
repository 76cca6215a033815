// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/problem/problem.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/trial.hpp"

namespace polyhop::test {

inline double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += x[j] * y[j];
  return sum;
}

/// What GAP is about, in full matrices: Z = B o (G G^T), c_k = sum_l b_kl g_k.(w^o - w_l).
struct DenseSystem {
  Dense a;                // A
  Dense b;                // B = A^T A
  Dense w;                // W
  Dense g;                // G on the sample of one iteration
  std::vector<double> j;  // Jhat_k(w_k)
  Dense z;

  DenseSystem(const CombinationMatrix& matrix, const Problem& problem, const Rows& models, Index i = 0,
              std::uint64_t seed = 0)
      : a(dense(matrix)), b(two_hop_weights(matrix)), w(dense(models)) {
    const auto oracle = problem.oracle({0, problem.agents()}, seed);
    oracle->draw(i);
    const Evaluation& at_w = oracle->evaluate(models, true);
    j = at_w.values;
    for (std::size_t k = 0; k < w.size(); ++k) {
      const double* row = at_w.gradients.at(k);
      g.emplace_back(row, row + problem.dimension());
      for (double& x : g.back()) x *= at_w.gradients.scale[k];
    }
    z = product(g, transposed(g));
    for (std::size_t k = 0; k < z.size(); ++k) {
      for (std::size_t l = 0; l < z.size(); ++l) z[k][l] *= b[k][l];
    }
  }

  [[nodiscard]] std::vector<double> c(const std::vector<double>& minimiser) const {
    std::vector<double> out(w.size());
    for (std::size_t k = 0; k < w.size(); ++k) {
      for (std::size_t l = 0; l < w.size(); ++l) {
        for (std::size_t m = 0; m < minimiser.size(); ++m) out[k] += b[k][l] * g[k][m] * (minimiser[m] - w[l][m]);
      }
    }
    return out;
  }

  /// ||A(W~ + diag(u) G)||^2, W~ = 1 w^oT - W: the squared distance to w^o after a step u.
  [[nodiscard]] double phi(const std::vector<double>& minimiser, const std::vector<double>& u) const {
    Dense apart = w;
    for (std::size_t k = 0; k < w.size(); ++k) {
      for (std::size_t m = 0; m < minimiser.size(); ++m) apart[k][m] = minimiser[m] - w[k][m] + u[k] * g[k][m];
    }
    double sum = 0;
    for (const auto& row : product(a, apart)) sum += dot(row, row);
    return sum;
  }

  /// c + Z u, half of phi's gradient.
  [[nodiscard]] std::vector<double> residual(const std::vector<double>& bound, const std::vector<double>& u) const {
    std::vector<double> out = bound;
    for (std::size_t k = 0; k < u.size(); ++k) out[k] += dot(z[k], u);
    return out;
  }

  /// The largest eigenvalue of diag(alpha) Z, which is that of the symmetric diag(alpha)^1/2 Z diag(alpha)^1/2.
  [[nodiscard]] double damped_norm(const std::vector<double>& alpha) const {
    Dense s = z;
    for (std::size_t k = 0; k < s.size(); ++k) {
      for (std::size_t l = 0; l < s.size(); ++l) s[k][l] *= std::sqrt(alpha[k]) * std::sqrt(alpha[l]);
    }
    return largest_eigenvalue(s);
  }
};

/// alpha of a damping at models that all agents share, seen from outside: one sweep of GAP from the same point w gives
/// mu_k = alpha_k Jhat_k(w), optimum zero.
inline std::vector<double> damping_factors(const char* damping, const CombinationMatrix& matrix, const Problem& problem,
                                           const Rows& shared, const DenseSystem& system) {
  std::vector<double> alpha = one_step(matrix, problem, gap({{"damping", damping}, {"sweeps", 1}}), shared).mu;
  for (std::size_t k = 0; k < alpha.size(); ++k) alpha[k] = system.j[k] > 0 ? alpha[k] / system.j[k] : 0;
  return alpha;
}

/// ||1 w^oT - W||^2
inline double squared_distance_to(const std::vector<double>& minimiser, const Rows& models) {
  double sum = 0;
  for (Index k = 0; k < models.rows(); ++k) {
    for (std::size_t m = 0; m < minimiser.size(); ++m) {
      const double d = minimiser[m] - models(k, static_cast<Index>(m));
      sum += d * d;
    }
  }
  return sum;
}

}  // namespace polyhop::test

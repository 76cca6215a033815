// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/graph/graph.hpp"
#include "polyhop/graph/sparse_rows.hpp"

namespace polyhop {

/// A number that may be too expensive: if `computed`, the true value lies within `tolerance` of `value`.
struct Estimate {
  double value = 0;
  double tolerance = 0;
  bool computed = false;
  std::string reason;  // why it was not computed
};

/// 1 - max(|lambda_2(A)|, |lambda_K(A)|), the progress towards consensus per combination. Dense up to 500 agents; above
/// that, Lanczos on the sparse matrix until the residual is below `tolerance` or time is up. For display only: nothing
/// in a run depends on it.
Estimate spectral_gap(const CombinationMatrix& a, double time_limit_seconds = 10, double tolerance = 1e-6);

/// A lower bound of the smallest eigenvalue of a symmetric matrix whose rows sum to 1, or 0 if none is negative: at
/// most 1e-6 below it if 300 steps of Lanczos' iteration find it; otherwise Gershgorin's, min_k (a_kk - sum_l |a_kl|),
/// which is 2 min_k a_kk - 1 if no weight is negative. Plain sums in index order: same bits anywhere.
double least_eigenvalue(const SparseRows& a);

/// The largest and the smallest non-zero eigenvalue of the Laplacian of a connected graph of 2 or more agents.
struct LaplacianRange {
  double second = 0;
  double largest = 0;
};

/// Absolute error 1e-10 times the largest. Dense up to 500 agents, Lanczos above that; throws InputError if that does
/// not converge.
LaplacianRange laplacian_range(const Graph& graph);

/// lambda_B = lambda_max(C), C = D^-1/2 B D^-1/2, B = A^T A, D = diag(b_kk), for the whole symmetric A. An upper bound,
/// at most 1e-3 above the true value: Lanczos finds an estimate; for an s slightly above it, conjugate gradients solve
/// (s I - C) x = 1, and if x > 0, then C x <= s x proves lambda_max(C) <= s (Perron, Collatz, Wielandt). B is never
/// formed: C x costs two products with A. Negative entries of A count by their magnitude, which keeps the bound valid
/// but not tight. Plain sums in index order: same bits anywhere.
double two_hop_scale(const SparseRows& a);

}  // namespace polyhop

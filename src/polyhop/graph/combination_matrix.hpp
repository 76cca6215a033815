// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "polyhop/core/index.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/graph/graph.hpp"
#include "polyhop/graph/spanning_tree.hpp"
#include "polyhop/graph/sparse_rows.hpp"

namespace polyhop {

/// Whether weights may be negative: only best-constant needs that (methods that assume a non-negative A ask
/// `non_negative()`).
enum class Sign { non_negative, any };

/// The first property that a matrix lacks to be a combination matrix, and the entry that shows it.
struct MatrixFlaw {
  Index row = 0;
  Index column = 0;
  std::string message;
};

/// Checks, in this order: square, finite, symmetric (1e-9), rows sum to 1 (1e-9), non-negative, connected, primitive
/// (some a_kk > 0; a matrix with negative entries is exempt: its builder is responsible for the spectrum). O(entries).
std::optional<MatrixFlaw> first_flaw(const SparseRows& rows, Sign sign);

/// A = [a_kl] of [assump:comb-mat]: symmetric, doubly stochastic, connected, primitive. A matrix that is symmetric only
/// to 1e-9 is replaced by (A + A^T)/2, so that a_kl = a_lk exactly.
class CombinationMatrix {
 public:
  /// Throws InputError naming the flaw. Zeros off the diagonal are dropped; the diagonal is always stored.
  explicit CombinationMatrix(SparseRows rows, Sign sign = Sign::non_negative);

  [[nodiscard]] const SparseRows& rows() const { return rows_; }
  [[nodiscard]] Index agents() const { return rows_.rows(); }
  [[nodiscard]] bool non_negative() const { return non_negative_; }
  /// a_kk
  [[nodiscard]] double own_weight(Index k) const;
  /// The tree for sums over the network; the first worker that asks builds it for all.
  [[nodiscard]] const SpanningTree& tree() const;
  /// A lower bound of the smallest eigenvalue, or 0 if none is negative (spectrum.hpp); computed in the same way.
  [[nodiscard]] double least_eigenvalue() const;

 private:
  struct Found;
  SparseRows rows_;
  bool non_negative_ = true;
  std::shared_ptr<Found> found_;
};

/// The links along which a matrix has a nonzero entry.
Graph pattern(const SparseRows& rows);

/// The block's rows of B = A^T A, the two-hop weights b_kl = sum_m a_mk a_ml, each summed in order of m. Counts before
/// it allocates, and throws InputError if the rows need more than `max_bytes`.
SparseRows two_hop(const CombinationMatrix& a, const Block& block, double max_bytes = memory_left());
/// For entry (k, l) of these rows, if agent l comes before k in the block, where entry (l, k) is; otherwise -1.
MeteredVector<Index> mirror_of(const SparseRows& two_hop, const Block& block);

}  // namespace polyhop

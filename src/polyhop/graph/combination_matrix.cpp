// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/combination_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/graph/spectrum.hpp"

namespace polyhop {
namespace {

constexpr double tolerance = 1e-9;
constexpr double bytes_an_entry = sizeof(double) + sizeof(std::int32_t);

std::string entry_text(Index row, Index column, double value) {
  return "row " + std::to_string(row) + ", column " + std::to_string(column) + " (counted from 0) is " +
         shortest(value);
}

std::optional<MatrixFlaw> shape_flaw(const SparseRows& a) {
  if (a.rows() == 0) return MatrixFlaw{0, 0, "the matrix is empty, expected at least one agent"};
  for (Index k = 0; k < a.rows(); ++k) {
    std::int32_t previous = -1;
    for (const std::int32_t l : a.columns_of(k)) {
      if (l <= previous || l >= a.rows()) {
        return MatrixFlaw{k, l,
                          "row " + std::to_string(k) + " has an entry in column " + std::to_string(l) +
                              ", expected ascending columns of a square matrix with " + std::to_string(a.rows()) +
                              " rows"};
      }
      previous = l;
    }
  }
  return std::nullopt;
}

std::optional<MatrixFlaw> finite_flaw(const SparseRows& a) {
  for (Index k = 0; k < a.rows(); ++k) {
    for (std::size_t e = 0; e < a.columns_of(k).size(); ++e) {
      const double value = a.weights_of(k)[e];
      if (std::isfinite(value)) continue;
      const Index l = a.columns_of(k)[e];
      return MatrixFlaw{k, l, entry_text(k, l, value) + ", expected a finite number"};
    }
  }
  return std::nullopt;
}

double value_at(const SparseRows& a, Index row, Index column) {
  const auto columns = a.columns_of(row);
  const auto place = std::lower_bound(columns.begin(), columns.end(), column);
  if (place == columns.end() || *place != column) return 0;
  return a.weights_of(row)[place - columns.begin()];
}

std::optional<MatrixFlaw> symmetry_flaw(const SparseRows& a) {
  for (Index k = 0; k < a.rows(); ++k) {
    for (std::size_t e = 0; e < a.columns_of(k).size(); ++e) {
      const Index l = a.columns_of(k)[e];
      const double here = a.weights_of(k)[e];
      const double there = value_at(a, l, k);
      if (std::abs(here - there) <= tolerance) continue;
      return MatrixFlaw{k, l, "not symmetric: " + entry_text(k, l, here) + ", but " + entry_text(l, k, there)};
    }
  }
  return std::nullopt;
}

std::optional<MatrixFlaw> sum_flaw(const SparseRows& a) {
  for (Index k = 0; k < a.rows(); ++k) {
    double sum = 0;
    for (const double value : a.weights_of(k)) sum += value;
    if (std::abs(sum - 1) <= tolerance) continue;
    return MatrixFlaw{
        k, k,
        "row " + std::to_string(k) + " (counted from 0) sums to " + shortest(sum) + ", expected 1 to within 1e-9"};
  }
  return std::nullopt;
}

std::optional<MatrixFlaw> sign_flaw(const SparseRows& a) {
  for (Index k = 0; k < a.rows(); ++k) {
    for (std::size_t e = 0; e < a.columns_of(k).size(); ++e) {
      const double value = a.weights_of(k)[e];
      if (value >= 0) continue;
      const Index l = a.columns_of(k)[e];
      return MatrixFlaw{k, l, entry_text(k, l, value) + ", expected no negative weight"};
    }
  }
  return std::nullopt;
}

std::optional<MatrixFlaw> connection_flaw(const SparseRows& a) {
  const auto k = unreachable_agent(pattern(a));
  if (!k) return std::nullopt;
  return MatrixFlaw{*k, *k, "not connected: agent " + std::to_string(*k) + " cannot be reached from agent 0"};
}

std::optional<MatrixFlaw> primitivity_flaw(const SparseRows& a) {
  for (Index k = 0; k < a.rows(); ++k) {
    if (value_at(a, k, k) > 0) return std::nullopt;
  }
  return MatrixFlaw{0, 0, "not primitive: every diagonal entry is 0, expected some agent k with a_kk > 0"};
}

/// (A + A^T)/2 of a nearly symmetric matrix, without zeros off the diagonal but with the full diagonal.
SparseRows symmetrised(const SparseRows& a) {
  SparseRows out;
  out.offset.reserve(a.offset.size());
  out.column.reserve(a.column.size());
  out.weight.reserve(a.weight.size());
  for (Index k = 0; k < a.rows(); ++k) {
    bool diagonal_done = false;
    const auto own = [&] {
      out.add(static_cast<std::int32_t>(k), value_at(a, k, k));
      diagonal_done = true;
    };
    for (std::size_t e = 0; e < a.columns_of(k).size(); ++e) {
      const std::int32_t l = a.columns_of(k)[e];
      if (l >= k && !diagonal_done) own();
      const double value = 0.5 * (a.weights_of(k)[e] + value_at(a, l, k));
      if (l != k && value != 0) out.add(l, value);
    }
    if (!diagonal_done) own();
    out.end_row();
  }
  return out;
}

/// Counts the entries of a row of B, using marks that need no clearing between rows.
class TwoHopCounter {
 public:
  explicit TwoHopCounter(const SparseRows& a) : a_(a), mark_(a.rows(), -1) {}

  /// A cheap lower bound, from a look at the neighbours: the largest neighbourhood among them.
  [[nodiscard]] Index at_least(Index k) const {
    Index most = 0;
    for (const std::int32_t m : a_.columns_of(k)) most = std::max(most, a_.offset[m + 1] - a_.offset[m]);
    return most;
  }

  Index count(Index k) {
    if (at_least(k) == a_.rows()) return a_.rows();
    Index found = 0;
    for (const std::int32_t m : a_.columns_of(k)) {
      for (const std::int32_t l : a_.columns_of(m)) {
        found += mark_[l] != k;
        mark_[l] = static_cast<std::int32_t>(k);
      }
      if (found == a_.rows()) break;
    }
    return found;
  }

 private:
  const SparseRows& a_;
  std::vector<std::int32_t> mark_;
};

/// The number of entries in the block's rows of B; exact up to `limit`, otherwise a lower bound above it.
Index count_entries(const SparseRows& a, const Block& block, Index limit) {
  TwoHopCounter counter(a);
  Index at_least = 0;
  for (Index k = 0; k < block.size(); ++k) at_least += counter.at_least(block.agent(k));
  if (at_least > limit) return at_least;
  Index entries = 0;
  for (Index k = 0; k < block.size() && entries <= limit; ++k) entries += counter.count(block.agent(k));
  return entries;
}

[[noreturn]] void refuse_two_hop(const Block& block, Index entries) {
  throw InputError("graph", "the two-hop lists of agents " + std::to_string(block.agent(0)) + " to " +
                                std::to_string(block.agent(block.size() - 1)) + " have " + std::to_string(entries) +
                                " entries or more and would take at least " +
                                memory_text(static_cast<double>(entries) * bytes_an_entry) + "; " +
                                memory_limit_text() +
                                ", or use damping \"norms\" or \"graph\" with bound \"linear\" or \"tight\", which "
                                "needs no two-hop lists");
}

}  // namespace

std::optional<MatrixFlaw> first_flaw(const SparseRows& a, Sign sign) {
  if (auto flaw = shape_flaw(a)) return flaw;
  if (auto flaw = finite_flaw(a)) return flaw;
  if (auto flaw = symmetry_flaw(a)) return flaw;
  if (auto flaw = sum_flaw(a)) return flaw;
  const auto negative = sign_flaw(a);
  if (negative && sign == Sign::non_negative) return negative;
  if (auto flaw = connection_flaw(a)) return flaw;
  return negative ? std::nullopt : primitivity_flaw(a);
}

struct CombinationMatrix::Found {
  std::once_flag has_tree, has_least;
  SpanningTree tree;
  double least = 0;
};

CombinationMatrix::CombinationMatrix(SparseRows rows, Sign sign)
    : rows_(std::move(rows)), found_(std::make_shared<Found>()) {
  if (const auto flaw = first_flaw(rows_, sign)) throw InputError("graph.weights", flaw->message);
  rows_ = symmetrised(rows_);
  non_negative_ = std::all_of(rows_.weight.begin(), rows_.weight.end(), [](double w) { return w >= 0; });
}

double CombinationMatrix::own_weight(Index k) const { return value_at(rows_, k, k); }

const SpanningTree& CombinationMatrix::tree() const {
  std::call_once(found_->has_tree, [&] { found_->tree = spanning_tree(rows_); });
  return found_->tree;
}

double CombinationMatrix::least_eigenvalue() const {
  std::call_once(found_->has_least, [&] { found_->least = polyhop::least_eigenvalue(rows_); });
  return found_->least;
}

Graph pattern(const SparseRows& rows) {
  std::vector<Edge> edges;
  for (Index k = 0; k < rows.rows(); ++k) {
    for (std::size_t e = 0; e < rows.columns_of(k).size(); ++e) {
      const std::int32_t l = rows.columns_of(k)[e];
      if (l > k && rows.weights_of(k)[e] != 0) edges.emplace_back(static_cast<std::int32_t>(k), l);
    }
  }
  return Graph::from_edges(rows.rows(), edges);
}

SparseRows two_hop(const CombinationMatrix& matrix, const Block& block, double max_bytes) {
  const SparseRows& a = matrix.rows();
  const auto limit = static_cast<Index>(std::min(max_bytes / bytes_an_entry, 1e18));
  const Index entries = count_entries(a, block, limit);
  if (entries > limit) refuse_two_hop(block, entries);
  SparseRows b;
  b.offset.reserve(block.size() + 1);
  b.column.reserve(entries);
  b.weight.reserve(entries);
  std::vector<double> sum(a.rows(), 0);
  std::vector<std::int32_t> mark(a.rows(), -1);
  std::vector<std::int32_t> reached;
  for (Index place = 0; place < block.size(); ++place) {
    const Index k = block.agent(place);
    reached.clear();
    for (std::size_t e = 0; e < a.columns_of(k).size(); ++e) {
      const std::int32_t m = a.columns_of(k)[e];
      const double a_mk = a.weights_of(k)[e];
      for (std::size_t f = 0; f < a.columns_of(m).size(); ++f) {
        const std::int32_t l = a.columns_of(m)[f];
        if (mark[l] != k) {
          mark[l] = static_cast<std::int32_t>(k);
          sum[l] = 0;
          reached.push_back(l);
        }
        sum[l] += a_mk * a.weights_of(m)[f];
      }
    }
    std::sort(reached.begin(), reached.end());
    for (const std::int32_t l : reached) b.add(l, sum[l]);
    b.end_row();
  }
  return b;
}

MeteredVector<Index> mirror_of(const SparseRows& two_hop, const Block& block) {
  MeteredVector<Index> out(two_hop.column.size(), -1);
  for (Index k = 0; k < block.size(); ++k) {
    const Index agent = block.agent(k);
    const auto near = two_hop.columns_of(k);
    for (std::size_t n = 0; n < near.size(); ++n) {
      const Index j = block.place(near[n]) - block.first;
      if (j < 0 || j >= k) continue;
      const auto row = two_hop.columns_of(j);
      out[two_hop.offset[k] + n] = two_hop.offset[j] + (std::ranges::lower_bound(row, agent) - row.begin());
    }
  }
  return out;
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/reach.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// Sets of slots that meet in a pattern. Two agents are within two hops of each other if they share a neighbour, so the
/// neighbourhoods of all agents are such sets, and together they are the pattern.
struct SlotSets {
  std::vector<Index> offset = {0};
  MeteredVector<std::int32_t> slot;
  std::int32_t first_own = 0;  // the slot of row 0
};

/// How the dot products over a sparse pattern are computed: a plan, made once, of tiles that share loaded rows. The
/// entries are taken in panels. If rows come from far away, a panel is a rectangle of a few rows and slots of a set,
/// which all meet: its tiles are as large as registers allow, and what another panel has computed is computed again if
/// it would leave a gap. Otherwise a panel holds the entries of a group of rows: up to four of them that meet a slot
/// make a column, columns with the same rows make a tile, and tiles with the same rows follow each other, so that these
/// stay in the first cache. Every product has the same bits as kernels::dot, whatever the plan.
class PairTiles {
 public:
  PairTiles() = default;
  /// The products of `rows` rows. If given, those with mirror[e] >= 0 are copies of an earlier entry. Sets help to
  /// plan; they need not cover the pattern.
  PairTiles(const SparseView& pattern, Index rows, const Index* mirror, VectorType vectors, const SlotSets& sets = {});

  [[nodiscard]] bool is_made() const { return !panels_.empty(); }
  [[nodiscard]] Index panels() const { return std::max<Index>(0, std::ssize(panels_) - 1); }
  /// out[e] = x[r] . y row slot[e] for every entry e of each row r.
  template <class T>
  void multiply(const void* const* x, const T* y, Index y_stride, double* out) {
    for (std::size_t p = 0; p + 1 < panels_.size(); ++p) {
      kernels::pairwise({code_.data() + panels_[p], code_.data() + panels_[p + 1]}, x, y, y_stride, columns_, run_,
                        sums_.data(), out);
    }
    for (const auto& [to, from] : copies_) out[to] = out[from];
  }

 private:
  struct Copy {
    std::int32_t to;
    std::int32_t from;
  };
  MeteredVector<std::int32_t> code_;  // of the tiles; see kernels::PairPanel
  MeteredVector<Index> panels_;       // where each begins in code_, and where the last ends
  MeteredVector<Copy> copies_;
  Index columns_ = 0;
  Index run_ = 0;             // columns at a time
  std::vector<double> sums_;  // of a panel's products between two runs
};

/// out[e] = x[r] . y row slot[e] for the entries of a reach, by its plan if it has one.
template <class T>
void multiply_pairs(const Reach& reach, const void* const* x, double* out) {
  if (reach.tiles != nullptr) return reach.tiles->multiply(x, reach.all<T>(), reach.stride, out);
  for (Index r = 0; r < reach.agents; ++r) {
    for (Index e = reach.pattern.offset[r]; e < reach.pattern.offset[r + 1]; ++e) {
      out[e] = kernels::dot(static_cast<const T*>(x[r]), reach.row<T>(e), reach.columns);
    }
  }
}

/// The same for rows of whatever they are made of.
inline void multiply_pairs(const Reach& reach, const void* const* x, double* out) {
  with_element(reach.element, [&](auto zero) { multiply_pairs<decltype(zero)>(reach, x, out); });
}

}  // namespace polyhop

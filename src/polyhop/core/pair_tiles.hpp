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
/// it would leave a gap. Otherwise a panel holds the entries of a group of rows. Where it is dense, six rows make a
/// column with each slot that half of them meet. Of the rest, up to four rows that meet a slot make a column, columns
/// with the same rows make a tile, and tiles with the same rows follow each other, so that these stay in the first
/// cache. Every product has the same bits as kernels::dot, whatever the plan.
class PairTiles final : public ReachProducts {
 public:
  /// Where a panel begins in the code, and its products.
  struct Panel {
    Index code;
    Index place;
  };

  PairTiles() = default;
  /// The products of `rows` rows. If given, those with mirror[e] >= 0 are copies of an earlier entry. Sets help to
  /// plan; they need not cover the pattern.
  PairTiles(const SparseView& pattern, Index rows, const Index* mirror, VectorType vectors, const SlotSets& sets = {});

  [[nodiscard]] bool is_made() const { return !panels_.empty(); }
  [[nodiscard]] Index panels() const { return std::max<Index>(0, std::ssize(panels_) - 1); }
  void multiply(const void* const* x, const Reach& reach, double* out) override;
  /// out[e] = x[r] . y[slot[e]] in some columns, with which the rows begin.
  void multiply(const void* const* x, const void* const* y, Index columns, double* out);

 private:
  struct Copy {
    std::int32_t to;
    std::int32_t from;
  };
  MeteredVector<std::int32_t> code_;   // of the tiles; see kernels::PairPanel
  MeteredVector<std::int32_t> place_;  // of their products, one after the other; -1: nobody asked for it
  MeteredVector<Panel> panels_;        // and the end of the last
  MeteredVector<Copy> copies_;
  VectorType vectors_{0};
  std::vector<const void*> y_;
  std::vector<double> products_;  // of a panel
};

/// out[e] = x[r] . row slot[e] for the entries of a reach, by its plan if it has one.
void multiply_pairs(const Reach& reach, const void* const* x, double* out);

}  // namespace polyhop

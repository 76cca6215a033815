// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// The agents that a process hears of, each with a row.
class Roster {
 public:
  /// Given by their places, in order of the rows; the rows of a block are consecutive. `block`: any with the same
  /// numbering.
  Roster(std::vector<std::int32_t> places, const Block& block)
      : places_(std::move(places)), sorted_(places_.size()), block_(block) {
    std::iota(sorted_.begin(), sorted_.end(), 0);
    std::ranges::sort(sorted_, {}, [&](std::int32_t slot) { return place(slot); });
  }

  [[nodiscard]] Index size() const { return static_cast<Index>(places_.size()); }
  /// The row of an agent that is on the roster.
  [[nodiscard]] Index slot(Index agent) const { return slot_at(block_.place(agent)); }
  /// The same by its place.
  [[nodiscard]] Index slot_at(Index wanted) const {
    return *std::ranges::lower_bound(sorted_, wanted, {}, [&](std::int32_t slot) { return place(slot); });
  }
  [[nodiscard]] Index place(Index slot) const { return places_[slot]; }

 private:
  std::vector<std::int32_t> places_;
  std::vector<std::int32_t> sorted_;  // rows in order of their places
  Block block_;
};

}  // namespace polyhop

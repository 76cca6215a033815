// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "polyhop/core/real.hpp"

namespace polyhop {

/// Some of the agents, in order of their places, each with a row: those that a process hears of.
class Roster {
 public:
  /// `places` ascend. `block`: any block of the same numbering.
  Roster(std::vector<std::int32_t> places, const Block& block) : places_(std::move(places)), block_(block) {}

  [[nodiscard]] Index size() const { return static_cast<Index>(places_.size()); }
  /// The row of an agent that is on the roster.
  [[nodiscard]] Index slot(Index agent) const { return slot_at(block_.place(agent)); }
  /// The same by its place.
  [[nodiscard]] Index slot_at(Index place) const {
    return std::lower_bound(places_.begin(), places_.end(), place) - places_.begin();
  }
  [[nodiscard]] Index place(Index slot) const { return places_[static_cast<std::size_t>(slot)]; }

 private:
  std::vector<std::int32_t> places_;
  Block block_;
};

}  // namespace polyhop

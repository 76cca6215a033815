// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "polyhop/core/fields.hpp"
#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/network/team.hpp"

namespace polyhop {

/// Which agents a process owns, and in which order: by number, or so that few edges join two processes (METIS).
/// `automatic` is by number, except that a single process keeps neighbours near each other where that pays: its threads
/// then rarely read what another one wrote. No result depends on it.
enum class Placement { automatic, contiguous, metis };
template <>
struct EnumNames<Placement> {
  static constexpr std::array<std::pair<Placement, std::string_view>, 3> names = {
      {{Placement::automatic, "auto"}, {Placement::contiguous, "contiguous"}, {Placement::metis, "metis"}}};
};

/// Deals the agents to processes, in shares of about equal cost with at least one agent each; `cost` has one number per
/// agent. Throws InputError if there are more processes than agents, or if METIS is requested and was not built in.
Ownership choose_ownership(const CombinationMatrix& matrix, std::span<const double> cost, Index processes,
                           Placement placement = Placement::automatic);

/// Whether METIS was built in.
bool has_metis();

}  // namespace polyhop

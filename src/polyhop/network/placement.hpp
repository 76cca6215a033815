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

/// Which agents a process owns: in order of their numbers, or so that few edges join two processes (METIS). No result
/// depends on it.
enum class Placement { contiguous, metis };
template <>
struct EnumNames<Placement> {
  static constexpr std::array<std::pair<Placement, std::string_view>, 2> names = {
      {{Placement::contiguous, "contiguous"}, {Placement::metis, "metis"}}};
};

/// Deals the agents to processes, in shares of about equal cost with at least one agent each; `cost` has one number per
/// agent. Throws InputError if there are more processes than agents, or if METIS is requested and was not built in.
Ownership choose_ownership(const CombinationMatrix& matrix, std::span<const double> cost, Index processes,
                           Placement placement = Placement::contiguous);

/// Whether METIS was built in.
bool has_metis();

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "polyhop/core/collective.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/problem/optimum/design.hpp"

namespace polyhop::optimum {

/// How many numbers pass from process to process at once.
inline constexpr Index at_once = Index{1} << 21;

/// The sum of one number of each agent, in order of the agents; `values`: of those here.
double sum_of(Collective& collective, std::span<const double> values);

/// The same of one row of each.
Vector sum_of(Collective& collective, const Rows& rows);

}  // namespace polyhop::optimum

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/collective.hpp"
#include "polyhop/problem/costs.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop::optimum {

/// For costs known only by values and gradients: L-BFGS, then Newton's method with curvatures from differences of
/// gradients, from two starting points. Each process evaluates its own agents, those in `here`.
Reference by_differences(const Costs& costs, Collective& collective, const Block& here);

}  // namespace polyhop::optimum

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/problem/optimum/cost.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop::optimum {

/// L-BFGS from `start`, then Newton's method. If costs fall forever there is no minimiser, and the value is 0.
Reference by_descent(Cost& cost, const Vector& start);

/// The same from 0, in units that suit the data: if features differ in size by orders of magnitude, descents get
/// nowhere in the original units.
Reference by_descent(Cost& cost);

}  // namespace polyhop::optimum

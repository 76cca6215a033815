// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/problem/optimum/cost.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop::optimum {

/// Conjugate gradients for (curvature + damping * identity) d = r, from 0, until ||r|| is `enough` of what it was;
/// returns each step's gain.
std::vector<double> conjugate_gradients(const Cost& cost, Vector r, double enough, int most, Vector& d,
                                        double damping = 0);

/// Least squares from 0, so that without penalty it is the solution of minimum norm; without any Gram matrix.
Reference by_conjugate_gradients(Cost& cost);

}  // namespace polyhop::optimum

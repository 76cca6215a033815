// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/problem/optimum/cost.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop::optimum {

/// Conjugate gradients for (curvature + damping * identity) d = r, from 0, until ||r|| has shrunk to the fraction
/// `enough`; returns each step's gain.
std::vector<double> conjugate_gradients(const Cost& cost, Vector r, double enough, int most, Vector& d,
                                        double damping = 0);

/// Least squares from 0, so without a penalty it finds the solution of minimum norm; forms no Gram matrix.
Reference by_conjugate_gradients(Cost& cost);

}  // namespace polyhop::optimum

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/problem/optimum/cost.hpp"

namespace polyhop::optimum {

/// Newton's method with halving, from a point w that is already good; returns what the last step was predicted to gain.
/// The Hessian is factorised.
double polish_by_factorisation(Cost& cost, Vector& w);

/// The same with the Hessian's products with vectors alone.
double polish_by_conjugate_gradients(Cost& cost, Vector& w);

}  // namespace polyhop::optimum

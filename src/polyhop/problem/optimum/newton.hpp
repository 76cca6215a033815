// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/problem/optimum/cost.hpp"

namespace polyhop::optimum {

/// Newton's method from where a descent ended; returns what the last step was predicted to gain. From a point that is
/// already good, with halving. Where that fails, because curvatures change along the steps (Huber losses of targets far
/// away curve in few samples, or in none), steps are damped first.
/// The Hessian is factorised.
double newton_by_factorisation(Cost& cost, Vector& w);

/// The same with the Hessian's products with vectors alone.
double newton_by_conjugate_gradients(Cost& cost, Vector& w);

}  // namespace polyhop::optimum

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/problem/optimum/cost.hpp"

namespace polyhop::optimum {

/// Newton's method from the end of a descent; returns the predicted gain of the last step. It starts from a point that
/// is already good, and halves steps. If that fails because curvatures change along the steps (Huber losses with
/// far-off targets have curvature in few samples, or in none), steps are damped first. The Hessian is factorised.
double newton_by_factorisation(Cost& cost, Vector& w);

/// The same using only products of the Hessian with vectors.
double newton_by_conjugate_gradients(Cost& cost, Vector& w);

}  // namespace polyhop::optimum

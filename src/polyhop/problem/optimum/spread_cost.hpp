// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "polyhop/core/collective.hpp"
#include "polyhop/problem/data_problem.hpp"
#include "polyhop/problem/optimum/cost.hpp"

namespace polyhop::optimum {

/// J of data that several processes share: each agent's part is computed separately, and summed in order of the agents.
/// `features`: how many numbers the features of all samples are.
std::unique_ptr<Cost> spread_cost(const DataProblem& problem, Collective& collective, const Block& here,
                                  double features);

}  // namespace polyhop::optimum

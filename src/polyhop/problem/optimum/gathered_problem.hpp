// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "polyhop/core/collective.hpp"
#include "polyhop/problem/data_problem.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop::optimum {

/// The problem with the data of all agents, in the first process; null in the others. `here`: the agents whose data
/// this process has.
std::unique_ptr<DataProblem> gathered_problem(const DataProblem& problem, Collective& collective, const Block& here);

/// Shares what the first process found with all.
Reference shared(const Reference& found, Collective& collective);

}  // namespace polyhop::optimum

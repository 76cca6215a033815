// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/experiment/instance.hpp"
#include "polyhop/problem/data_problem.hpp"

namespace polyhop::test {

/// The samples of an instance whose problem is a linear model on data.
inline const Dataset& data_of(const polyhop::Instance& instance) {
  return dynamic_cast<const DataProblem&>(*instance.problem).data();
}

}  // namespace polyhop::test

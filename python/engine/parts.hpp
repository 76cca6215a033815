// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The parts of the module, and what they know about each other.
#pragma once

#include <memory>

#include "guest.hpp"
#include "polyhop/experiment/registry.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop::python {

/// A problem as Python holds it.
struct HeldProblem {
  std::shared_ptr<const Problem> problem;
  bool is_foreign = false;  // Python evaluates it: more workers would only wait for each other
};

/// The built-in tables, and what Python added to them.
Registry& registry();

void add_networks(py::module_& module);
void add_problems(py::module_& module);
void add_methods(py::module_& module);
void add_runs(py::module_& module);
void add_experiments(py::module_& module);
void add_fits(py::module_& module);

}  // namespace polyhop::python

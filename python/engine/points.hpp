// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Recorded points as arrays.
#pragma once

#include <span>
#include <vector>

#include "guest.hpp"
#include "polyhop/experiment/record.hpp"

namespace polyhop::python {

/// {column: number}
py::dict numbers_of(const Point& point);
/// {column: array}
py::dict columns_of(std::span<const Point> points);
/// Points x agents, or None if steps were not recorded.
py::object steps_of(const std::vector<MeteredVector<double>>& steps);

}  // namespace polyhop::python

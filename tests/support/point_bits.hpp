// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <variant>
#include <vector>

#include "polyhop/experiment/record.hpp"

namespace polyhop::test {

/// Every number of a point that does not depend on how the run was done: all but its time and, with `crossings` left
/// out, what went from one process to another. All NaN are alike.
inline std::vector<std::uint64_t> point_bits(const Point& point, bool crossings = true) {
  std::vector<std::uint64_t> out;
  for (const PointColumn& column : point_columns) {
    if (column.name == "seconds" || (!crossings && column.name.starts_with("crossed"))) continue;
    if (const auto* count = std::get_if<Index Point::*>(&column.number)) {
      out.push_back(static_cast<std::uint64_t>(point.**count));
    } else {
      const double x = point.*std::get<double Point::*>(column.number);
      out.push_back(std::isnan(x) ? 0 : std::bit_cast<std::uint64_t>(x));
    }
  }
  return out;
}

}  // namespace polyhop::test

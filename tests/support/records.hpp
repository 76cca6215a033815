// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/experiment/record.hpp"

namespace polyhop::test {

/// A run that was at `risks[n]` at iteration `every` n; all else is as in an empty record.
inline Cell cell(const std::string& method, std::uint64_t seed, const std::vector<double>& risks,
                 Status status = Status::done, Index every = 10) {
  Cell out;
  out.method = method;
  out.seed = seed;
  out.status = status;
  for (const double risk : risks) {
    Point point;
    point.iteration = every * static_cast<Index>(out.points.size());
    point.excess_risk = risk;
    out.points.push_back(point);
  }
  return out;
}

inline Cell cell(const std::string& method, const std::vector<double>& risks, Status status = Status::done) {
  return cell(method, 0, risks, status);
}

/// An experiment of these runs.
inline Record record(std::vector<Cell> cells, double target = 0, const std::string& name = "e") {
  Record out;
  out.name = name;
  out.target = target;
  out.cells = std::move(cells);
  return out;
}

}  // namespace polyhop::test

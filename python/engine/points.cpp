// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "points.hpp"

#include <algorithm>
#include <string>

#include "polyhop/core/error.hpp"

namespace polyhop::python {

py::dict numbers_of(const Point& point) {
  py::dict out;
  for (const PointColumn& column : point_columns) {
    std::visit([&](const auto member) { out[py::str(std::string(column.name))] = point.*member; }, column.number);
  }
  return out;
}

py::dict columns_of(std::span<const Point> points) {
  py::dict out;
  for (const PointColumn& column : point_columns) {
    std::visit(
        [&]<class T>(T Point::*const member) {
          py::array_t<T> numbers(static_cast<py::ssize_t>(points.size()));
          std::ranges::transform(points, numbers.mutable_data(), [&](const Point& point) { return point.*member; });
          out[py::str(std::string(column.name))] = numbers;
        },
        column.number);
  }
  return out;
}

py::object steps_of(const std::vector<MeteredVector<double>>& steps) {
  if (steps.empty()) return py::none();
  Array out({steps.size(), steps.front().size()});
  for (std::size_t p = 0; p < steps.size(); ++p) {
    if (steps[p].size() != steps.front().size()) throw Error("the steps of a run are not those of the same agents");
    std::ranges::copy(steps[p], out.mutable_data(static_cast<py::ssize_t>(p), 0));
  }
  return out;
}

}  // namespace polyhop::python

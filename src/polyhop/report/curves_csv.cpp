// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/curves_csv.hpp"

#include <cstddef>
#include <span>
#include <variant>

#include "polyhop/report/csv_cell.hpp"

namespace polyhop {
namespace {

std::string text(const Point& point, const PointColumn& column) {
  if (const auto* count = std::get_if<Index Point::*>(&column.number)) return std::to_string(point.**count);
  return shortest(point.*std::get<double Point::*>(column.number));
}

}  // namespace

void write_curves(const Record& record, const std::function<void(std::string_view)>& write) {
  // `status` keeps its place before the columns that came after it.
  constexpr std::size_t before_status = &column_of(&Point::gradients) - point_columns.data() + 1;
  const auto first = std::span(point_columns).first<before_status>();
  const auto rest = std::span(point_columns).subspan<before_status>();
  std::string line = "experiment,method,seed";
  for (const PointColumn& column : first) line += "," + std::string(column.name);
  line += ",status";
  for (const PointColumn& column : rest) line += "," + std::string(column.name);
  write(line + "\n");
  for (const Cell& cell : record.cells) {
    const std::string prefix = csv_cell(record.name) + "," + csv_cell(cell.method) + "," + std::to_string(cell.seed);
    for (const Point& point : cell.points) {
      line = prefix;
      for (const PointColumn& column : first) line += "," + text(point, column);
      line += "," + name_of(cell.status);
      for (const PointColumn& column : rest) line += "," + text(point, column);
      write(line + "\n");
    }
  }
}

}  // namespace polyhop

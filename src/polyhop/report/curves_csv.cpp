// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/curves_csv.hpp"

#include <array>
#include <variant>

namespace polyhop {
namespace {

using Number = std::variant<Index Point::*, double Point::*>;

// The columns between `seed` and `status`, in the order of the file.
constexpr std::array<std::pair<std::string_view, Number>, 18> columns = {{
    {"iteration", &Point::iteration},
    {"seconds", &Point::seconds},
    {"excess_risk", &Point::excess_risk},
    {"excess_risk_worst", &Point::excess_risk_worst},
    {"excess_risk_mean_model", &Point::excess_risk_mean_model},
    {"excess_risk_averaged", &Point::excess_risk_averaged},
    {"consensus_error", &Point::consensus_error},
    {"distance", &Point::distance},
    {"step_min", &Point::step_min},
    {"step_median", &Point::step_median},
    {"step_max", &Point::step_max},
    {"rounds", &Point::rounds},
    {"vectors", &Point::vectors},
    {"scalars", &Point::scalars},
    {"step_vectors", &Point::step_vectors},
    {"step_scalars", &Point::step_scalars},
    {"values", &Point::values},
    {"gradients", &Point::gradients},
}};

std::string text(const Point& point, const Number& number) {
  if (const auto* count = std::get_if<Index Point::*>(&number)) return std::to_string(point.**count);
  return shortest(point.*std::get<double Point::*>(number));
}

// Quoted where a reader of CSV would otherwise be misled.
std::string cell_text(const std::string& s) {
  if (s.find_first_of(",\"\r\n") == std::string::npos) return s;
  std::string out = "\"";
  for (const char c : s) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

void write_curves(const Record& record, const std::function<void(std::string_view)>& write) {
  std::string line = "experiment,method,seed";
  for (const auto& [name, number] : columns) line += "," + std::string(name);
  write(line + ",status\n");
  for (const Cell& cell : record.cells) {
    const std::string prefix = cell_text(record.name) + "," + cell_text(cell.method) + "," + std::to_string(cell.seed);
    for (const Point& point : cell.points) {
      line = prefix;
      for (const auto& [name, number] : columns) line += "," + text(point, number);
      write(line + "," + name_of(cell.status) + "\n");
    }
  }
}

}  // namespace polyhop

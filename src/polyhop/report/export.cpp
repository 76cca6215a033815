// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/export.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

#include "polyhop/core/atomic_file.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/report/curves_csv.hpp"
#include "polyhop/report/summary_json.hpp"

namespace polyhop {
namespace {

std::string name_of_run(const Cell& cell) { return cell.method + "/" + std::to_string(cell.seed); }

void add_rows(NpzWriter& out, const std::string& name, const Rows& models) {
  if (models.rows() == 0) return;
  std::vector<double> flat;
  for (Index k = 0; k < models.rows(); ++k) flat.insert(flat.end(), models.row(k).begin(), models.row(k).end());
  out.add(name, flat, {models.rows(), models.columns()});
}

}  // namespace

void write_models(const Record& record, NpzWriter& out) {
  for (const Cell& cell : record.cells) {
    add_rows(out, name_of_run(cell), cell.models);
    add_rows(out, name_of_run(cell) + "/averaged", cell.averaged);
  }
}

void write_steps(const Record& record, NpzWriter& out) {
  for (const Cell& cell : record.cells) {
    std::size_t agents = 0;
    for (const auto& steps : cell.steps) agents = std::max(agents, steps.size());
    if (agents == 0) continue;
    std::vector<double> flat;
    for (const auto& steps : cell.steps) {
      flat.insert(flat.end(), steps.begin(), steps.end());
      flat.insert(flat.end(), agents - steps.size(), std::numeric_limits<double>::quiet_NaN());
    }
    out.add(name_of_run(cell), flat, {static_cast<Index>(cell.steps.size()), static_cast<Index>(agents)});
  }
}

void export_record(const Record& record, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error("cannot make the folder '" + folder + "': " + failed.message());
  const auto place = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  AtomicFile curves(place("curves.csv"));
  NpzWriter models(place("models.npz"));
  NpzWriter steps(place("steps.npz"));
  AtomicFile summary(place("summary.json"));

  write_curves(record, [&](std::string_view text) { curves.write(text); });
  curves.commit();
  write_models(record, models);
  models.close();
  write_steps(record, steps);
  steps.close();
  summary.write(summary_json(record));
  summary.commit();
}

}  // namespace polyhop

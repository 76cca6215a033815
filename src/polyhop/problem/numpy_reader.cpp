// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/numpy_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/npy_input.hpp"
#include "polyhop/core/npz_reader.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/problem/byte_source.hpp"
#include "polyhop/problem/target_column.hpp"

namespace polyhop {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw InputError("", message); }

void check_columns(Index found, const DataFormat& options) {
  if (found == 0) refuse("holds no features");
  if (options.columns == 0 || found == options.columns) return;
  refuse("has " + std::to_string(found) + " columns of features, expected " + std::to_string(options.columns));
}

/// A matrix whose columns from `features` on, one at most, are targets. Memory holds it once.
struct Matrix {
  Rows rows;
  std::vector<Real> last;

  Real& at(Index r, Index c) { return c < rows.columns() ? rows(r, c) : last[static_cast<std::size_t>(r)]; }
};

void check_finite(Real x, Index row, Index column) {
  if (std::isfinite(x)) return;
  refuse("row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1) + ": found " + shortest(x) +
         ", expected a finite number");
}

Matrix read_matrix(NpyInput& in, const std::string& what, bool with_target, const DataFormat& options) {
  if (in.shape().size() != 2) {
    refuse(what + " has " + std::to_string(in.shape().size()) + " dimensions, expected 2: a row for each sample");
  }
  const Index samples = in.shape()[0];
  const Index columns = in.shape()[1];
  if (samples == 0) refuse("holds no samples");
  const Index features = columns - (with_target ? 1 : 0);
  check_columns(std::max<Index>(features, 0), options);
  Matrix out{Rows(samples, features), std::vector<Real>(with_target ? static_cast<std::size_t>(samples) : 0)};
  // Runs of the file's order: rows, or columns where the first index runs fastest.
  const bool by_columns = in.fortran_order();
  std::vector<Real> run(static_cast<std::size_t>(by_columns ? samples : columns));
  for (Index i = 0; i < (by_columns ? columns : samples); ++i) {
    in.read(run);
    for (Index j = 0; j < static_cast<Index>(run.size()); ++j) {
      const Index row = by_columns ? j : i;
      const Index column = by_columns ? i : j;
      const Real x = run[static_cast<std::size_t>(j)];
      check_finite(x, row, column);
      out.at(row, column) = x;
    }
  }
  return out;
}

void set_targets(DataTable& table, const std::vector<Real>& values, const DataFormat& options) {
  TargetColumn targets(options.labels);
  targets.reserve(values.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    const std::string wrong = targets.add(values[n]);
    if (!wrong.empty()) refuse("row " + std::to_string(n + 1) + ": " + wrong);
  }
  targets.finish(table);
}

/// The first of the names that the archive has.
std::string first_of(const NpzReader& archive, const std::string& what, std::initializer_list<const char*> names) {
  std::string all;
  for (const char* name : names) {
    if (archive.has(name)) return name;
    all += (all.empty() ? "" : " or ") + std::string(name);
  }
  std::string found;
  for (const std::string& name : archive.names()) found += (found.empty() ? "" : ", ") + name;
  refuse("has no array of " + what + ", " + all + "; its arrays: " + (found.empty() ? "none" : found));
}

std::vector<Real> read_target_array(const NpzReader& archive, Index samples) {
  const std::string name = first_of(archive, "targets", {"targets", "y", "target"});
  NpyInput in = archive.stream(name);
  const auto& shape = in.shape();
  const bool is_column = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  if (!is_column || shape[0] != samples) {
    std::string text;
    for (const Index n : shape) text += (text.empty() ? "" : " x ") + std::to_string(n);
    refuse("the array '" + name + "' is " + (text.empty() ? "one number" : text) + ", expected " +
           std::to_string(samples) + " targets, as there are rows of features");
  }
  std::vector<Real> out(static_cast<std::size_t>(samples));
  in.read(out);
  return out;
}

DataTable open_npy(const std::string& file, const DataFormat& options) {
  ByteSource source(file);
  NpyInput in([&](char* out, std::size_t count) { return source.read(out, count); }, source.length(), "the file");
  Matrix matrix = read_matrix(in, "the array", options.has_targets, options);
  DataTable out;
  out.features = std::move(matrix.rows);
  if (options.has_targets) set_targets(out, matrix.last, options);
  return out;
}

DataTable open_npz(const std::string& file, const DataFormat& options) {
  if (ByteSource(file).is_packed())
    refuse("is a gzip file; an NPZ is packed in itself, so unpack it with gunzip first");
  const NpzReader archive(file);
  const std::string name = first_of(archive, "features", {"features", "X", "data"});
  NpyInput in = archive.stream(name);
  DataTable out;
  out.features = read_matrix(in, "the array '" + name + "'", false, options).rows;
  if (options.has_targets) set_targets(out, read_target_array(archive, out.features.rows()), options);
  return out;
}

}  // namespace

DataTable read_npy(const std::string& file, const DataFormat& options) {
  try {
    return open_npy(file, options);
  } catch (const InputError& e) {
    throw e.in_file(file);
  }
}

DataTable read_npz(const std::string& file, const DataFormat& options) {
  try {
    return open_npz(file, options);
  } catch (const InputError& e) {
    throw e.in_file(file);
  }
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/numpy_reader.hpp"

#include <charconv>
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
#include "polyhop/problem/kept_rows.hpp"
#include "polyhop/problem/target_column.hpp"

namespace polyhop {
namespace {

[[noreturn]] void refuse_array(const std::string& message) { throw InputError("", message); }

/// `open`: one of them may be a target that was not named.
void check_columns(Index found, bool open, const DataFormat& options) {
  if (found == 0) refuse_array("holds no features");
  if (options.columns == 0 || found == options.columns || !options.learned.empty()) return;
  refuse_array("has " + std::to_string(found) + " columns of features, expected " + std::to_string(options.columns) +
               (open ? "; if one of them is the target, name it" : ""));
}

/// What the columns of a matrix are.
struct MatrixColumns {
  Index target = -1;         // its column, or -1
  std::vector<Index> place;  // of each column among the features, -1 if it is not one
  Index features = 0;

  [[nodiscard]] bool counts(Index c) const { return c == target || place[c] >= 0; }
};

/// A matrix, one column of which may be split off as the target. Memory holds it once.
struct StoredMatrix {
  Rows rows;
  MeteredVector<double> apart;
  MatrixColumns columns;
  MeteredVector<Index> place;  // position of each sample's features, -1 if they are not kept

  void set(Index r, Index c, double x) {
    const Index kept = place[r];
    const Index feature = columns.place[c];
    if (c == columns.target) {
      apart[r] = x;
    } else if (kept >= 0 && feature >= 0) {
      rows(kept, feature) = x;
    }
  }
};

MeteredVector<Index> places(KeptRows kept, Index samples) {
  MeteredVector<Index> out;
  out.reserve(samples);
  Index next = 0;
  for (Index r = 0; r < samples; ++r) out.push_back(kept.next() ? next++ : -1);
  return out;
}

/// Which of `columns` is the target, -1 for none: the one whose number the options give, else the last that is not
/// dropped. If no target is needed and there are as many columns as features, none is split off.
Index target_column(Index columns, const ChosenColumns& chosen, const DataFormat& options) {
  if (!options.has_targets && (options.target.empty() || columns == options.columns)) return -1;
  if (options.target.empty()) return static_cast<Index>(chosen.last());
  Index number = 0;
  const char* end = options.target.data() + options.target.size();
  const auto [at, error] = std::from_chars(options.target.data(), end, number);
  if (error == std::errc{} && at == end && number >= 1 && number <= columns) return number - 1;
  if (!options.has_targets) return -1;
  refuse_array("has no column '" + options.target + "'; in a matrix, columns go by number, 1 to " +
               std::to_string(columns));
}

MatrixColumns matrix_columns(Index count, bool may_have_target, const DataFormat& options) {
  const ChosenColumns chosen =
      options.learned.empty() ? choose_columns(options.choice, {}, count, false) : choose_by_number({}, count);
  const bool named = !options.target.empty();
  const auto target_of = [&] { return may_have_target ? target_column(count, chosen, options) : Index{-1}; };
  const auto place_of = [](Index column) {
    return column < 0 ? ChosenColumns::none : static_cast<std::size_t>(column);
  };
  PlacedColumns placed;
  if (!options.learned.empty()) {
    placed = place_columns(options.learned, count, named ? place_of(target_of()) : ChosenColumns::none,
                           may_have_target && options.has_targets);
  } else {
    placed.target = place_of(target_of());
    if (placed.target == ChosenColumns::none && may_have_target && options.has_targets) {
      refuse_array("has no column that is not dropped");
    }
    placed.is_feature = chosen.features(placed.target, named);
  }
  MatrixColumns out;
  if (placed.target != ChosenColumns::none) out.target = static_cast<Index>(placed.target);
  for (const bool is_feature : placed.is_feature) out.place.push_back(is_feature ? out.features++ : -1);
  return out;
}

void check_finite(double x, Index row, Index column) {
  if (std::isfinite(x)) return;
  refuse_array("row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1) + ": found " + shortest(x) +
               ", expected a finite number");
}

StoredMatrix read_matrix(NpyInput& in, const std::string& what, bool may_have_target, const DataFormat& options) {
  if (in.shape().size() != 2) {
    refuse_array(what + " has " + std::to_string(in.shape().size()) + " dimensions, expected 2: a row for each sample");
  }
  const Index samples = in.shape()[0];
  const Index columns = in.shape()[1];
  if (samples == 0 && !options.may_be_empty) refuse_array("holds no samples");
  if (columns == 0) refuse_array("holds no features");
  const MatrixColumns found = matrix_columns(columns, may_have_target, options);
  check_columns(found.features, may_have_target && found.target < 0, options);
  const KeptRows kept(options);
  StoredMatrix out{Rows(kept.count(samples), found.features),
                   MeteredVector<double>(found.target < 0 ? 0 : static_cast<std::size_t>(samples)), found,
                   places(kept, samples)};
  // Runs in the file's order: rows, or columns if the first index runs fastest.
  const bool by_columns = in.fortran_order();
  MeteredVector<double> run(by_columns ? samples : columns);
  for (Index i = 0; i < (by_columns ? columns : samples); ++i) {
    in.read(run);
    for (Index j = 0; j < static_cast<Index>(run.size()); ++j) {
      const Index row = by_columns ? j : i;
      const Index column = by_columns ? i : j;
      const double x = run[j];
      if (found.counts(column)) check_finite(x, row, column);
      out.set(row, column, x);
    }
  }
  return out;
}

/// The positions of the features, if some were left out.
LearnedColumns learned_columns(const MatrixColumns& columns, const DataFormat& options) {
  LearnedColumns out;
  if (options.choice.empty()) return out;
  for (std::size_t c = 0; c < columns.place.size(); ++c) {
    if (columns.place[c] >= 0) out.features.push_back(static_cast<Index>(c) + 1);
  }
  out.width = static_cast<Index>(columns.place.size());
  out.target = columns.target + 1;
  return out;
}

void set_targets(DataTable& table, std::span<const double> values, const DataFormat& options) {
  TargetColumn targets(options.labels);
  targets.reserve(values.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    const std::string wrong = targets.add(values[n]);
    if (!wrong.empty()) refuse_array("row " + std::to_string(n + 1) + ": " + wrong);
  }
  targets.finish(table);
}

/// The first of these names that the archive has.
std::string first_of(const NpzReader& archive, const std::string& what, std::initializer_list<const char*> names) {
  std::string all;
  for (const char* name : names) {
    if (archive.has(name)) return name;
    all += (all.empty() ? "" : " or ") + std::string(name);
  }
  std::string found;
  for (const std::string& name : archive.names()) found += (found.empty() ? "" : ", ") + name;
  refuse_array("has no array of " + what + ", " + all + "; its arrays: " + (found.empty() ? "none" : found));
}

MeteredVector<double> read_target_array(const NpzReader& archive, Index samples) {
  const std::string name = first_of(archive, "targets", {"targets", "y", "target"});
  NpyInput in = archive.stream(name);
  const auto& shape = in.shape();
  const bool is_column = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  if (!is_column || shape[0] != samples) {
    std::string text;
    for (const Index n : shape) text += (text.empty() ? "" : " x ") + std::to_string(n);
    refuse_array("the array '" + name + "' is " + (text.empty() ? "one number" : text) + ", expected " +
                 std::to_string(samples) + " targets, as there are rows of features");
  }
  MeteredVector<double> out(samples);
  in.read(out);
  return out;
}

DataTable open_npy(const std::string& file, const DataFormat& options) {
  ByteSource source(file);
  NpyInput in([&](char* out, std::size_t count) { return source.read(out, count); },
              {source.max_bytes(), !source.is_packed()}, "the file");
  StoredMatrix matrix = read_matrix(in, "the array", true, options);
  DataTable out;
  out.features = std::move(matrix.rows);
  out.columns = learned_columns(matrix.columns, options);
  if (!options.has_targets) return out;
  set_targets(out, matrix.apart, options);
  out.target_name = std::to_string(matrix.columns.target + 1);
  return out;
}

DataTable open_npz(const std::string& file, const DataFormat& options) {
  if (ByteSource(file).is_packed())
    refuse_array("is a gzip file; an NPZ is already compressed, so unpack it with gunzip first");
  const NpzReader archive(file);
  const std::string name = first_of(archive, "features", {"features", "X", "data"});
  NpyInput in = archive.stream(name);
  DataTable out;
  StoredMatrix matrix = read_matrix(in, "the array '" + name + "'", false, options);
  out.features = std::move(matrix.rows);
  out.columns = learned_columns(matrix.columns, options);
  if (options.has_targets) set_targets(out, read_target_array(archive, in.shape()[0]), options);
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

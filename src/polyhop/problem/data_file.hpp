// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/problem/column_choice.hpp"
#include "polyhop/problem/data_table.hpp"

namespace polyhop {

/// How to read a data file: what the file does not say itself.
struct DataFormat {
  /// CSV, NPY: the target column's name, or its number from 1; empty: the last column that is not dropped
  std::string target = {};
  Index columns = 0;  // features: this many (LIBSVM: at least this many); 0: as the file says
  /// false: features only; a LIBSVM line's label, or the column called `target`, is ignored if present
  bool has_targets = true;
  /// CSV with a header: the columns that are features, by name; all others are ignored, whatever they hold. Empty: all
  /// columns but the target.
  std::vector<std::string> features = {};
  std::vector<std::string> labels = {};  // the training classes in order, if they had names; no others are accepted
  /// CSV, NPY, NPZ: which columns are features, if not all but the target. Rejected for other formats.
  ColumnChoice choice = {};
  bool may_lack_dropped = false;  // a name to drop may be missing: DataTable::not_dropped lists it
  /// CSV without a header, NPY, NPZ: the positions of a model's features; `choice` and `columns` are ignored then.
  LearnedColumns learned = {};
  bool with_ids = false;      // CSV: read the cells of the column `choice.id`, if it exists
  bool skip_missing = false;  // CSV: leave out rows that lack a value they need, and count them; else reject them
  bool may_be_empty = false;  // the file may name its columns and hold no samples
  /// The samples whose features are kept, numbered from 0, ascending; empty: all. All targets are kept.
  std::optional<std::vector<Index>> keep = {};
};

/// The samples of a file: LIBSVM (.svm .libsvm .txt), CSV (.csv .tsv), NumPy (.npy .npz) or IDX (-idx3-ubyte); all but
/// NPZ may be compressed (.gz). The extension decides; if it is unknown, or if text under a LIBSVM extension looks like
/// CSV, the content decides.
/// - LIBSVM: "label index:value ...", indices from 1 and rising, # starts a comment; the features are sparse.
/// - CSV: separated by commas, semicolons or tabs, quoted as in RFC 4180; a first line with a cell that is not a number
///   names the columns (a label like those in the second line does not count). Targets that are words become classes in
///   sorted order.
/// - NPZ: the arrays features (or X, data), n x M, and targets (or y, target), n. NPY: one matrix.
/// - IDX: images, one row each; the labels come from the file of the same name with labels-idx1 instead of images-idx3.
/// Throws InputError with the file's name, and the line if there is one, for anything else: not an ordinary file,
/// malformed text, a missing value, a number that is not finite, a damaged archive; and as soon as it would exceed the
/// memory limit. The file's content bounds the memory used.
DataTable read_data(const std::string& file, const DataFormat& options = {});

/// The name of a CSV file's target column; empty for other formats, and if the columns have no names.
std::string target_in(const std::string& file, const DataFormat& options);

/// Throws InputError if columns were chosen, for formats whose columns have no names or numbers.
void refuse_choice(const DataFormat& options, const std::string& file);

}  // namespace polyhop

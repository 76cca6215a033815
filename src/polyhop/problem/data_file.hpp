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

/// What a data file does not say itself.
struct DataFormat {
  /// CSV, NPY: the target column's name, or its number from 1; empty: the last column that is not dropped
  std::string target = {};
  Index columns = 0;  // features: as many (LIBSVM: at least as many) as this; 0: as the file says
  /// false: features alone; a LIBSVM line's label, or the column called `target`, may be present and is ignored
  bool has_targets = true;
  /// CSV with a header: the columns that are features, by name; all others are ignored, whatever they hold. None
  /// given: all columns but the target.
  std::vector<std::string> features = {};
  std::vector<std::string> labels = {};  // the classes of training in order, where it had names; none but these
  /// CSV, NPY, NPZ: which columns are features, where not all but the target are. Refused for other formats.
  ColumnChoice choice = {};
  bool may_lack_dropped = false;  // a name that is to be dropped may be missing: DataTable::not_dropped lists it
  /// CSV without a header, NPY, NPZ: where a model's features stood; `choice` and `columns` do not count then.
  LearnedColumns learned = {};
  bool with_ids = false;      // CSV: the cells of the column `choice.id`, where it is there
  bool skip_missing = false;  // CSV: leave out rows that lack a value they need, and count them; else they are refused
  bool may_be_empty = false;  // a file that says what its columns are, and holds no samples
  /// The samples, numbered from 0 and rising, whose features are kept; none given: all. Targets are all kept.
  std::optional<std::vector<Index>> keep = {};
};

/// The samples of a file: LIBSVM (.svm .libsvm .txt), CSV (.csv .tsv), NumPy (.npy .npz) or IDX (-idx3-ubyte), all
/// but NPZ also compressed (.gz). The extension decides; where it says nothing, or text under a LIBSVM extension looks
/// like CSV, the content does.
/// - LIBSVM: "label index:value ...", indices from 1 and rising, # starts a comment; the features are sparse.
/// - CSV: separated by commas, semicolons or tabs, quoted as in RFC 4180; a first line with a cell that is no number,
///   other than a label as in the second, names the columns. Targets that are words become classes in sorted order.
/// - NPZ: the arrays features (or X, data), n x M, and targets (or y, target), n. NPY: one matrix.
/// - IDX: images, a row each; the labels from the file beside it whose name has labels-idx1 for images-idx3.
/// Throws InputError with the file, and the line where there is one, for anything else: no ordinary file, malformed
/// text, a missing value, a number that is not finite, a damaged archive, and as soon as what is read
/// would exceed the memory limit. Memory is bounded by what the file holds.
DataTable read_data(const std::string& file, const DataFormat& options = {});

/// Throws InputError where columns were chosen: what has no columns by name or number.
void refuse_choice(const DataFormat& options, const std::string& file);

}  // namespace polyhop

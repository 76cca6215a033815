// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/npz_writer.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/problem/column_choice.hpp"
#include "polyhop/problem/data_file.hpp"
#include "polyhop/problem/model_options.hpp"

namespace polyhop {

/// A fitted linear model, with everything needed to predict with it and to explain it. Its scores at features h are
/// weights h + intercept, with h as it is in a data file: the weights already undo any standardising. With unit_rows
/// they are weights h / ||h|| + intercept, and 0 stays 0.
struct Model {
  ModelOptions options;               // how it was fitted: the loss, the penalty, what was done to the features
  std::vector<std::string> features;  // names of the M features, or empty
  std::string target;                 // the predicted column: its name, or number from 1; or empty
  LearnedColumns columns = {};        // positions of unnamed features, if some columns were left out
  std::string id = {};                // the column that names the samples, by name or number; or empty
  /// Names, or numbers as text; in the order of the rows of weights or, for two classes, class -1, then +1; empty for a
  /// model that predicts numbers.
  std::vector<std::string> classes;
  Rows weights;                   // one row per class with softmax, otherwise one row; M columns
  std::vector<double> intercept;  // one per row of weights; 0 without an intercept
  std::vector<double> mean;       // what standardising subtracted and divided by, M numbers each, or empty
  std::vector<double> scale;
  std::vector<std::pair<std::string, std::string>>
      provenance;  // how it came about: version, data, graph, algorithm, ...
};

/// How to read a file for the model, whatever else it contains. `target`: its column as the user names it, or empty; it
/// may be missing if none is needed.
DataFormat format_for(const Model& model, const std::string& target, bool has_targets);

inline bool predicts_classes(const Model& model) { return !model.classes.empty(); }

/// Writes an NPZ file: arrays `weights` (C x M), `intercept` (C) and, if features were standardised, `mean` and `scale`
/// (M) for numpy.load; everything else as JSON in the member metadata.json. The file appears completely or not at all.
/// Throws InputError on a model whose parts do not fit together and Error if the file cannot be written.
void save_model(const Model& model, const std::string& path);
/// The same into a file that is already open.
void save_model(const Model& model, NpzWriter& out);

/// Reads it back, even if version 0.1 wrote it; its loss must be one of `losses`. Throws InputError with the file's
/// name on anything that save_model would not have written.
Model load_model(const std::string& path, std::span<const LossEntry> losses = polyhop::losses());

}  // namespace polyhop

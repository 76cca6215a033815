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
/// weights h + intercept, h as it stands in a data file: what standardising did is undone in the weights. With
/// unit_rows they are weights h / ||h|| + intercept, and 0 stays 0.
struct Model {
  ModelOptions options;               // how it was fitted: the loss, the penalty, what was done to the features
  std::vector<std::string> features;  // names of the M features, or empty
  std::string target;                 // the column that is predicted: its name, or number from 1; or empty
  LearnedColumns columns = {};        // of features without names: where they stood, if some columns were left out
  std::string id = {};                // the column that says what a sample is called, by name or number; or empty
  /// Names, or numbers as text; in the order of the rows of weights, or of two classes the class -1, then +1; empty
  /// where numbers are predicted.
  std::vector<std::string> classes;
  Rows weights;                   // a row for each class with softmax, else one row; M columns
  std::vector<double> intercept;  // one per row of weights; 0 without an intercept
  std::vector<double> mean;       // what standardising subtracted and divided by, M numbers each, or empty
  std::vector<double> scale;
  std::vector<std::pair<std::string, std::string>>
      provenance;  // how it came about: version, data, graph, algorithm, ...
};

/// How to read a file for the model, whatever else it holds. `target`: its column as the user calls it, or empty; it
/// may be missing if none is needed.
DataFormat format_for(const Model& model, const std::string& target, bool has_targets);

inline bool predicts_classes(const Model& model) { return !model.classes.empty(); }

/// Writes an NPZ file: arrays `weights` (C x M), `intercept` (C) and, where features were standardised, `mean` and
/// `scale` (M) for numpy.load; all else as JSON in the member metadata.json. The file appears as a whole or not at
/// all. Throws InputError on a model whose parts do not fit together and Error when the file cannot be written.
void save_model(const Model& model, const std::string& path);
/// The same into a file that was opened before the work.
void save_model(const Model& model, NpzWriter& out);

/// Reads it back, also as version 0.1 wrote it; its loss is one of these. Throws InputError with the file's name on
/// anything that save_model would not have written.
Model load_model(const std::string& path, std::span<const LossEntry> losses = polyhop::losses());

}  // namespace polyhop

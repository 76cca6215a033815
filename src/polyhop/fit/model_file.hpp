// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/npz_writer.hpp"
#include "polyhop/core/real.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// A linear model that was learned, with all that predicting and explaining it needs. Its scores at features h are
/// weights h + intercept, h as it stands in a data file: what standardising did is undone in the weights. With
/// unit_rows they are weights h / ||h|| + intercept, and 0 stays 0.
struct Model {
  std::string loss = "least-squares";  // least-squares logistic softmax huber smoothed-hinge poisson
  Real delta = 1;                      // of the Huber loss
  Real l2 = 0;
  bool unit_rows = false;             // every sample was divided by its norm, before it was standardised
  std::vector<std::string> features;  // names of the M features, or empty
  std::string target;                 // the column that is predicted: its name, or number from 1; or empty
  /// Names, or numbers as text; softmax: in the order of the rows of weights; logistic and smoothed-hinge: the class
  /// -1, then +1; empty where numbers are predicted.
  std::vector<std::string> classes;
  Rows weights;                 // a row for each class with softmax, else one row; M columns
  std::vector<Real> intercept;  // one for each row of weights, 0 where there is none
  std::vector<Real> mean;       // what standardising subtracted and divided by, M numbers each, or empty
  std::vector<Real> scale;
  std::vector<std::pair<std::string, std::string>>
      provenance;  // how it came about: version, data, graph, algorithm, ...
};

/// What a loss predicts: a number; a number that is positive, the exponential of the score; one of two classes, by the
/// sign of the score; one of many, by the largest score.
enum class Task { number, count, two_classes, many_classes };
/// Throws InputError on a name that is no loss.
Task task_of(const std::string& loss);
inline Task task_of(const Model& model) { return task_of(model.loss); }
inline bool predicts_classes(const Model& model) { return !model.classes.empty(); }

/// Writes an NPZ file: arrays `weights` (C x M), `intercept` (C) and, where features were standardised, `mean` and
/// `scale` (M) for numpy.load; all else as JSON in the member metadata.json. The file appears as a whole or not at
/// all. Throws InputError on a model whose parts do not fit together and Error when the file cannot be written.
void save_model(const Model& model, const std::string& path);
/// The same into a file that was opened before the work.
void save_model(const Model& model, NpzWriter& out);

/// Reads it back. Throws InputError with the file's name on anything that save_model would not have written.
Model load_model(const std::string& path);

}  // namespace polyhop

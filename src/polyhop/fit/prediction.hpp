// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/fit/model_file.hpp"
#include "polyhop/problem/data_table.hpp"

namespace polyhop {

/// weights h + intercept for every sample, with h divided by its norm if the model says so: row c of the C x n result
/// holds the scores for row c of the weights. If both model and data name their features, they are matched by name, in
/// any order, and unknown columns are ignored; otherwise they are matched by position and must be equally many (sparse
/// data may have fewer: missing features are 0). Throws InputError that names a missing feature.
Rows model_scores(const Model& model, const DataTable& data);

/// The predictions of a model for numbers or counts, from its scores.
std::vector<double> predicted_values(const Model& model, const Rows& scores);

/// The predicted classes, as indices into model.classes: the largest score, the first if several are equal; with two
/// classes the second if the score is positive.
std::vector<Index> predicted_classes(const Model& model, const Rows& scores);

/// Whether a loss has probabilities: logistic and softmax.
bool has_probabilities(const Model& model);

/// Row c holds the probability of class c for all samples. Throws InputError for a loss without probabilities.
Rows probabilities(const Model& model, const Rows& scores);

/// The data's targets as indices into model.classes. Names are matched as they are, numbers by value. Throws InputError
/// on a target that is not one of the classes.
std::vector<Index> true_classes(const Model& model, const DataTable& data);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/fit/model_file.hpp"
#include "polyhop/problem/data_table.hpp"

namespace polyhop {

/// weights h + intercept of every sample, h divided by its norm where the model says so: row c of the C x n result
/// holds what row c of the weights says of all samples. Where both model and data name their features they are matched
/// by name, in any order, and columns that the model does not know are ignored; else they are matched by their
/// place and must be as many (sparse data may have fewer: what is not there is 0). Throws InputError that names the
/// feature that is missing.
Rows model_scores(const Model& model, const DataTable& data);

/// The predicted numbers of a model that predicts numbers or counts, from its scores.
std::vector<double> predicted_values(const Model& model, const Rows& scores);

/// The predicted classes, as places in model.classes: the largest score, the first of equal ones; of two classes the
/// second where the score is positive.
std::vector<Index> predicted_classes(const Model& model, const Rows& scores);

/// Whether a loss has probabilities: logistic and softmax.
bool has_probabilities(const Model& model);

/// Row c holds the probability of class c for all samples. Throws InputError for a loss that has none.
Rows probabilities(const Model& model, const Rows& scores);

/// The data's targets as places in model.classes. Names are matched as they are, numbers by their value. Throws
/// InputError on a target that is none of the classes.
std::vector<Index> true_classes(const Model& model, const DataTable& data);

}  // namespace polyhop

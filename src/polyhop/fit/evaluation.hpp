// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/fit/metrics.hpp"
#include "polyhop/fit/model_file.hpp"
#include "polyhop/problem/data_table.hpp"

namespace polyhop {

/// How good a model is on one class.
struct ClassEvaluation {
  std::string name;
  Index samples = 0;
  double precision = 0;
  double recall = 0;
};

/// How good a model is on data. Undefined values are NaN.
struct ModelEvaluation {
  Index samples = 0;
  /// Numbers: rmse, mae, r2. Counts: these and poisson_deviance. Classes: accuracy, log_loss if the loss has
  /// probabilities, auc for two classes. All: mean_loss, without the l2 penalty.
  std::vector<std::pair<std::string, double>> metrics;
  std::vector<ClassEvaluation> classes;  // in the model's order; empty for numbers
  metrics::Confusion confusion;          // rows: the true classes
};

/// Throws InputError if the data have no targets, or targets that the model could not predict.
ModelEvaluation evaluate(const Model& model, const DataTable& data);

/// The same from scores, as model_scores returns them, and targets as a loss takes them: numbers, -1 and 1 for two
/// classes, 0, 1, ... for softmax.
ModelEvaluation evaluate_scores(const Model& model, const Rows& scores, std::span<const double> targets);

/// How good a model is on each class, from a confusion matrix.
std::vector<ClassEvaluation> class_evaluations(const Model& model, const metrics::Confusion& confusion);

/// The name of a metric of ModelEvaluation, and its meaning.
struct MetricText {
  std::string_view key, name, help;
};
/// Throws Error for an unknown key.
const MetricText& metric_text(std::string_view key);

}  // namespace polyhop

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

/// How good a model is on data. What is not defined is NaN.
struct ModelEvaluation {
  Index samples = 0;
  /// Numbers: rmse, mae, r2. Counts: these and poisson_deviance. Classes: accuracy, log_loss where the loss has
  /// probabilities, auc of two classes. All: mean_loss, without what l2 adds.
  std::vector<std::pair<std::string, double>> metrics;
  std::vector<ClassEvaluation> classes;  // in the order of the model's; empty for numbers
  metrics::Confusion confusion;          // rows: the true classes
};

/// Throws InputError where the data have no targets, or none that the model could predict.
ModelEvaluation evaluate(const Model& model, const DataTable& data);

/// The same from scores, as model_scores gives them, and targets as a loss takes them: numbers, -1 and 1 for two
/// classes, 0, 1, ... for softmax.
ModelEvaluation evaluate_scores(const Model& model, const Rows& scores, std::span<const double> targets);

/// How good a model is on each class, from counts.
std::vector<ClassEvaluation> class_evaluations(const Model& model, const metrics::Confusion& confusion);

/// What a metric of ModelEvaluation is called, and what it means.
struct MetricText {
  std::string_view key, name, help;
};
/// Throws Error for a key that is none.
const MetricText& metric_text(std::string_view key);

}  // namespace polyhop

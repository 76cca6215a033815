// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/real.hpp"
#include "polyhop/experiment/metrics.hpp"
#include "polyhop/experiment/model_file.hpp"
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

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/evaluation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>

#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/fit/prediction.hpp"

namespace polyhop {
namespace {

double mean_loss(const Model& model, std::span<const double> z, std::span<const double> y) {
  std::vector<double> values(z.size());
  model.options.loss.loss->values(z, y, values);
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void require_counts(std::span<const double> targets) {
  for (std::size_t n = 0; n < targets.size(); ++n) {
    if (targets[n] >= 0) continue;
    throw InputError("sample " + std::to_string(n + 1),
                     "the target is " + shortest(targets[n]) + "; a model of counts takes targets >= 0");
  }
}

ModelEvaluation evaluate_numbers(const Model& model, std::span<const double> targets, const Rows& z) {
  const std::vector<double> predicted = predicted_values(model, z);
  ModelEvaluation out;
  out.samples = z.columns();
  out.metrics = {{"rmse", metrics::root_mean_squared_error(targets, predicted)},
                 {"mae", metrics::mean_absolute_error(targets, predicted)},
                 {"r2", metrics::r2(targets, predicted)}};
  if (model.options.loss.task == Task::counts) {
    out.metrics.emplace_back("poisson_deviance", metrics::mean_poisson_deviance(targets, predicted));
  }
  out.metrics.emplace_back("mean_loss", mean_loss(model, z.row(0), targets));
  return out;
}

// For logistic and softmax the mean loss is the log-loss.
double mean_loss_of_classes(const Model& model, std::span<const Index> truth, const Rows& z) {
  if (has_probabilities(model)) return metrics::log_loss(truth, z);
  std::vector<double> signs(truth.size());
  std::ranges::transform(truth, signs.begin(), [](Index c) { return c == 1 ? 1.0 : -1.0; });
  return mean_loss(model, z.row(0), signs);
}

ModelEvaluation evaluate_classes(const Model& model, const std::vector<Index>& truth, const Rows& z) {
  const std::vector<Index> predicted = predicted_classes(model, z);
  ModelEvaluation out;
  out.samples = z.columns();
  out.metrics = {{"accuracy", metrics::accuracy(truth, predicted)}};
  if (has_probabilities(model)) out.metrics.emplace_back("log_loss", metrics::log_loss(truth, z));
  if (model.options.loss.task == Task::two_classes)
    out.metrics.emplace_back("auc", metrics::area_under_curve(truth, z.row(0)));
  out.metrics.emplace_back("mean_loss", mean_loss_of_classes(model, truth, z));
  out.confusion = metrics::confusion_matrix(truth, predicted, static_cast<Index>(model.classes.size()));
  out.classes = class_evaluations(model, out.confusion);
  return out;
}

}  // namespace

ModelEvaluation evaluate(const Model& model, const DataTable& data) {
  if (data.targets.empty()) throw InputError("", "the data have no targets to compare with");
  const Rows z = model_scores(model, data);
  if (predicts_classes(model)) return evaluate_classes(model, true_classes(model, data), z);
  if (!data.labels.empty()) {
    throw InputError("", "the targets are words (" + in_quotes(data.labels.front()) + "); the model predicts numbers");
  }
  if (model.options.loss.task == Task::counts) require_counts(data.targets);
  return evaluate_numbers(model, data.targets, z);
}

ModelEvaluation evaluate_scores(const Model& model, const Rows& scores, std::span<const double> targets) {
  if (!predicts_classes(model)) return evaluate_numbers(model, targets, scores);
  const bool two = model.options.loss.task == Task::two_classes;
  std::vector<Index> truth(targets.size());
  std::ranges::transform(targets, truth.begin(), [&](double y) { return static_cast<Index>(two ? y > 0 : y); });
  return evaluate_classes(model, truth, scores);
}

std::vector<ClassEvaluation> class_evaluations(const Model& model, const metrics::Confusion& confusion) {
  std::vector<ClassEvaluation> out;
  for (std::size_t c = 0; c < model.classes.size(); ++c) {
    const auto place = static_cast<Index>(c);
    out.push_back({model.classes[c], metrics::support(confusion, place), metrics::precision(confusion, place),
                   metrics::recall(confusion, place)});
  }
  return out;
}

const MetricText& metric_text(std::string_view key) {
  static constexpr std::array<MetricText, 8> texts = {{
      {"rmse", "RMSE", "root of the mean squared error"},
      {"mae", "MAE", "mean absolute error"},
      {"r2", "R2", "share of the targets' variance explained"},
      {"poisson_deviance", "Poisson deviance", "mean; 0 is perfect"},
      {"accuracy", "accuracy", "share of samples classified correctly"},
      {"log_loss", "log-loss", "mean of -ln p(true class)"},
      {"auc", "AUC", "how often the second class scores higher than the first"},
      {"mean_loss", "mean loss", "what training minimised, without l2"},
  }};
  const auto found = std::ranges::find(texts, key, &MetricText::key);
  if (found == texts.end()) throw Error("there is no metric '" + std::string(key) + "'");
  return *found;
}

}  // namespace polyhop

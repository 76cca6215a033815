// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/html_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

#include "polyhop/report/html_page.hpp"
#include "polyhop/report/page_json.hpp"
#include "polyhop/report/thinning.hpp"

namespace polyhop {
namespace {

using namespace page_json;

// What a page may hold, so that it opens at once.
constexpr Index listed_coefficients = 20'000;
constexpr Index listed_classes = 100;

std::string source_of(const FitOptions& options) {
  return options.data.bundled.empty() ? options.data.file : options.data.bundled;
}

std::string_view dealt_text(PartitionKind kind) {
  switch (kind) {
    case PartitionKind::iid:
      return "dealt at random";
    case PartitionKind::blocks:
      return "dealt in the file's order";
    case PartitionKind::label:
      return "dealt in order of the target";
    case PartitionKind::dirichlet:
      return "dealt unevenly by target";
    case PartitionKind::sizes:
      return "dealt at random in uneven shares";
  }
  return "";
}

// "569 samples, 30 features, 2 classes; 16 agents, ring, dealt at random; 57 samples held out"
std::string facts_of(const FitOptions& options, const FitResult& result) {
  const auto counted = [](Index n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  const bool own_files = options.data.bundled.empty() && AgentFiles::from(options.data.file).has_value();
  std::string out = counted(result.samples, "sample") + ", " + counted(result.model.weights.columns(), "feature");
  if (!result.model.classes.empty()) out += fmt::format(", {} classes", result.model.classes.size());
  out += fmt::format("; {}, {}, {}", counted(result.agents, "agent"), name_of(options.graph.topology),
                     own_files ? "a file of each agent's own" : dealt_text(options.model.partition.kind));
  if (result.skipped > 0) out += "; " + counted(result.skipped, "row") + " with missing values skipped";
  if (result.held_out) out += "; " + counted(result.held_out->samples, "sample") + " held out";
  return out;
}

std::string history_json(const FitOptions& options, const FitResult& result) {
  const auto kept = thinned(static_cast<Index>(result.history.size()), curve_points);
  const auto column = [&](double FitState::*member) {
    return list_of(kept, [&](Index n) { return json(result.history[n].*member, chart_digits); });
  };
  return object(
      {{"iterations", list_of(kept, [&](Index n) { return json(result.history[n].iteration); })},
       {"gradient", options.has_full_gradients() ? column(&FitState::gradient) : "null"},
       {"disagreement", options.chosen_method() == FitMethod::tree ? "null" : column(&FitState::disagreement)},
       {"held_out", result.held_out ? column(&FitState::held_out) : "null"}});
}

// Features in the order of what one deviation of each changes, as coefficients of features in unlike units cannot be
// compared; by their coefficients where deviations are not known.
std::vector<Index> largest_first(const FitResult& result) {
  const Model& model = result.model;
  std::vector<double> size(model.weights.columns());
  for (std::size_t j = 0; j < size.size(); ++j) {
    for (Index c = 0; c < model.weights.rows(); ++c) {
      size[j] = std::max(size[j], std::abs(model.weights(c, static_cast<Index>(j))));
    }
    if (!result.deviation.empty()) size[j] *= result.deviation[j];
  }
  std::vector<Index> out(size.size());
  std::iota(out.begin(), out.end(), Index{0});
  std::ranges::stable_sort(out, std::ranges::greater{}, [&](Index j) { return size[j]; });
  return out;
}

std::string feature_name(const Model& model, Index j) {
  return model.features.empty() ? fmt::format("feature {}", j + 1) : model.features[j];
}

// The rows of weights by name: the classes, or the one class that positive scores speak for, or what is predicted.
std::vector<std::string> outputs_of(const Model& model) {
  if (model.options.loss.task == Task::classes) return model.classes;
  if (model.options.loss.task == Task::two_classes) return {model.classes.at(1)};
  return {model.target.empty() ? "target" : model.target};
}

// What a coefficient adds to.
std::string subject_of(const Model& model) {
  const Task task = model.options.loss.task;
  if (task == Task::classes) return "a class's score";
  if (task == Task::two_classes) return "the score of '" + model.classes.at(1) + "'";
  return task == Task::counts ? "the logarithm of the prediction" : "the prediction";
}

// The scores of a sample whose features are all at their mean: the intercepts that go with effects of deviations.
std::vector<double> intercepts_at_mean(const FitResult& result) {
  const Model& model = result.model;
  std::vector<double> out = model.intercept;
  for (std::size_t c = 0; c < out.size(); ++c) {
    for (std::size_t j = 0; j < result.mean.size(); ++j) {
      out[c] += model.weights(static_cast<Index>(c), static_cast<Index>(j)) * result.mean[j];
    }
  }
  return out;
}

std::string coefficients_json(const FitResult& result) {
  const Model& model = result.model;
  const bool comparable = !result.deviation.empty();
  std::vector<Index> order = largest_first(result);
  const auto total = static_cast<Index>(order.size());
  order.resize(std::min(total, std::max<Index>(1, listed_coefficients / model.weights.rows())));
  std::vector<Index> rows(model.weights.rows());
  std::iota(rows.begin(), rows.end(), Index{0});
  const auto weights = [&](Index j) { return list_of(rows, [&](Index c) { return json(model.weights(c, j)); }); };
  const auto plain = [](double x) { return json(x); };
  const auto scale = [&](Index j) { return json(result.deviation[j]); };
  return object({{"subject", json(subject_of(model))},
                 {"outputs", list_of(outputs_of(model), [](const std::string& s) { return json(s); })},
                 {"features", list_of(order, [&](Index j) { return json(feature_name(model, j)); })},
                 {"weights", list_of(order, weights)},
                 {"scale", comparable ? list_of(order, scale) : "null"},
                 {"intercept", list_of(model.intercept, plain)},
                 {"at_mean", comparable ? list_of(intercepts_at_mean(result), plain) : "null"},
                 {"total", json(total)}});
}

std::string metric_json(const std::pair<std::string, double>& metric) {
  const MetricText& text = metric_text(metric.first);
  return list({json(text.name), json(metric.second), json(text.help)});
}

std::string class_json(const ClassEvaluation& c) {
  return list({json(c.name), json(c.samples), json(c.precision), json(c.recall)});
}

std::string evaluation_json(const ModelEvaluation& evaluation) {
  const bool listed = static_cast<Index>(evaluation.classes.size()) <= listed_classes;
  const auto counts = [](const std::vector<Index>& row) { return list_of(row, [](Index n) { return json(n); }); };
  return object({{"samples", json(evaluation.samples)},
                 {"metrics", list_of(evaluation.metrics, metric_json)},
                 {"classes", list_of(evaluation.classes, class_json)},
                 {"confusion", listed ? list_of(evaluation.confusion, counts) : "[]"}});
}

Value settings_of(FitOptions options, const FitResult& result) {
  options.model.loss = result.model.options.loss;  // which may follow from the target
  Value out = Value::Table{{"data", Value(source_of(options))}};
  if (!options.data.target.empty()) out["target"] = Value(options.data.target);
  const ColumnChoice& choice = options.data.choice;
  if (!choice.columns.empty()) out["columns"] = Codec<std::vector<std::string>>::write(choice.columns);
  if (!choice.drop.empty()) out["drop"] = Codec<std::vector<std::string>>::write(choice.drop);
  if (!choice.id.empty()) out["id"] = Value(choice.id);
  const Value options_of_fit = FitOptions::fields().write(options);
  for (const auto& [key, value] : *options_of_fit.as<Value::Table>()) out[key] = value;
  return out;
}

std::string traffic_json(const FitResult& result) {
  return object({{"rounds", json(result.traffic.rounds)},
                 {"vectors", json(result.traffic.vectors)},
                 {"scalars", json(result.traffic.scalars)},
                 {"gradients", json(result.gradients)},
                 {"seconds", json(result.seconds)}});
}

}  // namespace

std::string html_fit(const FitOptions& options, const FitResult& result, const std::string& ending) {
  const std::string title = result.model.options.loss.name + " on " + source_of(options);
  const bool has_model = result.end != FitEnd::diverged;
  const bool good = is_good(result.end);
  const std::string data =
      object({{"title", json(title)},
              {"facts", json(facts_of(options, result))},
              {"ending", json(ending)},
              {"good", good ? "true" : "false"},
              {"history", history_json(options, result)},
              {"tolerance", options.has_full_gradients() ? json(options.tolerance) : "null"},
              {"coefficients", has_model ? coefficients_json(result) : "null"},
              {"cost", json(result.cost)},
              {"penalised", options.model.l2 > 0 ? "true" : "false"},
              {"kept", result.held_out ? json(result.state.kept) : "null"},
              {"fitted", has_model ? evaluation_json(result.fitted) : "null"},
              {"held_out", has_model && result.held_out ? evaluation_json(*result.held_out) : "null"},
              {"traffic", traffic_json(result)},
              {"settings", settings_json(settings_of(options, result), "Fit")},
              {"provenance", pairs_json(result.model.provenance)}});
  return filled_page(fit_page(), title, data);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/prediction.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "polyhop/core/elementary.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop {
namespace {

// The position of each of the model's features in the data.
std::vector<Index> places_by_name(const Model& model, const DataTable& data) {
  std::map<std::string, Index> place;
  for (std::size_t j = 0; j < data.names.size(); ++j) {
    if (!place.emplace(data.names[j], static_cast<Index>(j)).second) place[data.names[j]] = -1;
  }
  std::vector<Index> out;
  for (const std::string& name : model.features) {
    const auto found = place.find(name);
    if (found == place.end()) {
      throw InputError("",
                       "the model's feature " + in_quotes(name) + " is not in the data" + suggestion(name, data.names));
    }
    if (found->second < 0) throw InputError("", "two columns of the data have the name " + in_quotes(name));
    out.push_back(found->second);
  }
  return out;
}

void require_as_many(const Model& model, const DataTable& data) {
  const Index wanted = model.weights.columns();
  const Index found = data.features.columns();
  if (found == wanted || (data.features.is_sparse() && found < wanted)) return;
  throw InputError("", "the data have " + std::to_string(found) + (found == 1 ? " feature" : " features") +
                           ", the model was trained on " + std::to_string(wanted));
}

// The position of each of the model's features in the data; empty: the same positions.
std::vector<Index> places_of(const Model& model, const DataTable& data) {
  const bool named = !model.features.empty() && !data.names.empty();
  if (named && model.features != data.names) return places_by_name(model, data);
  require_as_many(model, data);
  return {};
}

// The weights in the order of the data's columns, 0 for unknown ones.
Rows weights_at(const std::vector<Index>& places, const Model& model, const DataTable& data) {
  if (places.empty()) return model.weights;
  Rows out(model.weights.rows(), data.features.columns());
  for (Index c = 0; c < out.rows(); ++c) {
    for (std::size_t j = 0; j < places.size(); ++j) out(c, places[j]) += model.weights(c, static_cast<Index>(j));
  }
  return out;
}

// A sample's divisor: the norm of the features that the model knows; 1 if that is 0 or rows are not scaled.
double divisor(const std::vector<Index>& places, const Model& model, const Features& h, Index n) {
  if (!model.options.unit_rows) return 1;
  std::vector<double> known;
  for (const Index place : places) known.push_back(h.dense()(n, place));
  const std::span<const double> x = !places.empty() ? known : h.is_sparse() ? h.values_of(n) : h.dense().row(n);
  const int exponent = extreme_exponent(x);
  double squared = 0;
  for (const double number : x) squared += std::ldexp(number, -exponent) * std::ldexp(number, -exponent);
  return squared > 0 ? std::ldexp(std::sqrt(squared), exponent) : 1;
}

// 1 / (1 + e^-z), without overflow.
double logistic(double z) {
  const double e = elementary::exp(-std::abs(z));
  return z < 0 ? e / (1 + e) : 1 / (1 + e);
}

// softmax of column n, without overflow.
void softmax(const Rows& scores, Index n, Rows& out) {
  double largest = scores(0, n);
  for (Index c = 1; c < scores.rows(); ++c) largest = std::max(largest, scores(c, n));
  double sum = 0;
  for (Index c = 0; c < scores.rows(); ++c) sum += out(c, n) = elementary::exp(scores(c, n) - largest);
  for (Index c = 0; c < scores.rows(); ++c) out(c, n) /= sum;
}

std::optional<double> as_number(const std::string& text) {
  double x = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return x;
}

// The class of each name or number that a target can be.
class ClassPlaces {
 public:
  explicit ClassPlaces(const Model& model) : model_(model) {
    for (std::size_t c = 0; c < model.classes.size(); ++c) {
      by_name_.emplace(model.classes[c], static_cast<Index>(c));
      if (const auto x = as_number(model.classes[c])) by_number_.emplace(*x, static_cast<Index>(c));
    }
  }
  [[nodiscard]] Index of(const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return found->second;
    const auto x = as_number(name);
    return x ? of(*x) : -1;
  }
  [[nodiscard]] Index of(double x) const {
    const auto found = by_number_.find(x);
    return found == by_number_.end() ? -1 : found->second;
  }
  [[noreturn]] void refuse(std::size_t sample, const std::string& found) const {
    throw InputError(
        "sample " + std::to_string(sample + 1),
        "the class " + in_quotes(found) + " is not one the model was trained on" + suggestion(found, model_.classes));
  }

 private:
  const Model& model_;
  std::map<std::string, Index> by_name_;
  std::map<double, Index> by_number_;
};

}  // namespace

Rows model_scores(const Model& model, const DataTable& data) {
  const std::vector<Index> places = places_of(model, data);
  const Rows weights = weights_at(places, model, data);
  const Index samples = data.features.rows();
  Rows out(weights.rows(), samples);
  for (Index n = 0; n < samples; ++n) {
    const double by = divisor(places, model, data.features, n);
    for (Index c = 0; c < weights.rows(); ++c) {
      out(c, n) = data.features.dot(n, weights.row(c).data()) / by + model.intercept[c];
    }
  }
  return out;
}

std::vector<double> predicted_values(const Model& model, const Rows& scores) {
  const auto z = scores.row(0);
  std::vector<double> out(z.begin(), z.end());
  if (model.options.loss.task == Task::counts) std::ranges::transform(out, out.begin(), elementary::exp);
  return out;
}

std::vector<Index> predicted_classes(const Model& model, const Rows& scores) {
  std::vector<Index> out(scores.columns(), 0);
  const bool two = model.options.loss.task == Task::two_classes;
  for (std::size_t n = 0; n < out.size(); ++n) {
    const auto column = static_cast<Index>(n);
    if (two) out[n] = scores(0, column) > 0 ? 1 : 0;
    for (Index c = 1; c < scores.rows(); ++c) {
      if (scores(c, column) > scores(out[n], column)) out[n] = c;
    }
  }
  return out;
}

bool has_probabilities(const Model& model) { return model.options.loss.has_probabilities; }

Rows probabilities(const Model& model, const Rows& scores) {
  if (!has_probabilities(model)) {
    throw InputError("", "the loss '" + model.options.loss.name + "' has no probabilities; logistic and softmax do");
  }
  Rows out(static_cast<Index>(model.classes.size()), scores.columns());
  for (Index n = 0; n < scores.columns(); ++n) {
    if (model.options.loss.task == Task::classes) {
      softmax(scores, n, out);
    } else {
      out(0, n) = logistic(-scores(0, n));
      out(1, n) = logistic(scores(0, n));
    }
  }
  return out;
}

std::vector<Index> true_classes(const Model& model, const DataTable& data) {
  const ClassPlaces places(model);
  std::vector<Index> of_label;
  for (const std::string& label : data.labels) of_label.push_back(places.of(label));
  std::vector<Index> out;
  for (std::size_t n = 0; n < data.targets.size(); ++n) {
    const double target = data.targets[n];
    const bool named = !data.labels.empty();
    const Index place = named ? of_label.at(static_cast<std::size_t>(target)) : places.of(target);
    if (place < 0) {
      places.refuse(n, named ? data.labels.at(static_cast<std::size_t>(target)) : shortest(target));
    }
    out.push_back(place);
  }
  return out;
}

}  // namespace polyhop

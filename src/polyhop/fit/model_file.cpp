// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/model_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "polyhop/core/error.hpp"
#include "polyhop/core/npz_reader.hpp"
#include "polyhop/core/npz_writer.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/problem/loss.hpp"

namespace polyhop {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kind = "polyhop model";
constexpr int version = 1;
constexpr const char* metadata = "metadata.json";

void require(bool holds, const std::string& path, const std::string& message) {
  if (!holds) throw InputError(path, message);
}

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

void require_finite(std::span<const Real> numbers, const std::string& path) {
  require(std::ranges::all_of(numbers, [](Real x) { return std::isfinite(x); }), path,
          "holds a number that is not finite");
}

void check_classes(const Model& model) {
  const std::size_t found = model.classes.size();
  const std::string had = "the loss '" + model.loss + "' has " + counted(found, "class name");
  switch (task_of(model)) {
    case Task::number:
    case Task::count:
      require(found == 0, "classes", had + ", and predicts none");
      break;
    case Task::two_classes:
      require(found == 2, "classes", had + ", and separates two");
      break;
    case Task::many_classes:
      require(found >= 2, "classes", had + ", and needs two or more");
      break;
  }
  const std::set<std::string> different(model.classes.begin(), model.classes.end());
  require(different.size() == found, "classes", "two classes have the same name");
}

void check_shapes(const Model& model) {
  const auto columns = static_cast<std::size_t>(model.weights.columns());
  const auto rows = static_cast<std::size_t>(model.weights.rows());
  const std::size_t wanted = task_of(model) == Task::many_classes ? model.classes.size() : 1;
  require(columns > 0, "weights", "there are none");
  require(rows == wanted, "weights", "has " + counted(rows, "row") + " instead of " + std::to_string(wanted));
  const auto fits = [&](std::size_t found, std::size_t expected, const char* path) {
    require(found == expected, path, "holds " + std::to_string(found) + " instead of " + std::to_string(expected));
  };
  fits(model.intercept.size(), rows, "intercept");
  if (!model.features.empty()) fits(model.features.size(), columns, "features");
  if (!model.mean.empty() || !model.scale.empty()) {
    fits(model.mean.size(), columns, "mean");
    fits(model.scale.size(), columns, "scale");
  }
}

void check_numbers(const Model& model) {
  for (Index r = 0; r < model.weights.rows(); ++r) require_finite(model.weights.row(r), "weights");
  require_finite(model.intercept, "intercept");
  require_finite(model.mean, "mean");
  require_finite(model.scale, "scale");
  require(std::ranges::all_of(model.scale, [](Real x) { return x > 0; }), "scale", "holds a number that is not > 0");
  require(std::isfinite(model.l2) && model.l2 >= 0, "l2", "found " + shortest(model.l2) + ", expected >= 0");
  require(std::isfinite(model.delta) && model.delta > 0, "delta", "found " + shortest(model.delta) + ", expected > 0");
}

// What save_model and load_model promise each other.
void check(const Model& model) {
  check_classes(model);
  check_shapes(model);
  check_numbers(model);
}

std::string metadata_text(const Model& model) {
  Json provenance = Json::array();
  for (const auto& [name, text] : model.provenance) provenance.push_back({name, text});
  const Json out = {{"kind", kind},
                    {"version", version},
                    {"loss", model.loss},
                    {"delta", model.delta},
                    {"l2", model.l2},
                    {"unit_rows", model.unit_rows},
                    {"features", model.features},
                    {"target", model.target},
                    {"classes", model.classes},
                    {"provenance", provenance}};
  try {
    return out.dump(2) + "\n";
  } catch (const Json::exception&) {
    throw InputError("model",
                     "a name of a feature, a class or the target is not UTF-8, and a model file holds nothing else");
  }
}

// The entry of a JSON object as one type.
template <class T>
T entry(const Json& json, const char* key, const char* wanted) {
  const auto found = json.find(key);
  require(found != json.end(), key, "is missing");
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    throw InputError(key, "found " + found->dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60) +
                              ", expected " + wanted);
  }
}

double number_entry(const Json& json, const char* key) {
  const auto found = json.find(key);
  require(found != json.end() && found->is_number(), key, "expected a number");
  return found->get<double>();
}

Json parsed_metadata(const NpzReader& in) {
  require(in.has_text(metadata), "", "this is no model: metadata.json is missing; `polyhop fit` writes models");
  const Json json = Json::parse(in.text(metadata), nullptr, false);
  require(json.is_object(), metadata, "is not a JSON object");
  const auto found = json.find("kind");
  require(found != json.end() && *found == kind, metadata, "does not describe a model of `polyhop fit`");
  const double number = number_entry(json, "version");
  require(number == version, "version",
          "the model has format " + shortest(number) + ", this polyhop reads " + std::to_string(version) +
              (number > version ? "; a newer polyhop reads it" : ""));
  return json;
}

std::vector<Real> vector_of(const NpzReader& in, const std::string& name) {
  auto array = in.array(name);
  require(array.shape.size() == 1, name, "has " + counted(array.shape.size(), "dimension") + " instead of 1");
  return std::move(array.data);
}

Rows matrix_of(const NpzReader& in, const std::string& name) {
  const auto array = in.array(name);
  require(array.shape.size() == 2, name, "has " + counted(array.shape.size(), "dimension") + " instead of 2");
  require(!array.data.empty(), name, "there are none");
  Rows out(array.shape[0], array.shape[1]);
  for (Index r = 0; r < out.rows(); ++r) {
    std::copy_n(array.data.begin() + r * out.columns(), out.columns(), out.row(r).begin());
  }
  return out;
}

Model read_model(const NpzReader& in) {
  const Json json = parsed_metadata(in);
  Model model;
  model.loss = entry<std::string>(json, "loss", "a text");
  model.delta = number_entry(json, "delta");
  model.l2 = number_entry(json, "l2");
  if (json.contains("unit_rows")) model.unit_rows = entry<bool>(json, "unit_rows", "true or false");
  model.features = entry<std::vector<std::string>>(json, "features", "a list of texts");
  model.target = entry<std::string>(json, "target", "a text");
  model.classes = entry<std::vector<std::string>>(json, "classes", "a list of texts");
  for (const auto& pair :
       entry<std::vector<std::array<std::string, 2>>>(json, "provenance", "a list of pairs of texts")) {
    model.provenance.emplace_back(pair[0], pair[1]);
  }
  for (const char* name : {"weights", "intercept"}) require(in.has(name), name, "the array is missing");
  model.weights = matrix_of(in, "weights");
  model.intercept = vector_of(in, "intercept");
  if (in.has("mean")) model.mean = vector_of(in, "mean");
  if (in.has("scale")) model.scale = vector_of(in, "scale");
  check(model);
  return model;
}

}  // namespace

Task task_of(const std::string& loss) {
  try {
    switch (Codec<LossName>::read(loss)) {
      case LossName::least_squares:
      case LossName::huber:
        return Task::number;
      case LossName::poisson:
        return Task::count;
      case LossName::logistic:
      case LossName::smoothed_hinge:
        return Task::two_classes;
      case LossName::softmax:
        break;
    }
    return Task::many_classes;
  } catch (const InputError& e) {
    throw e.at("loss", 0);
  }
}

void save_model(const Model& model, const std::string& path) {
  NpzWriter out(path);
  save_model(model, out);
}

void save_model(const Model& model, NpzWriter& out) {
  check(model);
  std::vector<Real> weights;
  for (Index r = 0; r < model.weights.rows(); ++r) {
    const auto row = model.weights.row(r);
    weights.insert(weights.end(), row.begin(), row.end());
  }
  out.add("weights", weights, {model.weights.rows(), model.weights.columns()});
  out.add("intercept", model.intercept, {model.weights.rows()});
  if (!model.mean.empty()) {
    out.add("mean", model.mean, {model.weights.columns()});
    out.add("scale", model.scale, {model.weights.columns()});
  }
  out.add_text(metadata, metadata_text(model));
  out.close();
}

Model load_model(const std::string& path) {
  try {
    return read_model(NpzReader(path));
  } catch (const InputError& e) {
    throw e.in_file(path);
  }
}

}  // namespace polyhop

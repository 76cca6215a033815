// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/model_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

#include "polyhop/core/error.hpp"
#include "polyhop/core/input_file.hpp"
#include "polyhop/core/json.hpp"
#include "polyhop/core/npz_reader.hpp"
#include "polyhop/core/npz_writer.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop {
namespace {

constexpr const char* kind = "polyhop model";
constexpr Index version = 2;
constexpr const char* metadata_file = "metadata.json";

// Everything in a model file except its arrays.
struct Metadata {
  std::string is = kind;
  Index format = version;
  ModelOptions model;
  std::vector<std::string> features;
  std::string target;
  std::vector<std::string> classes;
  std::optional<std::vector<Index>> columns = {};
  std::optional<Index> width = {};
  std::optional<std::string> id = {};
  std::vector<std::vector<std::string>> provenance;  // pairs
  static const FieldTable<Metadata>& fields() {
    using M = Metadata;
    static const auto table = FieldTable<M>()
                                  .require("kind", &M::is, "what the file holds")
                                  .require("version", &M::format, "of the file's format")
                                  .require("model", &M::model, "how it was fitted")
                                  .require("features", &M::features, "their names, or none")
                                  .require("target", &M::target, "what is predicted")
                                  .require("classes", &M::classes, "their names, or none")
                                  .add("columns", &M::columns, "positions of features without names, from 1")
                                  .add("width", &M::width, "how many columns that table had")
                                  .add("id", &M::id, "the column that names the samples")
                                  .require("provenance", &M::provenance, "how it was made");
    return table;
  }
};

void require(bool holds, const std::string& path, const std::string& message) {
  if (!holds) throw InputError(path, message);
}

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

void require_finite(std::span<const double> numbers, const std::string& path) {
  require(std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }), path,
          "holds a number that is not finite");
}

void check_classes(const Model& model) {
  const std::size_t found = model.classes.size();
  const std::string had = "the loss '" + model.options.loss.name + "' has " + counted(found, "class name");
  switch (model.options.loss.task) {
    case Task::regression:
    case Task::counts:
      require(found == 0, "classes", had + ", and predicts none");
      break;
    case Task::two_classes:
      require(found == 2, "classes", had + ", and separates two");
      break;
    case Task::classes:
      require(found >= 2, "classes", had + ", and needs two or more");
      break;
  }
  const std::set<std::string> different(model.classes.begin(), model.classes.end());
  require(different.size() == found, "classes", "two classes have the same name");
}

// 0 for a target that is not a column number.
Index number_of(const std::string& target) {
  Index number = 0;
  const auto [at, error] = std::from_chars(target.data(), target.data() + target.size(), number);
  return error == std::errc{} && at == target.data() + target.size() ? number : 0;
}

void check_places(const LearnedColumns& columns) {
  Index before = 0;
  for (const Index number : columns.features) {
    require(number > before && number != columns.target, "columns",
            "expected ascending column numbers, without the target");
    before = number;
  }
  require(std::max(before, columns.target) <= columns.width, "width", "is less than the number of a column");
}

void check_shapes(const Model& model) {
  const auto columns = static_cast<std::size_t>(model.weights.columns());
  const auto rows = static_cast<std::size_t>(model.weights.rows());
  const std::size_t wanted = model.options.loss.task == Task::classes ? model.classes.size() : 1;
  require(columns > 0, "weights", "there are none");
  require(rows == wanted, "weights", "has " + counted(rows, "row") + " instead of " + std::to_string(wanted));
  const auto fits = [&](std::size_t found, std::size_t expected, const char* path) {
    require(found == expected, path, "holds " + std::to_string(found) + " instead of " + std::to_string(expected));
  };
  fits(model.intercept.size(), rows, "intercept");
  if (!model.columns.empty()) {
    fits(model.columns.features.size(), columns, "columns");
    check_places(model.columns);
  }
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
  require(std::ranges::all_of(model.scale, [](double x) { return x > 0; }), "scale", "holds a number that is not > 0");
  (void)ModelOptions::fields().read(ModelOptions::fields().write(model.options), "");
}

// What save_model and load_model guarantee each other.
void check(const Model& model) {
  check_classes(model);
  check_shapes(model);
  check_numbers(model);
}

std::string metadata_text(const Model& model) {
  Metadata out;
  out.model = model.options;
  out.features = model.features;
  out.target = model.target;
  out.classes = model.classes;
  if (!model.columns.empty()) {
    out.columns = model.columns.features;
    out.width = model.columns.width;
  }
  if (!model.id.empty()) out.id = model.id;
  for (const auto& [name, text] : model.provenance) out.provenance.push_back({name, text});
  try {
    return json_text(Metadata::fields().write(out));
  } catch (const InputError&) {
    throw InputError("model",
                     "a name of a feature, a class or the target is not UTF-8, and a model file holds nothing else");
  }
}

// Version 0.1 put some of the model's options beside everything else, and Huber's delta whatever the loss.
Value modernised(const Value& old) {
  Value out = Value::Table{};
  Value model = Value::Table{};
  for (const auto& [key, value] : *old.as<Value::Table>()) {
    if (key == "version") {
      out[key] = version;
    } else if (key == "loss" || key == "l2" || key == "unit_rows") {
      model[key] = value;
    } else if (key == "delta") {
      if (old.find("loss") != nullptr && old.find("loss")->text() == "\"huber\"") model[key] = value;
    } else {
      out[key] = value;
    }
  }
  out["model"] = std::move(model);
  return out;
}

Metadata metadata_of(const NpzReader& in) {
  require(in.has_text(metadata_file), "", "this is not a model: metadata.json is missing; `polyhop fit` writes models");
  Value json;
  try {
    json = parse_json(in.text(metadata_file));
  } catch (const InputError& e) {
    throw e.at(metadata_file, 0);
  }
  require(json.as<Value::Table>() != nullptr, metadata_file, "is not a JSON object");
  const Value* found = json.find("kind");
  require(found != nullptr && found->as<std::string>() != nullptr && *found->as<std::string>() == kind, metadata_file,
          "does not describe a model of `polyhop fit`");
  found = json.find("version");
  const auto* number = found != nullptr ? found->as<std::int64_t>() : nullptr;
  require(number != nullptr, "version", "expected a number");
  require(*number >= 1 && *number <= version, "version",
          "the model has format " + std::to_string(*number) + ", this polyhop reads up to " + std::to_string(version) +
              (*number > version ? "; use a newer polyhop" : ""));
  return Metadata::fields().read(*number == 1 ? modernised(json) : json, "");
}

std::vector<double> vector_of(const NpzReader& in, const std::string& name) {
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

Model read_model(const NpzReader& in, std::span<const LossEntry> losses) {
  Metadata metadata = metadata_of(in);
  settle(metadata.model, losses, "model", ModelOptions::fields().names());
  Model model;
  model.options = std::move(metadata.model);
  model.features = std::move(metadata.features);
  model.target = std::move(metadata.target);
  model.classes = std::move(metadata.classes);
  if (metadata.columns) model.columns = {*metadata.columns, metadata.width.value_or(0), number_of(model.target)};
  model.id = metadata.id.value_or("");
  for (const auto& pair : metadata.provenance) {
    require(pair.size() == 2, "provenance", "expected a list of pairs of texts");
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

DataFormat format_for(const Model& model, const std::string& target, bool has_targets) {
  DataFormat format;
  format.has_targets = has_targets;
  format.features = model.features;
  format.learned = model.columns;
  // The stored positions include the target's; a target named by the user replaces it.
  format.target = target.empty() && model.columns.empty() ? model.target : target;
  if (model.features.empty()) format.columns = model.weights.columns();
  if (has_targets) {
    format.labels = model.classes;
  } else {
    format.choice.id = model.id;
    format.with_ids = !model.id.empty();
  }
  return format;
}

void save_model(const Model& model, const std::string& path) {
  NpzWriter out(path);
  save_model(model, out);
}

void save_model(const Model& model, NpzWriter& out) {
  check(model);
  std::vector<double> weights;
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
  out.add_text(metadata_file, metadata_text(model));
  out.close();
}

namespace {

// Rejects what cannot be a model before it is read as one.
void refuse_other(const std::string& path) {
  const auto refuse = [&](const std::string& message) { throw InputError("", message, 0, path); };
  const std::string writes = "`polyhop fit DATA -o model.npz` writes one";
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  if (status.type() == std::filesystem::file_type::not_found) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!folder.empty() && !std::filesystem::exists(folder, unknown)) {
      refuse("there is no such model; there is no folder '" + folder.string() + "'");
    }
    const std::string near = near_file(path);
    refuse("there is no such model; " + (near.empty() ? writes : "did you mean '" + near + "'?"));
  }
  if (std::filesystem::is_directory(status)) refuse("is a folder, expected a model: " + writes);
  if (!std::filesystem::is_regular_file(status)) return;
  std::array<char, 2> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  if (std::string_view(head.data(), head.size()) != "PK") refuse("is not a model: " + writes);
}

}  // namespace

Model load_model(const std::string& path, std::span<const LossEntry> losses) {
  refuse_other(path);
  try {
    return read_model(NpzReader(path), losses);
  } catch (const InputError& e) {
    throw e.in_file(path);
  }
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop predict: what a model says of samples.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "data_input.hpp"
#include "json_output.hpp"
#include "memory_flag.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/experiment/registry.hpp"
#include "polyhop/fit/model_file.hpp"
#include "polyhop/fit/prediction.hpp"
#include "polyhop/report/csv_cell.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

struct PredictArguments {
  std::string model, data;
  std::optional<std::string> output;
  std::string target;
  bool probabilities = false;
  bool skip_missing = false;
  bool json = false;
};

struct Predictions {
  std::vector<double> values;  // or
  std::vector<Index> classes;  // as places in the model's
  Rows probabilities;          // a row for each class, where they are asked for
  Index samples = 0;
  std::vector<std::string> ids;  // what the samples are called, or empty
};

Predictions predict(const Model& model, const PredictArguments& arguments) {
  // Features alone: a target's column is left out where there is one.
  DataFormat format = format_for(model, arguments.target, false);
  format.skip_missing = arguments.skip_missing;
  DataTable data = read_file_or_bundled(arguments.data, format);
  if (data.skipped > 0) complain(skipped_text(data.skipped));
  Predictions out;
  out.ids = std::move(data.ids);
  try {
    const Rows z = model_scores(model, data);
    out.samples = z.columns();
    if (predicts_classes(model)) {
      out.classes = predicted_classes(model, z);
    } else {
      out.values = predicted_values(model, z);
    }
    if (arguments.probabilities) out.probabilities = probabilities(model, z);
  } catch (const InputError& e) {
    throw e.in_file(arguments.data);
  }
  return out;
}

// A column without a name of its own is called id.
std::string id_name(const Model& model) { return model.features.empty() ? "id" : model.id; }

void write_csv(const Model& model, const Predictions& predictions, CsvOutput& out) {
  std::vector<std::string> names;
  for (const std::string& name : model.classes) names.push_back(csv_cell(name));
  const Index columns = predictions.probabilities.rows();
  const bool has_ids = !predictions.ids.empty();
  if (has_ids) out.write(csv_cell(id_name(model)) + ",");
  out.write("prediction");
  for (Index c = 0; c < columns; ++c) {
    out.write(fmt::format(",{}", csv_cell("p(" + model.classes[c] + ")")));
  }
  for (Index n = 0; n < predictions.samples; ++n) {
    out.write("\n");
    if (has_ids) out.write(csv_cell(predictions.ids[n]) + ",");
    if (names.empty()) {
      out.write(shortest(predictions.values[n]));
    } else {
      out.write(names[predictions.classes[n]]);
    }
    for (Index c = 0; c < columns; ++c) out.write(fmt::format(",{}", shortest(predictions.probabilities(c, n))));
  }
  out.write("\n");
}

Value json_of(const Model& model, const Predictions& predictions, const PredictArguments& arguments) {
  Value::Array list(predictions.values.begin(), predictions.values.end());
  for (const Index c : predictions.classes) list.push_back(model.classes[c]);
  Value out = Value::Table{{"model", arguments.model}, {"data", arguments.data}, {"samples", predictions.samples}};
  if (predicts_classes(model)) out["classes"] = Value::Array(model.classes.begin(), model.classes.end());
  if (!predictions.ids.empty()) out["ids"] = Value::Array(predictions.ids.begin(), predictions.ids.end());
  out["predictions"] = std::move(list);
  if (!arguments.probabilities) return out;
  Value::Array rows;
  for (Index n = 0; n < predictions.samples; ++n) {
    Value::Array row;
    for (Index c = 0; c < predictions.probabilities.rows(); ++c) row.push_back(predictions.probabilities(c, n));
    rows.push_back(std::move(row));
  }
  out["probabilities"] = std::move(rows);
  return out;
}

void predict_command(const PredictArguments& arguments, const Registry& registry) {
  CsvOutput out(arguments.output);
  const Model model = load_model_before(arguments.data, arguments.model, registry.losses());
  if (arguments.probabilities && !has_probabilities(model)) {
    throw InputError("--probabilities",
                     "a model of the loss '" + model.options.loss.name + "' has none; logistic and softmax do");
  }
  const Predictions predictions = predict(model, arguments);
  // The standard output is for JSON alone where that is asked for.
  if (!arguments.json || arguments.output.value_or("-") != "-") {
    write_csv(model, predictions, out);
    out.finish(!arguments.json);
  }
  if (arguments.json) print_json(json_of(model, predictions, arguments));
}

}  // namespace

void add_predict(CommandLine& line) {
  const auto arguments = std::make_shared<PredictArguments>();
  Command predict = line.command("predict", "predict every sample of a file, as CSV");
  predict.option("MODEL", arguments->model, "a model that fit wrote").required();
  predict.option("DATA", arguments->data, "a data file, or the name of a bundled set").required();
  predict.option("-o,--output", arguments->output, "the CSV file to write (default: the standard output)")
      .takes("FILE");
  predict.flag("--probabilities", arguments->probabilities, "also the probability of each class");
  predict
      .option(
          "--target", arguments->target,
          "the column to leave out, by name or number from 1 (default: the column with the same name as in training)")
      .takes("COLUMN");
  predict.flag("--skip-missing", arguments->skip_missing,
               "leave out rows of CSV files with missing values, and report how many; if the model was fitted with "
               "--id, that column shows which rows are left");
  predict.flag("--json", arguments->json, "print JSON");
  add_memory_limit(predict);
  predict.callback([arguments, &registry = line.registry()] {
    predict_command(*arguments, registry);
    return done;
  });
}

}  // namespace polyhop::app

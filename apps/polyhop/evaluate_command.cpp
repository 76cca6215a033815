// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop evaluate: how good a model is on samples whose targets are known.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "data_input.hpp"
#include "json_output.hpp"
#include "memory_flag.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/words.hpp"
#include "polyhop/experiment/registry.hpp"
#include "polyhop/fit/evaluation.hpp"
#include "polyhop/fit/model_file.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

struct EvaluateArguments {
  std::string model, data, target;
  bool skip_missing = false;
  bool json = false;
};

ModelEvaluation evaluate_file(const Model& model, const EvaluateArguments& arguments) {
  DataFormat format = format_for(model, arguments.target, true);
  format.skip_missing = arguments.skip_missing;
  const DataTable data = read_file_or_bundled(arguments.data, format);
  if (data.skipped > 0) complain(skipped_text(data.skipped));
  try {
    return evaluate(model, data);
  } catch (const InputError& e) {
    throw e.in_file(arguments.data);
  }
}

std::string value_text(double x) { return std::isnan(x) ? "not defined" : significant(x, 4); }

void print_metrics(const ModelEvaluation& evaluation) {
  TextTable table({{"metric"}, {"value", TextTable::Align::right}, {"meaning"}});
  for (const auto& [key, value] : evaluation.metrics) {
    const MetricText& text = metric_text(key);
    table.add({std::string(text.name), value_text(value), std::string(text.help)});
  }
  fmt::print("\n{}", table.text(output_width(), wants_color()));
}

void print_classes(const ModelEvaluation& evaluation) {
  constexpr auto right = TextTable::Align::right;
  TextTable table({{"class"}, {"samples", right}, {"precision", right}, {"recall", right}});
  for (const ClassEvaluation& c : evaluation.classes) {
    table.add({c.name, std::to_string(c.samples), value_text(c.precision), value_text(c.recall)});
  }
  fmt::print("\n{}", table.text(output_width(), wants_color()));
}

void print_confusion(const ModelEvaluation& evaluation) {
  constexpr std::size_t most = 20;
  if (evaluation.classes.size() > most) {
    fmt::print("\nThe confusion matrix of {} classes is too wide to show: --json prints it.\n",
               evaluation.classes.size());
    return;
  }
  std::vector<TextTable::Column> columns = {{"true \\ predicted"}};
  for (const ClassEvaluation& c : evaluation.classes) columns.push_back({c.name, TextTable::Align::right});
  TextTable table(std::move(columns));
  for (std::size_t t = 0; t < evaluation.classes.size(); ++t) {
    std::vector<std::string> cells = {evaluation.classes[t].name};
    for (const Index count : evaluation.confusion[t]) cells.push_back(std::to_string(count));
    table.add(std::move(cells));
  }
  fmt::print("\n{}", table.text(output_width(), wants_color()));
}

void print_evaluation(const Model& model, const ModelEvaluation& evaluation, const EvaluateArguments& arguments) {
  say_inked(fmt::format("{} on {}: {}, {}", printable(arguments.model), printable(arguments.data),
                        model.options.loss.name, count_of(evaluation.samples, "sample")),
            Ink::bold);
  print_metrics(evaluation);
  if (evaluation.classes.empty()) return;
  print_classes(evaluation);
  print_confusion(evaluation);
}

Value json_of(const Model& model, const ModelEvaluation& evaluation, const EvaluateArguments& arguments) {
  Value out = Value::Table{{"model", arguments.model},
                           {"data", arguments.data},
                           {"loss", model.options.loss.name},
                           {"samples", evaluation.samples},
                           {"metrics", Value::Table(evaluation.metrics.begin(), evaluation.metrics.end())}};
  if (evaluation.classes.empty()) return out;
  Value::Array classes;
  for (const ClassEvaluation& c : evaluation.classes) {
    classes.push_back(
        Value::Table{{"name", c.name}, {"samples", c.samples}, {"precision", c.precision}, {"recall", c.recall}});
  }
  out["classes"] = classes;
  Value::Array confusion;
  for (const auto& row : evaluation.confusion) confusion.push_back(Value::Array(row.begin(), row.end()));
  out["confusion"] = confusion;
  return out;
}

void evaluate_command(const EvaluateArguments& arguments, const Registry& registry) {
  const Model model = load_model_before(arguments.data, arguments.model, registry.losses());
  const ModelEvaluation evaluation = evaluate_file(model, arguments);
  if (arguments.json) return print_json(json_of(model, evaluation, arguments));
  print_evaluation(model, evaluation, arguments);
  flush_output();
}

}  // namespace

void add_evaluate(CommandLine& line) {
  const auto arguments = std::make_shared<EvaluateArguments>();
  Command evaluate = line.command("evaluate", "measure how good a model is on samples with known targets");
  evaluate.option("MODEL", arguments->model, "a model that fit wrote").required();
  evaluate.option("DATA", arguments->data, "a data file, or the name of a bundled set").required();
  evaluate
      .option("--target", arguments->target,
              "the target's column, by name or number from 1 (default: the column with the same name as in training, "
              "or else the last)")
      .takes("COLUMN");
  evaluate.flag("--skip-missing", arguments->skip_missing,
                "leave out rows of CSV files with missing values, and report how many");
  evaluate.flag("--json", arguments->json, "print JSON");
  add_memory_limit(evaluate);
  add_color(evaluate);
  evaluate.callback([arguments, &registry = line.registry()] {
    evaluate_command(*arguments, registry);
    return done;
  });
}

}  // namespace polyhop::app

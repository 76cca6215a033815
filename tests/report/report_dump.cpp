// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// report_dump CASE FOLDER: writes FOLDER/report.html, FOLDER/scoreboard.html and FOLDER/curves.csv of invented
// experiments; of a case that begins with "fit" FOLDER/fit.html of an invented fit; of the case "figures" some SVGs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "polyhop/report/curves_csv.hpp"
#include "polyhop/report/figure.hpp"
#include "polyhop/report/html_fit.hpp"
#include "polyhop/report/html_report.hpp"
#include "polyhop/report/html_scoreboard.hpp"
#include "polyhop/report/profile_figure.hpp"
#include "support/scoreboards.hpp"

namespace polyhop {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// A run whose excess risk falls by `rate` an iteration; above 1 it diverges after a tenth of the iterations.
struct Shape {
  std::string method;
  double rate = 0.9;
  Index count = 101;  // points
  Index every = 10;
  Index agents = 8;
  bool every_step = true;
  bool average = true;
  Index vectors = 24;  // an iteration
};

Cell cell_of(const Shape& shape, std::uint64_t seed) {
  Cell out;
  out.method = shape.method;
  out.seed = seed;
  out.reference_value = 14;  // so that excess risks below 1.4e-13 are rounding
  const double rate = shape.rate + 0.002 * static_cast<double>(seed);
  const bool diverges = rate > 1;
  if (diverges) out.status = Status::diverged;
  for (Index n = 0; n < (diverges ? shape.count / 10 : shape.count); ++n) {
    Point p;
    p.iteration = n * shape.every;
    const auto i = static_cast<double>(p.iteration);
    p.excess_risk = (1 + 0.1 * static_cast<double>(seed)) *
                    std::pow(rate, diverges ? i : i * 10 / static_cast<double>(shape.every));
    p.excess_risk_worst = 3 * p.excess_risk;
    p.excess_risk_mean_model = p.excess_risk / 2;
    p.excess_risk_averaged = shape.average ? 1 / (1 + i) : unknown;
    p.consensus_error = p.excess_risk / 10;
    p.distance = 4 * p.excess_risk;
    p.seconds = 1e-4 * i * (1 + 0.05 * static_cast<double>(seed));
    p.rounds = 3 * p.iteration;
    p.vectors = shape.vectors * p.iteration;
    p.values = 8 * p.iteration;
    p.gradients = 8 * p.iteration;
    MeteredVector<double> steps;
    for (Index k = 0; k < shape.agents; ++k) {
      const double step = 0.01 * static_cast<double>(k + 1) * (1 + 0.5 * std::sin(0.01 * i + static_cast<double>(k)));
      steps.push_back(n > 0 ? step : unknown);
    }
    p.step_min = n > 0 ? *std::ranges::min_element(steps) : unknown;
    p.step_median = n > 0 ? steps[steps.size() / 2] : unknown;
    p.step_max = n > 0 ? *std::ranges::max_element(steps) : unknown;
    MeteredVector<double> distances;
    for (Index k = 0; k < shape.agents; ++k)
      distances.push_back(n > 0 ? (1 + 0.1 * static_cast<double>(k)) * p.excess_risk : 0);
    if (shape.every_step) out.steps.push_back(std::move(steps));
    if (shape.every_step) out.distances.push_back(std::move(distances));
    out.points.push_back(p);
  }
  return out;
}

NetworkPicture ring(Index agents) {
  NetworkPicture out;
  out.agents = agents;
  for (std::int32_t k = 0; k + 1 < agents; ++k) out.edges.emplace_back(k, k + 1);
  out.edges.emplace_back(0, static_cast<std::int32_t>(agents - 1));
  std::ranges::sort(out.edges);
  return out;
}

Record record_of(const std::string& name, const std::vector<Shape>& shapes, std::uint64_t seeds) {
  Record out;
  out.name = name;
  out.target = 1e-6;
  out.config["name"] = name;
  out.config["graph"]["topology"] = "ring";
  out.config["graph"]["agents"] = shapes.front().agents;
  Value::Array methods;
  for (const Shape& shape : shapes) {
    Value method;
    method["name"] = shape.method;
    method["step"]["rule"] = "constant";
    methods.push_back(std::move(method));
  }
  out.config["method"] = std::move(methods);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    for (const Shape& shape : shapes) out.cells.push_back(cell_of(shape, seed));
  }
  out.networks = {ring(shapes.front().agents)};
  out.provenance = {{"version", "0.1.0"}, {"date", "2026-01-02"}};
  return out;
}

Record small() {
  Record out = record_of("small", {{"GAP", 0.8}, {"plain", 0.9}, {"far", 1.5}, {"slow", 0.99}}, 5);
  Tuning tuning;
  tuning.method = "plain";
  tuning.value = 0.125;
  tuning.trials = 7;
  tuning.iterations = 7000;
  tuning.goal = TuningGoal::final_risk;
  out.tunings = {tuning};
  out.config["problem"]["samples"] = 5;
  out.config["problem"]["batch"] = 50;
  for (Cell& cell : out.cells) {
    if (cell.status == Status::diverged) cell.message = "the step is too large; take half of it";
  }
  return out;
}

const std::string hostile_name = "</script><img src=x onerror=alert(1)>";

std::vector<Record> hostile() {
  Record out = record_of(
      hostile_name,
      {{hostile_name, 0.8}, {"a\xe2\x80\xa8\"b\\'&amp;\n\x01", 0.9}, {"\xff\xfe", 0.95}, {"@DATA@ ${x} \"><b>", 0.9}},
      2);
  out.cells.back().status = Status::failed;
  out.cells.back().message = "<b>" + hostile_name;
  out.provenance.emplace_back(hostile_name, hostile_name);
  out.config["graph"][hostile_name] = hostile_name;
  Tuning tuning;
  tuning.method = hostile_name;
  out.tunings = {tuning};
  return {out};
}

// Neither every agent's steps, nor the averaged iterate, nor a network small enough to draw.
Record bare() {
  Shape shape{"GAP", 0.8};
  shape.every_step = false;
  shape.average = false;
  Record out = record_of("bare", {shape}, 1);
  out.networks = {ring(501)};
  return out;
}

// A million points: ten methods, ten seeds, ten thousand points a run; 300 agents' steps for the first method.
Record large() {
  std::vector<Shape> shapes;
  for (int m = 0; m < 10; ++m) {
    Shape shape{"method " + std::to_string(m), 0.9 + 0.005 * m};
    shape.count = 10'000;
    shape.every = 1;
    shape.every_step = false;
    shapes.push_back(shape);
  }
  Record out = record_of("large", shapes, 10);
  shapes.front().every_step = true;
  shapes.front().agents = 300;
  out.cells.front() = cell_of(shapes.front(), 0);
  out.networks = {ring(300)};
  return out;
}

// An instance of a scoreboard, whose first method was tuned.
Record instance(const std::string& name, const std::vector<Shape>& shapes) {
  Record out = record_of(name, shapes, 3);
  Tuning tuning;
  tuning.method = shapes.front().method;
  tuning.value = 0.125;
  tuning.trials = 7;
  tuning.iterations = 700;
  tuning.vectors = 1400;
  tuning.goal = TuningGoal::final_risk;
  out.tunings = {tuning};
  return out;
}

// Where all but `far` get there; where the tuned one does not; where `slow` has no runs.
std::vector<Record> scoreboard() {
  const auto gap = [](double rate) { return Shape{.method = "GAP", .rate = rate, .vectors = 480}; };
  return {instance("first", {{"tuned", 0.8}, gap(0.6), {"slow", 0.9}, {"far", 1.5}}),
          instance("second", {{"tuned", 0.99}, gap(0.8), {"slow", 0.999}, {"far", 1.5}}),
          instance("third", {{"tuned", 0.7}, gap(0.8), {"far", 1.5}})};
}

// Thirteen methods on four instances, and one that ran on the last of them alone.
std::vector<Record> methods() {
  std::vector<Shape> shapes = {{"tuned", 0.8}};
  for (int m = 0; m < 12; ++m) {
    shapes.push_back({"gradient tracking variant " + std::to_string(m), 0.7 + 0.02 * m});
  }
  std::vector<Record> out;
  for (const char* name : {"first", "second", "third"}) out.push_back(instance(name, shapes));
  shapes.push_back({"lucky", 0.5});
  out.push_back(instance("fourth", shapes));
  return out;
}

// Two seeds of five fall far below rounding, where the others are at the end.
Record lucky() {
  Record out = record_of("lucky", {{"GAP", 0.964}}, 5);
  for (Cell& cell : out.cells) {
    cell.reference_value = 0;
    if (cell.seed > 1) continue;
    for (Point& p : cell.points) p.excess_risk *= p.excess_risk;
  }
  return out;
}

std::vector<Record> records(const std::string& name) {
  if (name == "methods") return methods();
  if (name == "scoreboard") return scoreboard();
  if (name == "small") return {small()};
  if (name == "hostile") return hostile();
  if (name == "several") return {small(), record_of("second", {{"GAP", 0.7}, {"other", 0.9}}, 3), bare()};
  if (name == "apart") {
    return {record_of("one", {{"GAP", 0.8}, {"a", 0.85}, {"b", 0.9}, {"both", 0.95}, {"d", 0.97}}, 2),
            record_of("two", {{"both", 0.82}, {"e", 0.86}, {"f", 0.91}, {"g", 0.96}, {"h", 0.98}}, 2)};
  }
  if (name == "diverges") return {record_of("diverges", {{"GAP", 0.8}, {"far", 0.997}}, 4)};  // half of the seeds
  if (name == "bare") return {bare()};
  if (name == "long-names") {
    return {
        record_of("long", {{"backtracking", 0.8}, {"a name that no phone has room for in a line of its own", 0.9}}, 2)};
  }
  if (name == "interrupted") {
    Record out = record_of("interrupted", {{"GAP", 0.8}, {"plain", 0.9}}, 3);
    out.cells.back().status = Status::unfinished;
    return {out};
  }
  if (name == "large") return {large()};
  if (name == "level") return {record_of("level", {{"GAP", 0.9863}, {"plain", 0.9}}, 1)};
  if (name == "crowded") return {record_of("crowded", {{"a", 0.96129}, {"b", 0.97929}, {"c", 0.98586}}, 1)};
  if (name == "dashed") {
    std::vector<Shape> shapes;
    for (int m = 0; m < 7; ++m) shapes.push_back({"method " + std::to_string(m), 0.8});
    shapes.push_back({"far", 1.5});  // the first that is dashed
    return {record_of("dashed", shapes, 2)};
  }
  if (name == "bundle") {
    std::vector<Shape> shapes = {{"slow", 0.99}};
    for (int m = 0; m < 10; ++m) shapes.push_back({"method " + std::to_string(m), 0.8});
    return {record_of("bundle", shapes, 2)};
  }
  if (name == "lucky") return {lucky()};
  if (name == "brief") return {record_of("brief", {{.method = "GAP", .rate = 0.8, .count = 2}}, 1)};
  if (name == "single") return {instance("single", {{"tuned", 0.8}, {"GAP", 0.7}})};
  if (name == "unsolved") return {instance("unsolved", {{"tuned", 0.99}, {"slow", 0.992}})};
  if (name == "beaten") return {instance("beaten", {{"tuned", 0.995}, {"slow", 0.992}, {"GAP", 0.7}, {"other", 0.8}})};
  if (name == "empty") return {Record{}};
  return {};
}

// Two classes (or as many as are named) told apart by 40 features, the last of which weighs most.
FitResult fit_of(const std::vector<std::string>& classes, const std::string& first_feature) {
  constexpr Index features = 40;
  const bool many = classes.size() > 2;
  FitResult out;
  out.model.options.loss = builtin_loss(many ? "softmax" : "logistic");
  out.model.classes = classes;
  out.model.weights = Rows(many ? static_cast<Index>(classes.size()) : 1, features);
  for (Index c = 0; c < out.model.weights.rows(); ++c) {
    out.model.intercept.push_back(0.25);
    for (Index j = 0; j < features; ++j) {
      out.model.weights(c, j) = ((j + c) % 2 == 0 ? -0.01 : 0.01) * static_cast<double>(j + 1);
    }
  }
  for (Index j = 0; j < features; ++j) {
    out.model.features.push_back(j == 0 ? first_feature : "h" + std::to_string(j + 1));
  }
  out.model.provenance = {{"polyhop", "0.1.0"}, {"data", first_feature}};
  for (Index n = 0; n < 2000; ++n) {
    const double left = std::pow(0.99, static_cast<double>(n));
    out.history.push_back({20 * n, 0, left, n == 0 ? 0 : left / 10, 0.3 + left, 0});
  }
  out.state = out.history.back();
  out.end = FitEnd::converged;
  out.cost = 0.125;
  out.samples = 100;
  out.agents = 8;
  out.traffic = {12, 3456, 789};
  const auto count = static_cast<Index>(classes.size());
  out.fitted.samples = 90;
  out.fitted.metrics = {{"accuracy", 0.875}, {"log_loss", 0.25}, {"auc", unknown}, {"mean_loss", 0.25}};
  for (Index c = 0; c < count; ++c) {
    out.fitted.classes.push_back({classes[c], 40 + c, 0.9, 0.8});
    out.fitted.confusion.emplace_back(static_cast<std::size_t>(count), c);
    out.fitted.confusion.back()[c] = 40;
  }
  return out;
}

std::string fit_page(const std::string& name) {
  FitOptions options;
  options.data.bundled = "wine";
  options.model.loss = builtin_loss("logistic");
  options.graph.agents = 8;
  options.method = FitMethod::exact_diffusion;
  FitResult result = fit_of({"no", "yes"}, "h1");
  if (name == "fit-classes") {
    options.method = FitMethod::automatic;
    options.model.batch = {4, false};
    result = fit_of({"red", "green", "blue"}, "h1");
    result.deviation.assign(result.model.features.size(), 2);
    result.deviation.back() = 1e-3;
    result.mean.assign(result.model.features.size(), 0);
    result.mean[9] = 10;
    result.held_out = result.fitted;
    result.held_out->samples = 10;
    result.held_out->metrics[0].second = 0.5;
    result.held_out->confusion[0][1] = 7;
    options.model.l2 = 0.1;
    result.state.kept = 39'000;
  }
  if (name == "fit-numbers") {
    options.model.loss = builtin_loss("least-squares");
    result.model.options.loss = options.model.loss;
    result.model.classes.clear();
    result.deviation.assign(result.model.features.size(), 2);
    result.mean.assign(result.model.features.size(), 0);
    result.fitted.classes.clear();
    result.fitted.confusion.clear();
    result.fitted.metrics = {{"rmse", 2}, {"r2", 0.5}};
    for (double& w : result.model.weights.row(0)) w = -std::abs(w);
    options.model.partition.kind = PartitionKind::sizes;
  }
  if (name == "fit-together") {
    options.method = FitMethod::automatic;
    options.model.batch = {4, false};
    for (FitState& state : result.history) state.disagreement = 1e-16;
    result.held_out = result.fitted;
  }
  if (name == "fit-single") {
    result.held_out = result.fitted;
    result.state.kept = 200;
    for (FitState& state : result.history) state.held_out = 0.14 + 2 * state.gradient;
    result.held_out->samples = 1;
    result.held_out->metrics[0].second = 0.5;
  }
  if (name == "fit-hostile") {
    options.data.bundled = hostile_name;
    result = fit_of({hostile_name, "@DATA@ ${x} \"><b>"}, hostile_name);
  }
  if (name == "fit-diverged") {
    result.end = FitEnd::diverged;
    result.history.resize(3);
    result.history.back().gradient = std::numeric_limits<double>::infinity();
    for (double& w : result.model.weights.row(0)) w = unknown;
  }
  return html_fit(options, result, "It ended " + name + ".");
}

// Figures of curves that leave a corner free, of curves that do not, of thirteen methods, and of a scoreboard's.
int dump_figures(const std::string& folder) {
  const auto draw = [&](const std::string& name, const Record& record, const FigureOptions& options) {
    write_figure({record}, options, folder + "/" + name + ".svg");
  };
  const Record free = record_of("free", {{"method a", 0.8}, {"method b", 0.85}, {"method c", 0.9}}, 3);
  draw("free-auto", free, {});
  draw("free-inside", free, {.legend = LegendPlace::inside});
  Record falling = record_of("falling", {{"method falls", 0.8}, {"method lags", 0.98}}, 1);
  for (std::size_t n = 3; n < falling.cells[0].points.size(); ++n) falling.cells[0].points[n].excess_risk = 0;
  draw("falling", falling, {});
  Record crowded = record_of("crowded", {{"method falls", 0.8}, {"method stays", 1 - 1e-9}}, 1);
  crowded.cells.push_back(crowded.cells[0]);
  crowded.cells.back().method = "method rises";
  std::vector<double> risks;
  for (const Point& p : crowded.cells[0].points) risks.push_back(p.excess_risk);
  for (std::size_t n = 0; n < risks.size(); ++n) crowded.cells[2].points[n].excess_risk = risks[risks.size() - 1 - n];
  crowded.cells.push_back(crowded.cells[0]);
  crowded.cells.back().method = "method lies low";
  for (Point& p : crowded.cells.back().points) p.excess_risk = risks.back();
  draw("crowded-auto", crowded, {});
  draw("crowded-outside", crowded, {.legend = LegendPlace::outside});
  draw("crowded-below", crowded, {.legend = LegendPlace::below});
  draw("large-letters", crowded, {.width = 14, .legend = LegendPlace::outside, .font = "Times", .font_size = 12});
  std::vector<Record> all = methods();
  all.pop_back();
  for (Record& record : all) {
    for (Cell& cell : record.cells) cell.method = "method " + cell.method;
    record.tunings.front().method = "method tuned";
  }
  draw("many-below", all[0], {});
  draw("many-outside", all[0], {.width = 16, .height = 8, .legend = LegendPlace::outside});
  const Scoreboard board = test::make_scoreboard(all);
  write_profile_figure(board, Score::iterations, folder + "/profile-below.svg");
  write_profile_figure(board, Score::iterations, folder + "/profile-outside.svg",
                       {.width = 16, .height = 8, .legend = LegendPlace::outside});
  return 0;
}

int dump(const std::string& name, const std::string& folder) {
  if (name == "figures") return dump_figures(folder);
  if (name.starts_with("fit")) {
    std::ofstream(folder + "/fit.html", std::ios::binary) << fit_page(name);
    return 0;
  }
  const auto made = records(name);
  if (made.empty()) {
    std::fprintf(stderr, "report_dump: there is no case '%s'\n", name.c_str());
    return 2;
  }
  std::ofstream(folder + "/report.html", std::ios::binary) << html_report(made);
  std::ofstream(folder + "/scoreboard.html", std::ios::binary) << html_scoreboard(test::make_scoreboard(made), name);
  std::ofstream curves(folder + "/curves.csv", std::ios::binary);
  write_curves(made.front(), [&](std::string_view text) { curves << text; });
  return 0;
}

}  // namespace
}  // namespace polyhop

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: report_dump CASE FOLDER\n");
    return 2;
  }
  return polyhop::dump(arguments[1], arguments[2]);
}

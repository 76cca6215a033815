// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/prediction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/fit/evaluation.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::prediction_test {
namespace {

Rows rows(std::initializer_list<std::initializer_list<double>> lines) {
  Rows out(static_cast<Index>(lines.size()), static_cast<Index>(lines.begin()->size()));
  Index r = 0;
  for (const auto& line : lines) std::ranges::copy(line, out.row(r++).begin());
  return out;
}

// 2 a - b + 3
Model model_of(const std::string& loss) {
  Model model;
  model.options.loss = builtin_loss(loss);
  model.features = {"a", "b"};
  model.weights = rows({{2, -1}});
  model.intercept = {3};
  if (model.options.loss.task == Task::two_classes) model.classes = {"no", "yes"};
  return model;
}

// Scores a, b and 0.
Model softmax_model() {
  Model model = model_of("softmax");
  model.weights = rows({{1, 0}, {0, 1}, {0, 0}});
  model.intercept = {0, 0, 0};
  model.classes = {"x", "y", "z"};
  return model;
}

DataTable table(std::vector<std::string> names, Rows features) {
  DataTable data;
  data.names = std::move(names);
  data.features = std::move(features);
  return data;
}

double metric(const ModelEvaluation& evaluation, const std::string& name) {
  for (const auto& [found, value] : evaluation.metrics) {
    if (found == name) return value;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(Prediction, ScoresAreWeightsTimesFeaturesPlusIntercept) {
  const Rows z = model_scores(model_of("least-squares"), table({}, rows({{1, 0}, {0, 1}, {4, 5}})));
  EXPECT_EQ(std::vector<double>(z.row(0).begin(), z.row(0).end()), (std::vector<double>{5, 2, 6}));
}

TEST(Prediction, FeaturesAreFoundByTheirNamesInAnyOrder) {
  const Rows z = model_scores(model_of("least-squares"), table({"b", "other", "a"}, rows({{5, 100, 4}})));
  EXPECT_EQ(z(0, 0), 6);
}

TEST(Prediction, UnitRowsAreDividedByTheNormOfTheModelsFeatures) {
  Model model = model_of("least-squares");
  model.options.unit_rows = true;
  const Rows plain = model_scores(model, table({}, rows({{3, 4}, {0, 0}})));
  EXPECT_EQ(plain(0, 0), 2 * 0.6 - 0.8 + 3);
  EXPECT_EQ(plain(0, 1), 3);
  const Rows named = model_scores(model, table({"b", "other", "a"}, rows({{4, 100, 3}})));
  EXPECT_NEAR(named(0, 0), plain(0, 0), 1e-15);
}

TEST(Prediction, AMissingFeatureIsNamed) {
  const auto error = refusal([] { return model_scores(model_of("huber"), table({"a", "B"}, rows({{1, 2}}))); });
  EXPECT_NE(error.message().find("\"b\" is not in the data"), std::string::npos) << error.what();
  const auto twice = refusal([] { return model_scores(model_of("huber"), table({"b", "a", "b"}, rows({{1, 2, 3}}))); });
  EXPECT_NE(twice.message().find("two columns"), std::string::npos) << twice.what();
}

TEST(Prediction, FeaturesWithoutNamesMustBeAsMany) {
  const auto error = refusal([] { return model_scores(model_of("huber"), table({}, rows({{1, 2, 3}}))); });
  EXPECT_NE(error.message().find("3 features"), std::string::npos) << error.what();
  EXPECT_NE(error.message().find("on 2"), std::string::npos) << error.what();
  EXPECT_THROW(model_scores(model_of("huber"), table({}, rows({{1}}))), InputError);
}

TEST(Prediction, SparseDataMayLackTheLastFeatures) {
  DataTable data;
  data.features = Features::sparse(1, {0, 1, 1}, {0}, {4});
  const Rows z = model_scores(model_of("huber"), data);
  EXPECT_EQ(z(0, 0), 11);
  EXPECT_EQ(z(0, 1), 3);
  data.features = Features::sparse(3, {0, 1}, {2}, {4});
  EXPECT_THROW(model_scores(model_of("huber"), data), InputError);
}

TEST(Prediction, CountsAreTheExponentialOfTheScore) {
  const Model model = model_of("poisson");
  EXPECT_DOUBLE_EQ(predicted_values(model, rows({{2}}))[0], std::exp(2.0));
  EXPECT_EQ(predicted_values(model_of("huber"), rows({{2}}))[0], 2);
}

TEST(Prediction, TheLargestScoreWinsAndTheFirstOfEqualOnes) {
  const Rows z = model_scores(softmax_model(), table({}, rows({{3, 1}, {1, 3}, {-1, -2}, {0, 0}})));
  EXPECT_EQ(predicted_classes(softmax_model(), z), (std::vector<Index>{0, 1, 2, 0}));
  EXPECT_EQ(predicted_classes(model_of("smoothed-hinge"), rows({{-1, 0, 1}})), (std::vector<Index>{0, 0, 1}));
}

TEST(Prediction, ProbabilitiesSumToOneAndNeverOverflow) {
  const Rows two = probabilities(model_of("logistic"), rows({{0, std::log(3.0), 1000}}));
  EXPECT_EQ(two(0, 0), 0.5);
  EXPECT_NEAR(two(1, 1), 0.75, 1e-15);
  EXPECT_EQ(two(0, 2), 0);
  EXPECT_EQ(two(1, 2), 1);
  const Rows three = probabilities(softmax_model(), rows({{1000}, {1000}, {0}}));
  EXPECT_EQ(three(0, 0), 0.5);
  EXPECT_EQ(three(2, 0), 0);
  EXPECT_THROW(probabilities(model_of("smoothed-hinge"), rows({{1}})), InputError);
}

TEST(Prediction, ClassesAreMatchedByNameAndNumbersByTheirValue) {
  DataTable data = table({}, rows({{0, 0}, {0, 0}, {0, 0}}));
  data.labels = {"yes", "no"};
  data.targets = {0, 1, 0};
  EXPECT_EQ(true_classes(model_of("logistic"), data), (std::vector<Index>{1, 0, 1}));
  Model numbers = model_of("logistic");
  numbers.classes = {"-1", "1"};
  data.targets = {1, -1, 1};
  data.labels.clear();
  EXPECT_EQ(true_classes(numbers, data), (std::vector<Index>{1, 0, 1}));
  data.labels = {"+1", "-1.0"};
  data.targets = {0, 1, 0};
  EXPECT_EQ(true_classes(numbers, data), (std::vector<Index>{1, 0, 1}));
}

TEST(Prediction, AClassThatTrainingNeverSawIsToldWithItsSample) {
  DataTable data = table({}, rows({{0, 0}, {0, 0}}));
  data.labels = {"yes", "noo"};
  data.targets = {0, 1};
  const auto error = refusal([&] { return true_classes(model_of("logistic"), data); });
  EXPECT_EQ(error.path(), "sample 2");
  EXPECT_NE(error.message().find("did you mean 'no'"), std::string::npos) << error.what();
}

TEST(Evaluation, NumbersHaveErrorsAndALoss) {
  DataTable data = table({}, rows({{1, 0}, {0, 1}}));  // predicted as 5 and 2
  data.targets = {5, 4};
  const ModelEvaluation of_squares = evaluate(model_of("least-squares"), data);
  EXPECT_EQ(of_squares.samples, 2);
  EXPECT_DOUBLE_EQ(metric(of_squares, "rmse"), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(metric(of_squares, "mae"), 1);
  EXPECT_DOUBLE_EQ(metric(of_squares, "r2"), 1 - 4 / 0.5);
  EXPECT_DOUBLE_EQ(metric(of_squares, "mean_loss"), 1);
  Model huber = model_of("huber");
  huber.options.loss = builtin_loss("huber", Value::Table{{"delta", 0.5}});
  EXPECT_DOUBLE_EQ(metric(evaluate(huber, data), "mean_loss"), 0.5 * (2 - 0.25) / 2);
  EXPECT_TRUE(of_squares.classes.empty());
}

TEST(Evaluation, ClassesHaveAMatrixAndAReportEach) {
  DataTable data = table({}, rows({{-1, 2}, {0, 4}, {1, 0}}));  // scores -1, -1, 5
  data.targets = {0, 1, 1};
  data.labels = {"no", "yes"};
  const ModelEvaluation out = evaluate(model_of("smoothed-hinge"), data);
  EXPECT_DOUBLE_EQ(metric(out, "accuracy"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(metric(out, "auc"), 0.75);
  EXPECT_DOUBLE_EQ(metric(out, "mean_loss"), 0.5);  // 0, 1.5, 0
  EXPECT_EQ(out.confusion, (metrics::Confusion{{1, 0}, {1, 1}}));
  ASSERT_EQ(out.classes.size(), 2U);
  EXPECT_EQ(out.classes[1].name, "yes");
  EXPECT_DOUBLE_EQ(out.classes[1].recall, 0.5);
}

TEST(Evaluation, RefusesTargetsThatTheModelCannotPredict) {
  DataTable data = table({}, rows({{1, 0}, {0, 1}}));
  EXPECT_THROW(evaluate(model_of("huber"), data), InputError);  // none
  data.targets = {1, -1};
  EXPECT_EQ(refusal([&] { return evaluate(model_of("poisson"), data); }).path(), "sample 2");
  data.targets = {0, 1};
  data.labels = {"red", "blue"};
  const auto words = refusal([&] { return evaluate(model_of("huber"), data); });
  EXPECT_NE(words.message().find("\"red\""), std::string::npos) << words.what();
}

}  // namespace
}  // namespace polyhop::prediction_test

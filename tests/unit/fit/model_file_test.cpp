// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/model_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/npz_reader.hpp"
#include "polyhop/core/npz_writer.hpp"
#include "support/temporary_folder.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::model_file_test {
namespace {

Model softmax_model() {
  Model model;
  model.options.loss = builtin_loss("softmax");
  model.options.l2 = 0.125;
  model.options.standardise = true;
  model.features = {"größe", "with \"quotes\", and more"};
  model.target = "kind";
  model.classes = {"a", "b", "10"};
  model.weights = Rows(3, 2);
  for (Index r = 0; r < 3; ++r) {
    model.weights(r, 0) = 1.0 / static_cast<double>(r + 3);
    model.weights(r, 1) = -1e-300 * static_cast<double>(r);
  }
  model.intercept = {0, -2, 0.1};
  model.mean = {1, -3};
  model.scale = {0.5, 1};
  model.provenance = {{"version", "0.4"}, {"data", "a b.csv"}};
  return model;
}

Model huber_model() {
  Model model;
  model.options.loss = builtin_loss("huber", Value::Table{{"delta", 2.0}});
  model.weights = Rows(1, 2, 1.5);
  model.intercept = {0};
  return model;
}

bool same(const Rows& a, const Rows& b) {
  if (a.rows() != b.rows() || a.columns() != b.columns()) return false;
  for (Index r = 0; r < a.rows(); ++r) {
    if (!std::ranges::equal(a.row(r), b.row(r))) return false;
  }
  return true;
}

class ModelFile : public test::TemporaryFolder {
 protected:
  /// What a file holds when only its metadata are replaced.
  void forge(const std::string& from, const std::string& to) const {
    save_model(huber_model(), file("good.npz"));
    const NpzReader in(file("good.npz"));
    std::string text = in.text("metadata.json");
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    write("bad.npz", text.replace(at, from.size(), to), {1, 2}, {0}, {1});
  }
  void write(const std::string& name, const std::string& text, const std::vector<Index>& shape,
             const std::vector<double>& intercept, const std::vector<Index>& intercept_shape) const {
    Index count = 1;
    for (const Index n : shape) count *= n;
    NpzWriter out(file(name));
    out.add("weights", std::vector<double>(count, 1.5), shape);
    out.add("intercept", intercept, intercept_shape);
    out.add_text("metadata.json", text);
    out.close();
  }
  void expect_refused(const std::string& name, const std::string& says) const {
    const auto error = refusal([&] { return load_model(file(name)); });
    EXPECT_EQ(error.file(), file(name));
    EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
  }
};

TEST_F(ModelFile, GivesBackWhatWasSaved) {
  for (const Model& model : {softmax_model(), huber_model()}) {
    save_model(model, file("m.npz"));
    const Model again = load_model(file("m.npz"));
    const auto& fields = ModelOptions::fields();
    EXPECT_EQ(fields.write(again.options).text(), fields.write(model.options).text());
    EXPECT_EQ(again.features, model.features);
    EXPECT_EQ(again.target, model.target);
    EXPECT_EQ(again.classes, model.classes);
    EXPECT_TRUE(same(again.weights, model.weights));
    EXPECT_EQ(again.intercept, model.intercept);
    EXPECT_EQ(again.mean, model.mean);
    EXPECT_EQ(again.scale, model.scale);
    EXPECT_EQ(again.provenance, model.provenance);
  }
  EXPECT_EQ(entries(), 1);
}

TEST_F(ModelFile, RemembersWhereColumnsWithoutNamesStood) {
  Model model = huber_model();
  model.target = "2";
  model.columns = {{1, 4}, 5, 2};
  model.id = "3";
  save_model(model, file("m.npz"));
  const Model got = load_model(file("m.npz"));
  EXPECT_EQ(got.columns.features, (std::vector<Index>{1, 4}));
  EXPECT_EQ(got.columns.width, 5);
  EXPECT_EQ(got.columns.target, 2);
  EXPECT_EQ(got.id, "3");
  // Columns that rise, fit the table, and leave the target out.
  for (const LearnedColumns& bad :
       {LearnedColumns{{4, 1}, 5, 2}, {{1, 2}, 5, 2}, {{1, 6}, 5, 2}, {{0, 1}, 5, 2}, {{1}, 5, 2}}) {
    model.columns = bad;
    EXPECT_FALSE(polyhop::refusal([&] {
                   save_model(model, file("bad.npz"));
                   return 0;
                 })
                     .message()
                     .empty());
  }
}

TEST_F(ModelFile, LearnedPlacesSayWhereTheTargetStandsUnlessSomebodyDoes) {
  Model model = huber_model();
  model.target = "2";
  EXPECT_EQ(format_for(model, "", true).target, "2");
  model.columns = {{1, 3}, 3, 2};
  EXPECT_EQ(format_for(model, "", true).target, "");
  EXPECT_EQ(format_for(model, "1", true).target, "1");
}

TEST_F(ModelFile, TheSameModelIsTheSameBytes) {
  save_model(softmax_model(), file("a.npz"));
  save_model(softmax_model(), file("b.npz"));
  EXPECT_EQ(content("a.npz"), content("b.npz"));
}

TEST_F(ModelFile, RefusesToSaveWhatDoesNotFitTogetherAndLeavesNothing) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<std::string, std::function<void(Model&)>>> faults = {
      {"classes", [](Model& m) { m.classes = {"a"}; }},
      {"classes",
       [](Model& m) {
         m.classes = {"a", "b", "a"};
       }},
      {"classes", [](Model& m) { m.options.loss = builtin_loss("huber"); }},
      {"classes", [](Model& m) { m.options.loss = builtin_loss("logistic"); }},
      {"weights", [](Model& m) { m.weights = Rows(2, 2); }},
      {"weights", [](Model& m) { m.weights = Rows(3, 0); }},
      {"weights", [](Model& m) { m.weights(1, 1) = nan; }},
      {"intercept", [](Model& m) { m.intercept = {1}; }},
      {"intercept", [](Model& m) { m.intercept[0] = nan; }},
      {"features", [](Model& m) { m.features = {"a"}; }},
      {"mean", [](Model& m) { m.mean.clear(); }},
      {"scale", [](Model& m) { m.scale = {1}; }},
      {"scale",
       [](Model& m) {
         m.scale = {1, 0};
       }},
      {"l2", [](Model& m) { m.options.l2 = -1; }},
      {"model", [](Model& m) { m.features[0] = "\xff"; }},
  };
  for (const auto& [path, spoil] : faults) {
    Model model = softmax_model();
    spoil(model);
    EXPECT_EQ(refusal([&] { return save_model(model, file("m.npz")), 0; }).path(), path);
  }
  EXPECT_EQ(entries(), 0);
}

TEST_F(ModelFile, RefusesFilesThatAreNoModels) {
  expect_refused("missing.npz", "there is no such model");
  std::filesystem::create_directory(file("folder.npz"));
  expect_refused("folder.npz", "is a folder");
  std::ofstream(file("text.npz")) << "weights 1 2 3\n";
  expect_refused("text.npz", "is not a model");
  NpzWriter run(file("models.npz"));
  run.add("GAP/0", std::vector<double>{1}, {1, 1});
  run.close();
  expect_refused("models.npz", "polyhop fit");
}

TEST_F(ModelFile, RefusesEveryBeginningOfAModel) {
  save_model(softmax_model(), file("m.npz"));
  const std::string whole = content("m.npz");
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    std::ofstream(file("cut.npz"), std::ios::binary) << whole.substr(0, length);
    EXPECT_EQ(refusal([&] { return load_model(file("cut.npz")); }).file(), file("cut.npz")) << length;
  }
}

TEST_F(ModelFile, RefusesForgedMetadata) {
  forge("\"version\": 2", "\"version\": 3");
  expect_refused("bad.npz", "format 3");
  forge("\"version\": 2", "\"version\": \"2\"");
  expect_refused("bad.npz", "version");
  forge("polyhop model", "something else");
  expect_refused("bad.npz", "polyhop fit");
  forge("\"huber\"", "\"hubert\"");
  expect_refused("bad.npz", "did you mean 'huber'");
  forge("\"huber\"", "17");
  expect_refused("bad.npz", "loss: found 17, expected text in quotes");
  forge("\"features\": []", "\"features\": [\"a\", 3]");
  expect_refused("bad.npz", "features");
  forge("\"features\": []", "\"features\": [\"a\"]");
  expect_refused("bad.npz", "features: holds 1 instead of 2");
  forge("\"l2\": 0.0", "\"l2\": 1e999");
  expect_refused("bad.npz", "JSON");
  forge("\"l2\": 0.0", "\"l3\": 0.0");
  expect_refused("bad.npz", "l2");
  forge("\"provenance\": []", "\"provenance\": [[\"a\"]]");
  expect_refused("bad.npz", "provenance");
  forge("{", "[");
  expect_refused("bad.npz", "JSON");
}

TEST_F(ModelFile, RefusesForgedShapes) {
  save_model(huber_model(), file("good.npz"));
  const std::string text = NpzReader(file("good.npz")).text("metadata.json");
  write("a.npz", text, {2}, {0}, {1});
  expect_refused("a.npz", "weights: has 1 dimension instead of 2");
  write("b.npz", text, {2, 1}, {0, 0}, {2});
  expect_refused("b.npz", "weights: has 2 rows instead of 1");
  write("c.npz", text, {Index{1} << 40, 0}, {0}, {1});
  expect_refused("c.npz", "weights");
  write("d.npz", text, {1, 2}, {0}, {1, 1});
  expect_refused("d.npz", "intercept: has 2 dimensions instead of 1");
  write("e.npz", text, {1, 2}, {0, 1}, {2});
  expect_refused("e.npz", "intercept: holds 2 instead of 1");
}

TEST_F(ModelFile, RefusesWhatNestsTooDeep) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  forge("\"provenance\": []", "\"provenance\": " + deep);
  expect_refused("bad.npz", "metadata.json: nests deeper");
}

TEST_F(ModelFile, ReadsWhatVersionOneWrote) {
  const auto metadata = [](const std::string& loss) {
    return R"({"kind": "polyhop model", "version": 1, "loss": ")" + loss +
           R"(", "delta": 2.5, "l2": 0.5, "unit_rows": true, "features": [], "target": "y", "classes": [],
               "provenance": [["data", "a.csv"]]})";
  };
  write("huber.npz", metadata("huber"), {1, 2}, {3}, {1});
  const Model huber = load_model(file("huber.npz"));
  EXPECT_EQ(huber.options.loss.name, "huber");
  EXPECT_EQ(huber.options.loss.options.text(), "{ delta = 2.5 }");
  EXPECT_EQ(huber.options.l2, 0.5);
  EXPECT_TRUE(huber.options.unit_rows);
  EXPECT_EQ(huber.target, "y");
  EXPECT_EQ(huber.weights(0, 1), 1.5);
  EXPECT_EQ(huber.provenance.at(0).second, "a.csv");
  // Huber's delta stood beside every loss.
  write("squares.npz", metadata("least-squares"), {1, 2}, {3}, {1});
  EXPECT_EQ(load_model(file("squares.npz")).options.loss.options.text(), "{}");
}

TEST_F(ModelFile, SaysThatRowsWereScaled) {
  Model model = huber_model();
  for (const bool unit_rows : {true, false}) {
    model.options.unit_rows = unit_rows;
    save_model(model, file("a.npz"));
    EXPECT_EQ(load_model(file("a.npz")).options.unit_rows, unit_rows);
  }
  forge("\"unit_rows\": false", "\"unit_rows\": 1");
  EXPECT_THROW(load_model(file("bad.npz")), InputError);
}

}  // namespace
}  // namespace polyhop::model_file_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/problem_options.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/memory_scope.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::problem_options_test {
namespace {

Value smallest() {
  Value table;
  table["dimension"] = 4;
  table["samples"] = 3;
  return table;
}

ProblemOptions read(const Value& table) {
  ProblemOptions options = ProblemOptions::fields().read(table, "problem");
  settle(options);
  return options;
}

std::string refused(const std::string& key, const Value& value) {
  Value table = smallest();
  table[key] = value;
  return refusal([&] { return read(table); }).what();
}

TEST(ProblemOptions, HaveTheirDefaults) {
  const ProblemOptions options = read(smallest());
  EXPECT_EQ(options.model.loss.name, "least-squares");
  EXPECT_EQ(options.model.l2, 0);
  EXPECT_EQ(options.model.loss.options.text(), "{}");
  EXPECT_EQ(options.source, "synthetic");
  EXPECT_EQ(options.dimension, 4);
  EXPECT_EQ(options.samples, 3);
  EXPECT_EQ(options.noise, 0);
  EXPECT_EQ(options.scale_spread, 0);
  EXPECT_EQ(options.minimiser_spread, 0);
  EXPECT_EQ(options.model.batch.size, 1);
  EXPECT_FALSE(options.model.batch.all);
  EXPECT_EQ(options.model.sampling, Sampling::uniform);
  EXPECT_TRUE(options.reference.solve);
  EXPECT_FALSE(options.seed.has_value());
}

TEST(ProblemOptions, ReadEveryKeyAndWriteItBack) {
  Value table;
  table["loss"] = "huber";
  table["delta"] = 2.5;
  table["l2"] = 0.5;
  table["partition"] = Value::Table{{"kind", "dirichlet"}, {"alpha", 0.3}};
  table["standardise"] = true;
  table["unit_rows"] = true;
  table["intercept"] = true;
  table["batch"] = "all";
  table["sampling"] = "shuffle";
  table["source"] = "synthetic";
  table["dimension"] = 4;
  table["samples"] = 3;
  table["noise"] = 0.1;
  table["scale_spread"] = 0.2;
  table["minimiser_spread"] = 0.3;
  table["reference"] = 0.75;
  table["precision"] = "single";
  table["seed"] = 9;
  const ProblemOptions options = read(table);
  EXPECT_EQ(options.model.loss.name, "huber");
  EXPECT_EQ(options.model.l2, 0.5);
  EXPECT_EQ(options.model.loss.options.text(), "{ delta = 2.5 }");
  EXPECT_EQ(options.noise, 0.1);
  EXPECT_EQ(options.scale_spread, 0.2);
  EXPECT_EQ(options.minimiser_spread, 0.3);
  EXPECT_TRUE(options.model.batch.all);
  EXPECT_EQ(options.model.sampling, Sampling::shuffle);
  EXPECT_FALSE(options.reference.solve);
  EXPECT_EQ(options.reference.value, 0.75);
  EXPECT_EQ(options.precision, Element::float32);
  EXPECT_EQ(options.seed, 9);
  EXPECT_EQ(ProblemOptions::fields().write(options).text(), table.text());
}

TEST(ProblemOptions, RefuseEachBadValueByItsPath) {
  EXPECT_EQ(refused("loss", "logistics"), R"(problem.loss: unknown name "logistics"; did you mean 'logistic'?)");
  EXPECT_EQ(refused("l2", -1.0), "problem.l2: found -1.0, expected a number >= 0");
  EXPECT_EQ(refused("dimension", 0), "problem.dimension: found 0, expected an integer >= 1");
  EXPECT_EQ(refused("samples", -5), "problem.samples: found -5, expected an integer >= 1");
  EXPECT_EQ(refused("noise", -0.1), "problem.noise: found -0.1, expected a number >= 0");
  EXPECT_EQ(refused("scale_spread", -0.1), "problem.scale_spread: found -0.1, expected a number >= 0");
  EXPECT_EQ(refused("minimiser_spread", -0.1), "problem.minimiser_spread: found -0.1, expected a number >= 0");
  EXPECT_EQ(refused("batch", 0), R"(problem.batch: found 0, expected an integer from 1 to 1000000 or "all")");
  EXPECT_EQ(refused("sampling", "cyclical"), R"(problem.sampling: unknown name "cyclical"; did you mean 'cyclic'?)");
  EXPECT_EQ(refused("reference", "exact"), R"(problem.reference: found "exact", expected "solve", "none" or a number)");
  EXPECT_EQ(refused("seed", -1), "problem.seed: found -1, expected an integer >= 0");
  EXPECT_EQ(refused("dimensions", 3), "problem.dimensions: unknown key; did you mean 'dimension'?");
}

TEST(ProblemOptions, RefuseOptionsThatTheLossDoesNotHave) {
  Value huber = smallest();
  huber["loss"] = "huber";
  huber["delta"] = 0;
  EXPECT_STREQ(refusal([&] { return read(huber); }).what(), "problem.delta: found 0, expected a number > 0");
  EXPECT_EQ(refused("delta", 2.0), "problem.delta: is an option of loss = \"huber\", not of least-squares");
  huber["delta"] = 1;
  huber["delt"] = 1;
  EXPECT_STREQ(refusal([&] { return read(huber); }).what(), "problem.delt: unknown key; did you mean 'delta'?");
}

TEST(ProblemOptions, RefuseWhatIsNotFinite) {
  for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    for (const char* key : {"l2", "noise", "scale_spread", "minimiser_spread", "reference"}) {
      EXPECT_EQ(refused(key, bad).rfind(std::string("problem.") + key + ": found ", 0), 0U) << key;
    }
  }
}

std::string inconsistent(const Value::Table& entries) {
  return refusal([&] { return read(Value(entries)); }).what();
}

TEST(ProblemOptions, RefuseWhatDoesNotGoTogether) {
  EXPECT_EQ(inconsistent({{"samples", 3}}), "problem.dimension: missing; expected an integer >= 1");
  EXPECT_EQ(inconsistent({{"dimension", 3}}), "problem.samples: missing; expected an integer >= 1");
  EXPECT_EQ(inconsistent({{"dimension", 3}, {"samples", 3}, {"data", "x.csv"}}),
            "problem.data: is for source = \"file\"");
  EXPECT_EQ(inconsistent({{"dimension", 3}, {"samples", 3}, {"drop", "a"}}), "problem.drop: is for source = \"file\"");
  EXPECT_EQ(inconsistent({{"source", "file"}}), "problem.data: missing; expected the name of a data file");
  EXPECT_EQ(inconsistent({{"source", "wine"}, {"dimension", 3}}),
            "problem.dimension: is for synthetic data; a file has its own");
  EXPECT_EQ(inconsistent({{"source", "whine"}}), "problem.source: unknown name \"whine\"; did you mean 'wine'?");
  EXPECT_EQ(inconsistent({{"loss", "softmax"}, {"dimension", 3}, {"samples", 3}}),
            "problem.loss: \"softmax\" needs real data: source = \"file\", or a set of `polyhop data`");
}

TEST(ReferenceChoice, IsSolveNoneOrANumber) {
  using C = Codec<ReferenceChoice>;
  EXPECT_TRUE(C::read("solve").solve);
  EXPECT_FALSE(C::read("none").solve);
  EXPECT_FALSE(C::read("none").value.has_value());
  EXPECT_EQ(C::read(2).value, 2.0);
  for (const Value& v : {Value("solve"), Value("none"), Value(0.5)}) EXPECT_EQ(C::write(C::read(v)).text(), v.text());
}

TEST(MakeProblem, UsesAllOptions) {
  Value table = smallest();
  table["loss"] = "huber";
  table["delta"] = 0.25;
  table["l2"] = 0.5;
  const auto problem = make_problem(read(table), 2, 1);
  EXPECT_EQ(problem->agents(), 2);
  EXPECT_EQ(problem->dimension(), 4);
  EXPECT_EQ(problem->data().samples(1), 3);
  EXPECT_EQ(problem->l2(), 0.5);
  // Far outside, Huber's slope is delta.
  const double z = 100;
  const double y = 0;
  double slope = 0;
  dynamic_cast<const LinearProblem&>(*problem).loss().slopes({&z, 1}, {&y, 1}, {&slope, 1});
  EXPECT_EQ(slope, 0.25);
}

TEST(MakeProblem, MakesClassesForTheLogisticLoss) {
  Value table = smallest();
  table["loss"] = "logistic";
  table["samples"] = 20;
  const auto problem = make_problem(read(table), 2, 1);
  for (const double y : problem->data().targets) EXPECT_EQ(std::abs(y), 1);
}

TEST(MakeProblem, ASeedOfItsOwnOverridesTheExperiments) {
  Value table = smallest();
  const auto free_5 = make_problem(read(table), 2, 5);
  const auto free_6 = make_problem(read(table), 2, 6);
  table["seed"] = 5;
  const auto fixed = make_problem(read(table), 2, 6);
  EXPECT_NE(free_5->data().targets, free_6->data().targets);
  EXPECT_EQ(free_5->data().targets, fixed->data().targets);
}

TEST(MakeProblem, TheDatasSeedLeavesTheSamplingAlone) {
  Value table = smallest();
  table["seed"] = 5;
  table["samples"] = 1000;
  const auto problem = make_problem(read(table), 1, 6);
  const Rows w(1, 4);
  const auto one = problem->oracle({0, 1}, 1);
  const auto two = problem->oracle({0, 1}, 2);
  one->draw(0);
  two->draw(0);
  EXPECT_NE(one->evaluate(w, true).values, two->evaluate(w, true).values);
}

TEST(MakeProblem, RefusesWhatNoMemoryHolds) {
  Value table;
  table["dimension"] = 1000000;
  table["samples"] = 1000;
  const MemoryScope scope(16e9);
  const auto error = refusal([&] { return make_problem(read(table), 10, 1); });
  EXPECT_TRUE(
      std::string(error.what())
          .starts_with("problem: 10 agents x 1000 samples x 1000000 features need 80 GB; the memory limit is 16 "
                       "GB"))
      << error.what();
  // A product beyond any integer is refused as well.
  table["dimension"] = std::numeric_limits<Index>::max();
  table["samples"] = std::numeric_limits<Index>::max();
  EXPECT_EQ(refusal([&] { return make_problem(read(table), 10, 1); }).path(), "problem");
}

TEST(MakeReference, SolvesGivesOrLeavesIt) {
  ProblemOptions options = read(smallest());
  const auto problem = make_problem(options, 2, 1);
  const Reference solved = make_reference(options.reference, *problem);
  EXPECT_TRUE(solved.minimiser.has_value());
  EXPECT_NEAR(solved.value, 0, 1e-20) << "without noise a common minimiser explains everything";

  options.reference = {false, 0.75};
  const Reference given = make_reference(options.reference, *problem);
  EXPECT_FALSE(given.minimiser.has_value());
  EXPECT_EQ(given.value, 0.75);
  EXPECT_EQ(given.how, "given");

  options.reference = {false, {}};
  const Reference none = make_reference(options.reference, *problem);
  EXPECT_FALSE(none.minimiser.has_value());
  EXPECT_EQ(none.value, 0);
  EXPECT_TRUE(std::isnan(none.accuracy));
}

}  // namespace
}  // namespace polyhop::problem_options_test

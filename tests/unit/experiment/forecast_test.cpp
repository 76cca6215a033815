// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/forecast.hpp"

#include <gtest/gtest.h>

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/toml_reader.hpp"

namespace polyhop::forecast_test {
namespace {

Config tiny(const std::string& more = "") {
  return read_config(read_toml(R"(
    seeds = "0..2"
    iterations = 40
    [graph]
    topology = "ring"
    agents = 4
    [problem]
    dimension = 3
    samples = 2
    [[method]]
    name = "gap"
    step = "gap"
    [[method]]
    name = "far"
    step = { rule = "constant", value = 1e9 }
  )" + more));
}

TEST(Forecast, CountsCellsAndMeasuresEveryMethod) {
  const Forecast f = forecast(tiny(), 2);
  EXPECT_EQ(f.agents, 4);
  EXPECT_EQ(f.dimension, 3);
  EXPECT_EQ(f.cells, 6);
  ASSERT_EQ(f.methods.size(), 2U);
  EXPECT_EQ(f.methods[0].method, "gap");
  EXPECT_EQ(f.methods[0].measured, 40);
  ASSERT_TRUE(f.methods[0].seconds);
  EXPECT_GT(*f.methods[0].seconds, 0);
  EXPECT_GT(f.seconds, 0);
  EXPECT_GT(f.bytes, 1e5);
}

TEST(Forecast, TakesWhatAMethodDidBeforeItDiverged) {
  const Forecast f = forecast(tiny(), 1);
  ASSERT_TRUE(f.methods[1].seconds);
  EXPECT_GE(f.methods[1].measured, 1);
}

TEST(Forecast, CountsTheTrialsOfATunedStep) {
  const std::string tuned = "[[method]]\nname = \"t\"\nstep = \"tuned\"\n[tuning]\nbudget = 5\n";
  const Forecast f = forecast(tiny(tuned + "seeds = [7, 8]\n"), 1);
  EXPECT_EQ(f.methods[0].trials, 0);
  EXPECT_EQ(f.methods[2].trials, 10);
  EXPECT_DOUBLE_EQ(f.methods[2].expected_trials, 6) << "they end at the target, or when they have lost";
  ASSERT_TRUE(f.methods[2].seconds);
  // 3 seeds of each, 6 tenths of the 10 trials, and the instances of 3 seeds and of 2 to tune on.
  const double expected =
      3 * (*f.methods[0].seconds + *f.methods[1].seconds) + 9 * *f.methods[2].seconds + 5 * f.instance_seconds;
  EXPECT_NEAR(f.seconds, expected, 1e-9 * expected);
  EXPECT_THROW((void)forecast(tiny(tuned + "seeds = 1\n"), 1), InputError) << "seed 1 is reported";
}

TEST(Forecast, CountsASearchThatMethodsShareOnce) {
  const Forecast f = forecast(
      tiny("[[method]]\nname = \"t\"\nstep = { rule = \"tuned\", factor = [1, 0.5] }\n[tuning]\nbudget = 5\n"), 1);
  ASSERT_EQ(f.methods.size(), 4U);
  EXPECT_EQ(f.methods[2].trials, 15);
  EXPECT_EQ(f.methods[3].trials, 0);
}

TEST(Forecast, ARunThatEndsEarlyCountsAsFarAsItGoes) {
  Config config = tiny();
  config.options.iterations = 1'000'000'000;
  config.options.record_every = 1;
  const Forecast f = forecast(config, 1, 0.2);
  ASSERT_TRUE(f.methods[1].seconds);
  EXPECT_LT(f.methods[1].measured, 1000) << "it diverges";
  EXPECT_LT(*f.methods[1].seconds, 1);
  EXPECT_GT(*f.methods[0].seconds, 1);
  config.options.target = 1e9;
  config.options.stop_at_target = true;
  const Forecast stopped = forecast(config, 1, 0.2);
  EXPECT_EQ(stopped.methods[0].measured, 0);
  EXPECT_LT(*stopped.methods[0].seconds, 1);
}

TEST(Forecast, NoRunTakesLongerThanItMay) {
  Config config = tiny();
  config.options.time_limit = 1e-12;
  const Forecast f = forecast(config, 1);
  EXPECT_EQ(f.methods[0].seconds, 1e-12);
}

TEST(Forecast, WithoutTimeNothingIsMeasuredButAllIsBuilt) {
  const Forecast f = forecast(tiny(), 1, 0);
  for (const MethodForecast& method : f.methods) EXPECT_FALSE(method.seconds);
  EXPECT_EQ(f.cells, 6);
  const Config bad = tiny("[[method]]\nname = \"p\"\nstep = { rule = \"polyak\", optimum = [1, 2] }\n");
  try {
    (void)forecast(bad, 1, 0);
    FAIL() << "two optima for four agents";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("\"p\""), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace polyhop::forecast_test

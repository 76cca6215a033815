// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/toml_writer.hpp"

#include <gtest/gtest.h>

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/toml_reader.hpp"

namespace polyhop::toml_writer_test {
namespace {

TEST(ToToml, WritesPlainKeysFirstThenTables) {
  const Value root = Value::Table{{"graph", Value::Table{{"agents", 3}}},
                                  {"name", "n"},
                                  {"method", Value::Array{Value::Table{{"a", 1}}, Value::Table{{"a", 2.0}}}}};
  EXPECT_EQ(to_toml(root), "name = \"n\"\n\n[graph]\nagents = 3\n\n[[method]]\na = 1\n\n[[method]]\na = 2.0\n");
}

TEST(ToToml, QuotesKeysThatNeedIt) {
  const Value root = Value::Table{{"a.b", 1}, {"", 2}, {"deep", Value::Array{1, Value::Table{{"x y", true}}}}};
  const std::string text = to_toml(root);
  EXPECT_EQ(text, "\"a.b\" = 1\n\"\" = 2\ndeep = [1, { \"x y\" = true }]\n");
  EXPECT_EQ(read_toml(text).text(), root.text());
}

TEST(ToToml, GivesALongTableLinesOfItsOwn) {
  const std::string word(60, 'x');
  const Value step = Value::Table{{"rule", "gap"}, {"note", Value(word)}};
  const Value root = Value::Table{{"method", Value::Array{Value::Table{{"step", step}, {"name", "n"}}}}};
  const std::string text = to_toml(root);
  EXPECT_EQ(text, "\n[[method]]\nname = \"n\"\n\n[method.step]\nrule = \"gap\"\nnote = \"" + word + "\"\n");
  const Value again = read_toml(text);
  EXPECT_EQ(again.find("method")->as<Value::Array>()->front().find("step")->find("note")->text(), in_quotes(word));
}

TEST(ToToml, LeavesOutWhatIsNotSet) { EXPECT_EQ(to_toml(Value::Table{{"a", Value()}, {"b", 1}}), "b = 1\n"); }

TEST(ToToml, RefusesWhatIsNotATable) { EXPECT_THROW((void)to_toml(Value(1)), Error); }

TEST(ToToml, AResolvedConfigurationReadsBackToItself) {
  const Config config = read_config(read_toml(R"TOML(
    seeds = [3, 1, 4]
    target = 1e-300
    [graph]
    topology = "erdos-renyi"
    agents = 7
    probability = 0.1
    [problem]
    dimension = 4
    samples = 2
    batch = "all"
    [[method]]
    name = "a \"quoted\" name = [x]"
    step = { rule = "gap", sweeps = [2, "exact"], bound = "tight", cap = "0.5/sqrt(i+1)" }
    [[method]]
    step = { rule = "polyak", optimum = [1, 2, 3, 4, 5, 6, 7.5], max = 0.1 }
  )TOML"));
  const std::string text = to_toml(resolved(config));
  const Config again = read_config(read_toml(text));
  EXPECT_EQ(to_toml(resolved(again)), text);
  EXPECT_EQ(resolved(again).text(), resolved(config).text());
  EXPECT_EQ(again.methods.size(), 3U);
}

}  // namespace
}  // namespace polyhop::toml_writer_test

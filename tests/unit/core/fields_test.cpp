// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/fields.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unit/core/refusal.hpp"

namespace polyhop::fields_test {
enum class Colour { red, dark_green };
}  // namespace polyhop::fields_test

template <>
struct polyhop::EnumNames<polyhop::fields_test::Colour> {
  using Colour = fields_test::Colour;
  static constexpr std::array<std::pair<Colour, std::string_view>, 2> names = {{
      {Colour::red, "red"},
      {Colour::dark_green, "dark-green"},
  }};
};

namespace polyhop::fields_test {
namespace {

struct Inner {
  double size = 0.5;
  static const FieldTable<Inner>& fields() {
    static const auto table = FieldTable<Inner>().add("size", &Inner::size, "how large", {above(0)});
    return table;
  }
};

struct Example {
  Index count = 0;
  double rate = 0.1;
  bool fast = false;
  std::string title = "none";
  Colour colour = Colour::red;
  std::optional<Index> seed;
  std::vector<double> list;
  Inner inner;
  static const FieldTable<Example>& fields() {
    static const auto table = FieldTable<Example>()
                                  .require("count", &Example::count, "how many", {count_from(1)})
                                  .add("rate", &Example::rate, "how quickly", {strictly_within(0, 2)})
                                  .add("fast", &Example::fast, "whether")
                                  .add("title", &Example::title, "what it is called")
                                  .add("colour", &Example::colour, "which")
                                  .add("seed", &Example::seed, "where from", count_from(0))
                                  .add("list", &Example::list, "several")
                                  .add("inner", &Example::inner, "more");
    return table;
  }
};

// What `key = value` beside a good count leads to.
InputError refused(const std::string& key, const Value& value) {
  Value table;
  table["count"] = 1;
  table[key] = value;
  return refusal([&] { return Example::fields().read(table, "example"); });
}

Value full() {
  Value table;
  table["count"] = 3;
  table["rate"] = 1.5;
  table["fast"] = true;
  table["title"] = "a \"title\"";
  table["colour"] = "dark-green";
  table["seed"] = 0;
  table["list"] = Value::Array{1.0, 2.5};
  table["inner"]["size"] = 2.0;
  return table;
}

TEST(FieldTable, ReadsEveryField) {
  const Example e = Example::fields().read(full(), "example");
  EXPECT_EQ(e.count, 3);
  EXPECT_EQ(e.rate, 1.5);
  EXPECT_TRUE(e.fast);
  EXPECT_EQ(e.title, "a \"title\"");
  EXPECT_EQ(e.colour, Colour::dark_green);
  EXPECT_EQ(e.seed, 0);
  EXPECT_EQ(e.list, (std::vector<double>{1, 2.5}));
  EXPECT_EQ(e.inner.size, 2);
}

TEST(FieldTable, KeepsTheDefaultsOfWhatIsNotGiven) {
  Value table;
  table["count"] = 3;
  const Example e = Example::fields().read(table, "example");
  EXPECT_EQ(e.rate, 0.1);
  EXPECT_FALSE(e.fast);
  EXPECT_EQ(e.title, "none");
  EXPECT_EQ(e.colour, Colour::red);
  EXPECT_EQ(e.seed, std::nullopt);
  EXPECT_TRUE(e.list.empty());
  EXPECT_EQ(e.inner.size, 0.5);
}

TEST(FieldTable, WritesBackWhatItRead) {
  const auto& fields = Example::fields();
  EXPECT_EQ(fields.write(fields.read(full(), "")).text(), full().text());
}

TEST(FieldTable, WritesNothingForAnOptionalWithoutValue) {
  Value table;
  table["count"] = 3;
  const auto& fields = Example::fields();
  const Value written = fields.write(fields.read(table, ""));
  EXPECT_EQ(written.find("seed"), nullptr);
  EXPECT_EQ(
      written.text(),
      R"({ count = 3, rate = 0.1, fast = false, title = "none", colour = "red", list = [], inner = { size = 0.5 } })");
}

TEST(FieldTable, AnIntegerServesAsANumber) {
  Value table;
  table["count"] = 1;
  table["rate"] = 1;
  EXPECT_EQ(Example::fields().read(table, "").rate, 1.0);
}

TEST(FieldTable, SuggestsTheNearestKey) {
  const auto error = refused("rat", 1.0);
  EXPECT_EQ(error.path(), "example.rat");
  EXPECT_EQ(error.message(), "unknown key; did you mean 'rate'?");
}

TEST(FieldTable, ListsTheKeysWhenNoneIsNear) {
  EXPECT_EQ(refused("whatever", 1.0).message(),
            "unknown key; allowed: count, rate, fast, title, colour, seed, list, inner");
}

TEST(FieldTable, LeavesKeysToSomebodyElse) {
  Value table;
  table["count"] = 1;
  table["rule"] = "gap";
  EXPECT_EQ(Example::fields().read(table, "", {"rule"}).count, 1);
  table["rulle"] = "gap";
  const auto error = refusal([&] { return Example::fields().read(table, "", {"rule"}); });
  EXPECT_EQ(error.message(), "unknown key; did you mean 'rule'?");
}

TEST(FieldTable, RefusesTheWrongType) {
  EXPECT_STREQ(refused("rate", "1.0").what(), R"(example.rate: found "1.0", expected a number)");
  EXPECT_STREQ(refused("count", 1.0).what(), "example.count: found 1.0, expected an integer");
  EXPECT_STREQ(refused("fast", 1).what(), "example.fast: found 1, expected true or false");
  EXPECT_STREQ(refused("title", true).what(), "example.title: found true, expected text in quotes");
  EXPECT_STREQ(refused("list", 1.0).what(), "example.list: found 1.0, expected a list");
  EXPECT_STREQ(refused("list", Value::Array{1.0, "x"}).what(), R"(example.list: found "x", expected a number)");
  EXPECT_STREQ(refused("seed", "0").what(), R"(example.seed: found "0", expected an integer)");
  EXPECT_STREQ(refused("colour", 1).what(), "example.colour: found 1, expected one of red | dark-green");
  EXPECT_STREQ(refused("inner", 1).what(), "example.inner: found 1, expected a table");
}

TEST(FieldTable, RefusesWhatViolatesAConstraint) {
  EXPECT_STREQ(refused("count", 0).what(), "example.count: found 0, expected an integer >= 1");
  EXPECT_STREQ(refused("rate", 2.0).what(), "example.rate: found 2.0, expected a number in (0, 2)");
  EXPECT_STREQ(refused("rate", 0).what(), "example.rate: found 0, expected a number in (0, 2)");
  EXPECT_STREQ(refused("seed", -1).what(), "example.seed: found -1, expected an integer >= 0");
}

TEST(FieldTable, NamesTheNearestOfAnEnumeration) {
  EXPECT_STREQ(refused("colour", "dark_green").what(),
               R"(example.colour: unknown name "dark_green"; did you mean 'dark-green'?)");
  EXPECT_STREQ(refused("colour", "blue").what(), R"(example.colour: unknown name "blue"; allowed: red, dark-green)");
}

TEST(FieldTable, NamesThePathInsideANestedTable) {
  Value inner;
  inner["size"] = 0.0;
  EXPECT_STREQ(refused("inner", inner).what(), "example.inner.size: found 0.0, expected a number > 0");
  Value typo;
  typo["sise"] = 1.0;
  EXPECT_STREQ(refused("inner", typo).what(), "example.inner.sise: unknown key; did you mean 'size'?");
}

TEST(FieldTable, MissesARequiredField) {
  Value table = Value::Table{};
  table.line = 12;
  const auto error = refusal([&] { return Example::fields().read(table, "example"); });
  EXPECT_STREQ(error.what(), "line 12: example.count: missing; expected an integer >= 1");
}

TEST(FieldTable, SaysTypesInWords) {
  EXPECT_EQ(in_words("integer"), "an integer");
  EXPECT_EQ(in_words("list of number"), "a list of number");
  EXPECT_EQ(in_words("table"), "a table");
  EXPECT_EQ(in_words("text"), "text");
  EXPECT_EQ(in_words("true | false"), "true or false");
  EXPECT_EQ(in_words(R"("auto" | integer | number > 0)"), R"("auto", an integer or a number > 0)");
}

TEST(FieldTable, SaysTheLineOfTheBadValue) {
  Value bad = 0;
  bad.line = 8;
  EXPECT_EQ(refused("count", bad).line(), 8);
  Value unknown = 1;
  unknown.line = 9;
  EXPECT_EQ(refused("cuont", unknown).line(), 9);
  Value list = Value::Array{"x"};
  list.line = 10;
  EXPECT_EQ(refused("list", list).line(), 10);
}

TEST(FieldTable, AtTheTopAPathIsTheKeyAlone) {
  const auto error = refusal([] { return Example::fields().read(Value(Value::Table{{"x", 1}}), ""); });
  EXPECT_EQ(error.path(), "x");
}

TEST(FieldTable, RefusesWhatIsNoTable) {
  EXPECT_STREQ(refusal([] { return Example::fields().read(Value(1), "example"); }).what(),
               "example: found 1, expected a table");
}

TEST(FieldTable, InfoTellsTypesDefaultsAndConstraints) {
  const auto info = Example::fields().info();
  const std::vector<std::array<std::string, 5>> expected = {
      {"count", "integer", "required", ">= 1", "how many"},   {"rate", "number", "0.1", "in (0, 2)", "how quickly"},
      {"fast", "true | false", "false", "", "whether"},       {"title", "text", "\"none\"", "", "what it is called"},
      {"colour", "red | dark-green", "\"red\"", "", "which"}, {"seed", "integer", "-", ">= 0", "where from"},
      {"list", "list of number", "[]", "", "several"},        {"inner", "table", "-", "", "more"},
  };
  ASSERT_EQ(info.size(), expected.size());
  for (std::size_t n = 0; n < info.size(); ++n) {
    const std::array<std::string, 5> got = {info[n].name, info[n].type, info[n].default_text, info[n].constraint,
                                            info[n].help};
    EXPECT_EQ(got, expected[n]);
  }
}

TEST(Constraint, HoldsExactlyWhereItSays) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(above(1).holds(1));
  EXPECT_TRUE(above(1).holds(1.5));
  EXPECT_TRUE(at_least(1).holds(1));
  EXPECT_FALSE(at_least(1).holds(0.5));
  EXPECT_TRUE(within(0, 1).holds(0));
  EXPECT_TRUE(within(0, 1).holds(1));
  EXPECT_FALSE(within(0, 1).holds(1.5));
  EXPECT_FALSE(strictly_within(0, 1).holds(0));
  EXPECT_FALSE(strictly_within(0, 1).holds(1));
  EXPECT_TRUE(strictly_within(0, 1).holds(0.5));
  EXPECT_TRUE(count_from(2).holds(2));
  EXPECT_FALSE(count_from(2).holds(1));
  for (const auto& constraint : {above(0), at_least(0), within(0, 1), strictly_within(0, 1)}) {
    EXPECT_FALSE(constraint.holds(inf)) << constraint.text;
    EXPECT_FALSE(constraint.holds(nan)) << constraint.text;
  }
  EXPECT_EQ(above(0.5).text, "> 0.5");
  EXPECT_EQ(at_least(0).text, ">= 0");
  EXPECT_EQ(within(0, 1).text, "in [0, 1]");
}

TEST(NameOf, IsTheNameInTheList) {
  EXPECT_EQ(name_of(Colour::dark_green), "dark-green");
  EXPECT_EQ(name_of(static_cast<Colour>(9)), "?");
}

}  // namespace
}  // namespace polyhop::fields_test

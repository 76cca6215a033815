// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/json.hpp"

#include <gtest/gtest.h>

#include <string>

#include "unit/core/refusal.hpp"

namespace polyhop::json_test {
namespace {

TEST(Json, GivesBackWhatWasWritten) {
  const Value value = Value::Table{{"a", 1},
                                   {"b", 0.1},
                                   {"c", "größe \"x\""},
                                   {"d", Value::Array{Value(true), Value(Value::Table{}), Value(Value::Array{})}}};
  EXPECT_EQ(parse_json(json_text(value)).text(), value.text());
  EXPECT_EQ(json_text(Value::Table{{"n", 1}}), "{\n  \"n\": 1\n}\n");
}

TEST(Json, KnowsNothingAndNumbersBeyondIntegers) {
  EXPECT_TRUE(parse_json("null").empty());
  const Value beyond = parse_json("18446744073709551615");
  ASSERT_NE(beyond.as<double>(), nullptr);
  EXPECT_EQ(*beyond.as<double>(), 18446744073709551615.0);
  EXPECT_EQ(parse_json("-3").text(), "-3");
}

TEST(Json, RefusesWhatIsNoneAndWhatNestsTooDeep) {
  EXPECT_EQ(refusal([] { return parse_json("{\"a\": }"); }).message(), "is not JSON");
  EXPECT_EQ(refusal([] { return parse_json("1e999"); }).message(), "is not JSON");
  const auto nested = [](int depth) { return std::string(depth, '[') + "1" + std::string(depth, ']'); };
  EXPECT_NO_THROW((void)parse_json(nested(64)));
  for (const int depth : {65, 1000000}) {
    EXPECT_EQ(refusal([&] { return parse_json(nested(depth)); }).message(), "nests deeper than 64 levels") << depth;
  }
}

TEST(Json, RefusesTextThatIsNotUtf8) {
  EXPECT_NE(refusal([] { return json_text(Value("\xff")); }).message().find("UTF-8"), std::string::npos);
  EXPECT_EQ(json_text(Value("a\xff"), true), "\"a\ufffd\"\n");
}

}  // namespace
}  // namespace polyhop::json_test

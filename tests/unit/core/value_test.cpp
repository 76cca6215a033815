// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/value.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include "polyhop/core/error.hpp"
#include "polyhop/core/random.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::value_test {
namespace {

TEST(Shortest, ReadsBackAsTheSameDouble) {
  Stream stream(1, Purpose::noise);
  int finite = 0;
  for (int n = 0; n < 20000; ++n) {
    const auto x = std::bit_cast<double>(stream.bits());
    if (!std::isfinite(x)) continue;
    ++finite;
    const double back = std::strtod(shortest(x).c_str(), nullptr);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(x)) << shortest(x);
  }
  EXPECT_GT(finite, 19000);
}

TEST(Shortest, IsShort) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(shortest(3), "3");
  EXPECT_EQ(shortest(1e-6), "1e-06");
  EXPECT_EQ(shortest(-0.0), "-0");
  EXPECT_EQ(shortest(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(Shortest, NamesWhatIsNotFinite) {
  EXPECT_EQ(shortest(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(shortest(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(shortest(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(shortest(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(InQuotes, EscapesWhatTomlAndJsonForbid) {
  EXPECT_EQ(in_quotes("plain"), R"("plain")");
  EXPECT_EQ(in_quotes(""), R"("")");
  EXPECT_EQ(in_quotes(R"(a "b" \c)"), R"("a \"b\" \\c")");
  EXPECT_EQ(in_quotes("a\nb\tc"), R"("a\u000ab\u0009c")");
  EXPECT_EQ(in_quotes(std::string("\0\x1f\x7f", 3)), R"("\u0000\u001f\u007f")");
}

TEST(InQuotes, LeavesOtherBytesAlone) { EXPECT_EQ(in_quotes("größer ⊂ 網"), "\"größer ⊂ 網\""); }

TEST(Value, TextIsAsInToml) {
  EXPECT_EQ(Value(true).text(), "true");
  EXPECT_EQ(Value(false).text(), "false");
  EXPECT_EQ(Value(-3).text(), "-3");
  EXPECT_EQ(Value(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
  EXPECT_EQ(Value("a\"b").text(), R"("a\"b")");
  EXPECT_EQ(Value(Value::Array{1, 2.5, "x"}).text(), R"([1, 2.5, "x"])");
  EXPECT_EQ(Value(Value::Array{}).text(), "[]");
  EXPECT_EQ(Value(Value::Table{}).text(), "{}");
  EXPECT_EQ(Value().text(), "nothing");
}

TEST(Value, TextTellsANumberFromAnInteger) {
  EXPECT_EQ(Value(1.0).text(), "1.0");
  EXPECT_EQ(Value(1).text(), "1");
  EXPECT_EQ(Value(-0.0).text(), "-0.0");
  EXPECT_EQ(Value(1e300).text(), "1e+300");
  EXPECT_EQ(Value(0.25).text(), "0.25");
  EXPECT_EQ(Value(std::numeric_limits<double>::infinity()).text(), "inf");
  EXPECT_EQ(Value(std::numeric_limits<double>::quiet_NaN()).text(), "nan");
}

TEST(Value, TextOfATableKeepsTheOrder) {
  Value v;
  v["rule"] = "gap";
  v["sweeps"] = 2;
  v["inner"]["deep"] = true;
  EXPECT_EQ(v.text(), R"({ rule = "gap", sweeps = 2, inner = { deep = true } })");
}

TEST(Value, BracketsMakeAndFindEntries) {
  Value v;
  EXPECT_TRUE(v.empty());
  v["a"] = 1;
  v["a"] = 2;
  EXPECT_FALSE(v.empty());
  ASSERT_NE(v.find("a"), nullptr);
  EXPECT_EQ(*v.find("a")->as<std::int64_t>(), 2);
  EXPECT_EQ(v.as<Value::Table>()->size(), 1U);
  EXPECT_EQ(v.find("b"), nullptr);
}

TEST(Value, WhatIsNoTableHasNoKeys) {
  Value v = 3;
  EXPECT_EQ(v.find("a"), nullptr);
  const auto error = refusal<Error>([&] { return v["a"]; });
  EXPECT_STREQ(error.what(), "'a' asked of an integer, which has no keys");
}

TEST(Value, SaysWhatKindItIs) {
  EXPECT_EQ(Value().kind(), "nothing");
  EXPECT_EQ(Value(true).kind(), "a boolean");
  EXPECT_EQ(Value(1).kind(), "an integer");
  EXPECT_EQ(Value(1.0).kind(), "a number");
  EXPECT_EQ(Value("").kind(), "text");
  EXPECT_EQ(Value(Value::Array{}).kind(), "a list");
  EXPECT_EQ(Value(Value::Table{}).kind(), "a table");
}

TEST(Value, HoldsOneTypeOnly) {
  const Value v = 1;
  EXPECT_NE(v.as<std::int64_t>(), nullptr);
  EXPECT_EQ(v.as<double>(), nullptr);
  EXPECT_EQ(v.as<bool>(), nullptr);
}

}  // namespace
}  // namespace polyhop::value_test

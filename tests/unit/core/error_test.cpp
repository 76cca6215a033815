// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace polyhop::error_test {
namespace {

TEST(InputError, SaysFileLinePathAndMessage) {
  const InputError error("graph.agents", "found 0, expected an integer >= 1", 7, "exp.toml");
  EXPECT_STREQ(error.what(), "exp.toml:7: graph.agents: found 0, expected an integer >= 1");
  EXPECT_EQ(error.path(), "graph.agents");
  EXPECT_EQ(error.message(), "found 0, expected an integer >= 1");
  EXPECT_EQ(error.file(), "exp.toml");
  EXPECT_EQ(error.line(), 7);
}

TEST(InputError, LeavesOutWhatIsNotKnown) {
  EXPECT_STREQ(InputError("a.b", "is bad").what(), "a.b: is bad");
  EXPECT_STREQ(InputError("", "is bad").what(), "is bad");
  EXPECT_STREQ(InputError("a.b", "is bad", 3).what(), "line 3: a.b: is bad");
  EXPECT_STREQ(InputError("a.b", "is bad", 0, "f").what(), "f: a.b: is bad");
  EXPECT_STREQ(InputError("", "is bad", 3, "f").what(), "f:3: is bad");
}

TEST(InputError, IsToldWhereItCameFromUnlessItKnows) {
  const InputError bare("", "is bad");
  EXPECT_STREQ(bare.at("a.b", 4).in_file("f").what(), "f:4: a.b: is bad");
  const InputError full("x.y", "is bad", 9, "g");
  EXPECT_STREQ(full.at("a.b", 4).in_file("f").what(), "g:9: x.y: is bad");
}

TEST(InputError, IsAnErrorAndARuntimeError) {
  EXPECT_THROW(throw InputError("a", "b"), Error);
  EXPECT_THROW(throw Error("b"), std::runtime_error);
}

const std::vector<std::string> rules = {"constant", "polyak", "gap", "tuned"};

TEST(NearestName, FindsATypo) {
  EXPECT_EQ(nearest_name("polyack", rules), "polyak");
  EXPECT_EQ(nearest_name("constnt", rules), "constant");
  EXPECT_EQ(nearest_name("gab", rules), "gap");
  EXPECT_EQ(nearest_name("gpa", rules), "gap") << "two letters that changed places are one typo";
}

TEST(InputError, ManyAreToldALineEach) {
  const InputError first("a", "one", 3);
  const InputError both({first, InputError("b", "two")});
  const InputError all = InputError({both, InputError("", "three")}).at("c", 7).in_file("e.toml");
  EXPECT_STREQ(all.what(), "e.toml:3: a: one\ne.toml:7: b: two\ne.toml:7: c: three");
  ASSERT_EQ(all.all().size(), 3U);
  EXPECT_STREQ(all.all()[1].what(), "e.toml:7: b: two");
  EXPECT_EQ(all.path(), "a");
  EXPECT_EQ(InputError({first}).all().size(), 1U);
}

TEST(NearestName, AllowsOneEditInThreeLetters) {
  // Two edits of six letters are a typo, three are not.
  EXPECT_EQ(nearest_name("pollak", rules), "polyak");
  EXPECT_EQ(nearest_name("pullak", rules), "polyak");
  EXPECT_EQ(nearest_name("pullek", rules), "");
  // A short name may still be off by one.
  EXPECT_EQ(nearest_name("ga", rules), "gap");
  EXPECT_EQ(nearest_name("g", rules), "");
}

TEST(NearestName, TakesTheFirstOfEquallyNear) {
  const std::vector<std::string> names = {"rows", "cows"};
  EXPECT_EQ(nearest_name("tows", names), "rows");
}

TEST(NearestName, SharesALetterAtLeast) {
  const std::vector<std::string> columns = {"a", "b"};
  EXPECT_EQ(nearest_name("z", columns), "");
  EXPECT_EQ(nearest_name("aa", columns), "a");
}

TEST(NearestName, TakesNoNoticeOfCase) {
  EXPECT_EQ(nearest_name("GAP", rules), "gap");
  const std::vector<std::string> methods = {"GAP tight", "GAP"};
  EXPECT_EQ(nearest_name("gap", methods), "GAP");
}

TEST(NearestName, FindsTheOnlyOneThatBeginsSo) {
  const std::vector<std::string> flags = {"--figure", "--font", "--force"};
  EXPECT_EQ(nearest_name("--fig", flags), "--figure");
  EXPECT_EQ(nearest_name("--fo", flags), "") << "which of two?";
  EXPECT_EQ(nearest_name("Con", rules), "constant");
  EXPECT_EQ(nearest_name("co", rules), "") << "too short to tell";
}

TEST(NearestName, FindsNothingAmongNothing) { EXPECT_EQ(nearest_name("gap", {}), ""); }

TEST(Suggestion, NamesTheNearestOrAll) {
  EXPECT_EQ(suggestion("polyack", rules), "; did you mean 'polyak'?");
  EXPECT_EQ(suggestion("newton", rules), "; allowed: constant, polyak, gap, tuned");
  const std::vector<std::string> columns = {"age", "income, yearly", "has car"};
  EXPECT_EQ(suggestion("newton", columns), "; allowed: 'age', 'income, yearly', 'has car'") << "all quoted or none";
}

}  // namespace
}  // namespace polyhop::error_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/column_choice.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "support/data_files.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::column_choice_test {
namespace {

using test::Numbers;
using test::Words;

constexpr std::size_t none = ChosenColumns::none;

// The places of those that are true.
std::vector<std::size_t> places(const std::vector<bool>& marks) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < marks.size(); ++c) {
    if (marks[c]) out.push_back(c);
  }
  return out;
}
using Places = std::vector<std::size_t>;

class ColumnChoiceOf : public test::DataFiles {
 protected:
  static DataFormat choosing(ColumnChoice choice, const std::string& target = "") {
    DataFormat format;
    format.choice = std::move(choice);
    format.target = target;
    return format;
  }
};

TEST(ColumnChoice, AListIsSeparatedByCommas) {
  EXPECT_EQ(listed("age, 3-7,,body mass "), (Words{"age", "3-7", "body mass"}));
  EXPECT_TRUE(listed("").empty());
}

TEST(ColumnChoice, AWordForAShellIsQuotedWhereTheShellWouldReadItOtherwise) {
  EXPECT_EQ(shell_word("age"), "age");
  EXPECT_EQ(shell_word("two words"), "'two words'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("a`b"), "'a`b'");
  EXPECT_EQ(shell_word("a#b,c"), "'a#b,c'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ColumnChoice, ColumnsGoByNameByNumberAndByRange) {
  const Words names = {"id", "a", "b", "3", "y"};
  const auto features = [&](ColumnChoice choice) {
    return places(choose_columns(choice, names, 5, false).features(4, false));
  };
  EXPECT_EQ(features({}), (Places{0, 1, 2, 3}));
  EXPECT_EQ(features({.columns = {"b", "2"}}), (Places{1, 2}));
  EXPECT_EQ(features({.columns = {"2-4"}, .drop = {"b"}}), (Places{1, 3}));
  EXPECT_EQ(features({.columns = {"3"}}), (Places{3}));  // a name comes before a number
  EXPECT_EQ(features({.id = "id"}), (Places{1, 2, 3}));
}

TEST(ColumnChoice, ANameThatIsNotThereComesWithASuggestion) {
  const auto refused = [](const ColumnChoice& choice, const Words& names) {
    return polyhop::refusal([&] { return choose_columns(choice, names, 3, false); });
  };
  const InputError near = refused({.drop = {"agee"}}, {"age", "b", "y"});
  EXPECT_EQ(near.path(), "problem.drop");
  EXPECT_EQ(near.message(), "there is no column 'agee'; did you mean 'age'?");
  EXPECT_EQ(refused({.columns = {"age"}}, {}).message(),
            "there is no column 'age'; without a header, columns go by number, 1 to 3");
  EXPECT_EQ(refused({.columns = {"2-4"}}, {}).message(),
            "found '2-4', expected column numbers from 1 to 3, such as 3 or 3-7");
  EXPECT_EQ(refused({.id = "0"}, {}).path(), "problem.id");
  EXPECT_EQ(choose_columns({.drop = {"agee"}}, {"age", "b", "y"}, 3, true).unknown, (Words{"agee"}));
}

TEST(ColumnChoice, ATargetCannotBeDroppedNorSilentlyBeAFeature) {
  const ChosenColumns dropped = choose_columns({.drop = {"1"}}, {}, 3, false);
  EXPECT_EQ(polyhop::refusal([&] { return dropped.features(0, true); }).path(), "problem.target");
  const ChosenColumns chosen = choose_columns({.columns = {"1-3"}}, {}, 3, false);
  EXPECT_EQ(polyhop::refusal([&] { return chosen.features(2, false); }).path(), "problem.columns");
  EXPECT_EQ(places(chosen.features(2, true)), (Places{0, 1}));
}

TEST(ColumnChoice, LearnedColumnsStandWhereTheyStood) {
  const LearnedColumns learned = {{3, 4}, 4, 2};  // id, target, two features
  const auto found = [&](std::size_t count, std::size_t target, bool needs) {
    const PlacedColumns placed = place_columns(learned, count, target, needs);
    return std::pair(places(placed.is_feature), placed.target);
  };
  EXPECT_EQ(found(4, none, true), std::pair(Places({2, 3}), std::size_t{1}));
  EXPECT_EQ(found(4, none, false), std::pair(Places({2, 3}), std::size_t{1}));
  EXPECT_EQ(found(3, none, false), std::pair(Places({1, 2}), none));         // without the target
  EXPECT_EQ(found(2, none, false), std::pair(Places({0, 1}), none));         // features alone
  EXPECT_EQ(found(3, 2, false), std::pair(Places({0, 1}), std::size_t{2}));  // and a target that was named
  EXPECT_EQ(found(3, 2, true), std::pair(Places({0, 1}), std::size_t{2}));
  for (const auto& [count, needs] : {std::pair{5, false}, {1, false}, {3, true}, {2, true}}) {
    EXPECT_NE(polyhop::refusal([&, c = count, n = needs] { return place_columns(learned, c, none, n); })
                  .message()
                  .find("a table of 4"),
              std::string::npos);
  }
}

TEST_F(ColumnChoiceOf, CsvTakesTheFeaturesThatWereChosen) {
  const std::string text = "who,a,b,note,y,last\nann,1,2,x,3,?\nbob,4,5,,6,\n";
  const DataTable table = read("a.csv", text, choosing({{}, {"note", "last"}, "who"}));
  EXPECT_EQ(table.names, (Words{"a", "b"}));
  EXPECT_EQ(table.target_name, "y");  // the last that is left
  EXPECT_EQ(table.id_name, "who");
  EXPECT_EQ(row(table, 1), (Numbers{4, 5}));
  EXPECT_EQ(table.targets, (Numbers{3, 6}));
  EXPECT_EQ(read("a.csv", text, choosing({{"b"}, {}, ""}, "y")).names, (Words{"b"}));
  DataFormat with_ids = choosing({{}, {"note", "last"}, "who"});
  with_ids.with_ids = true;
  EXPECT_EQ(read("a.csv", text, with_ids).ids, (Words{"ann", "bob"}));
}

TEST_F(ColumnChoiceOf, TextInAFileThatLacksWhatIsDroppedIsToldWithTheNearestName) {
  DataFormat format = choosing({{}, {"whom"}, ""});
  format.may_lack_dropped = true;
  EXPECT_EQ(refusal("a.csv", "who,a,y\nann,1,2\n", format),
            "2: column 1 ('who'): found \"ann\", expected a number; turn text into numbers first, or leave the column "
            "out: there is no 'whom' to drop; did you mean 'who'?");
}

TEST_F(ColumnChoiceOf, WordsInDroppedColumnsMakeNoHeader) {
  const DataTable table = read("a.csv", "ann,1,2,3\nbob,4,5,6\n", choosing({{}, {}, "1"}));
  EXPECT_EQ(table.features.rows(), 2);
  EXPECT_TRUE(table.names.empty());
  EXPECT_EQ(table.columns.features, (std::vector<Index>{2, 3}));
  EXPECT_EQ(table.columns.width, 4);
  EXPECT_EQ(table.columns.target, 4);
}

TEST_F(ColumnChoiceOf, FormatsWithoutColumnsRefuseIt) {
  EXPECT_NE(refusal("a.svm", "1 1:2\n", choosing({{}, {"1"}, ""})).find("CSV, NPY and NPZ"), std::string::npos);
}

}  // namespace
}  // namespace polyhop::column_choice_test

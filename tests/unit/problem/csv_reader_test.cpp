// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/csv_reader.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/data_files.hpp"

namespace polyhop::csv_reader_test {
namespace {

using test::Numbers;
using test::Words;

class CsvReader : public test::DataFiles {};

TEST_F(CsvReader, TakesTheLastColumnForTheTarget) {
  const DataTable table = read("a.csv", "1,2,3\n4,5.5,-6e1\n");
  ASSERT_EQ(table.features.rows(), 2);
  EXPECT_EQ(row(table, 0), (Numbers{1, 2}));
  EXPECT_EQ(row(table, 1), (Numbers{4, 5.5}));
  EXPECT_EQ(table.targets, (Numbers{3, -60}));
  EXPECT_TRUE(table.names.empty());
  EXPECT_EQ(table.target_name, "3");
}

TEST_F(CsvReader, TakesNamesFromAHeader) {
  const DataTable table = read("a.csv", "age,price,\"height, cm\"\n1,2,3\n4,5,6\n", {.target = "price"});
  EXPECT_EQ(table.names, (Words{"age", "height, cm"}));
  EXPECT_EQ(table.target_name, "price");
  EXPECT_EQ(row(table, 1), (Numbers{4, 6}));
  EXPECT_EQ(table.targets, (Numbers{2, 5}));
}

TEST_F(CsvReader, FindsTheTargetByNumber) {
  EXPECT_EQ(read("a.csv", "1,2,3\n", {.target = "1"}).targets, Numbers{1});
  EXPECT_EQ(read("a.csv", "a,b\n1,2\n", {.target = "1"}).target_name, "a");
}

TEST_F(CsvReader, GuessesTheSeparator) {
  EXPECT_EQ(row(read("a.csv", "1;2;3\n"), 0), (Numbers{1, 2}));
  EXPECT_EQ(row(read("a.tsv", "1\t2\t3\n"), 0), (Numbers{1, 2}));
  EXPECT_EQ(row(read("a.csv", "\"a,b,c\";d\n1;2\n"), 0), Numbers{1});
}

TEST_F(CsvReader, ReadsQuotesAsRfc4180) {
  const DataTable table = read("a.csv", "x,y\r\n\"1\",\"two\r\nlines, \"\"quoted\"\"\"\r\n 2 , plain \r\n");
  EXPECT_EQ(table.labels, (Words{"plain", "two\r\nlines, \"quoted\""}));
  EXPECT_EQ(table.targets, (Numbers{1, 0}));
  EXPECT_EQ(row(table, 1), Numbers{2});
}

TEST_F(CsvReader, PassesOverAByteOrderMarkAndBlankLines) {
  const DataTable table = read("a.csv", "\xef\xbb\xbfx,y\n\n1,2\n  \n3,4");
  EXPECT_EQ(table.names, Words{"x"});
  EXPECT_EQ(table.targets, (Numbers{2, 4}));
}

TEST_F(CsvReader, SortsWordsIntoClasses) {
  const DataTable table = read("a.csv", "x,kind\n1,red\n2,blue\n3,red\n");
  EXPECT_EQ(table.labels, (Words{"blue", "red"}));
  EXPECT_EQ(table.targets, (Numbers{1, 0, 1}));
}

TEST_F(CsvReader, KnowsASampleWithAWordForALabelFromAHeader) {
  EXPECT_EQ(read("a.csv", "5.1,3.5,setosa\n6.2,2.9,virginica\n").features.rows(), 2);
  EXPECT_EQ(read("a.csv", "5.1,3.5,setosa\n", {.labels = {"setosa"}}).features.rows(), 1);
  // A table without names for its columns, saved with their numbers.
  EXPECT_EQ(read("a.csv", "0,1,kind\n6.2,2.9,virginica\n").target_name, "kind");
  EXPECT_EQ(read("a.csv", "1,2,kind\n6.2,2.9,virginica\n").target_name, "kind");
  for (const char* first : {"1,3,setosa", "2,3,setosa", "0,2,setosa", "1,1,setosa"}) {
    EXPECT_EQ(read("a.csv", std::string(first) + "\n6.2,2.9,virginica\n").features.rows(), 2) << first;
  }
  EXPECT_EQ(read("a.csv", "5,7,kind\n6.2,2.9,1\n").target_name, "kind");
}

TEST_F(CsvReader, ReadsFeaturesAlone) {
  const DataFormat alone{.target = "y", .has_targets = false};
  EXPECT_EQ(row(read("a.csv", "1,2,3\n", alone), 0), (Numbers{1, 2, 3}));
  const DataTable table = read("a.csv", "y,x\nred,1\n,2\n", alone);
  EXPECT_EQ(table.names, Words{"x"});
  EXPECT_TRUE(table.targets.empty());
  EXPECT_TRUE(table.target_name.empty());
  EXPECT_EQ(row(read("a.csv", "7\n8\n", {.has_targets = false}), 1), Numbers{8});
}

TEST_F(CsvReader, RefusesAMissingValueWithItsRowAndColumn) {
  const std::string skip = "leave the row out: skip_missing = true";
  EXPECT_EQ(refusal("a.csv", "x,age,y\n1,2,3\n1,,3\n"), "3: column 2 ('age'): a value is missing; fill it in, " + skip +
                                                            ", or leave the column out: drop = \"age\"");
  EXPECT_EQ(refusal("a.csv", "x,age,y\n1,NA,3\n", {.features = {"x", "age"}}),
            "2: column 2 ('age'): a value is missing (\"NA\"); fill it in, or leave the row out: --skip-missing");
  EXPECT_EQ(refusal("a.csv", "1,2\nnan,3\n"), "2: column 1: a value is missing (\"nan\"); fill it in, " + skip +
                                                  ", or leave the column out: drop = \"1\"");
  EXPECT_EQ(refusal("a.csv", "x,y\n1,red\n2,\n"), "3: column 2 ('y'): a value is missing; fill it in, or " + skip);
  // A model's data are no experiment's.
  EXPECT_EQ(refusal("a.csv", "x,z\n1,2\n2,\n", {.has_targets = false}),
            "3: column 2 ('z'): a value is missing; fill it in, or leave the row out: --skip-missing");
}

TEST_F(CsvReader, RefusesAllMissingValuesAtOnce) {
  EXPECT_EQ(
      refusal("a.csv", "x,age,bmi,y\n1,2,3,4\n1,,3,4\n1,NA,?,4\n1,2,3,\n"),
      "3: values are missing in 3 of 4 rows: column 2 ('age') (2), column 3 ('bmi') (1), column 4 ('y') (1); fill "
      "them in, leave these rows out: skip_missing = true, or leave the columns "
      "out: "
      "drop = \"age,bmi\"");
}

TEST_F(CsvReader, SkipsAndCountsRowsThatLackAValueTheyNeed) {
  const std::string text = "x,note,age,y\n1,,2,3\n2,,NA,4\n3,a,5,?\n4,b,6,7\n";
  const DataFormat skip{.choice = {.drop = {"note"}}, .skip_missing = true};
  const DataTable table = read("a.csv", text, skip);
  EXPECT_EQ(table.skipped, 2);
  ASSERT_EQ(table.features.rows(), 2) << "a dropped column may lack what it likes";
  EXPECT_EQ(row(table, 0), (Numbers{1, 2}));
  EXPECT_EQ(row(table, 1), (Numbers{4, 6}));
  EXPECT_EQ(Numbers(table.targets.begin(), table.targets.end()), (Numbers{3, 7}));
  // Samples are numbered without the rows that were skipped.
  DataFormat second = skip;
  second.keep = {1};
  EXPECT_EQ(row(read("a.csv", text, second), 0), (Numbers{4, 6}));
  EXPECT_EQ(refusal("a.csv", "x,y\n1,\n,2\n", {.skip_missing = true}), "every row lacks a value");
}

TEST_F(CsvReader, RefusesAllColumnsOfTextAtOnceAndMissingValuesBeside) {
  try {
    (void)read("a.csv", "x,city,name,y\n1,Ulm,Ann,3\n,Rome,Bob,4\n");
    FAIL();
  } catch (const InputError& e) {
    ASSERT_EQ(e.all().size(), 2U);
    EXPECT_EQ(e.line(), 2);
    EXPECT_EQ(e.message(),
              "expected numbers, but found text in column 2 ('city') (\"Ulm\"), column 3 ('name') (\"Ann\"); turn text "
              "into numbers first, or leave the columns out: drop = \"city,name\"");
    EXPECT_EQ(e.all()[1].line(), 3);
    EXPECT_TRUE(e.all()[1].message().starts_with("column 1 ('x'): a value is missing; ")) << e.all()[1].message();
  }
}

TEST_F(CsvReader, NamesFlagsWhereThoseChooseTheColumns) {
  const DataFormat flags{.choice = {.by_flags = true}};
  EXPECT_EQ(refusal("a.csv", "x,my age,y\n1,2,3\n1,,3\n", flags),
            "3: column 2 ('my age'): a value is missing; fill it in, leave the row out: --skip-missing, or leave the "
            "column out: --drop 'my age'");
  const std::string told = refusal("a.csv", "who,x,y\nAnn,1,3\nBob,2,4\nCy,3,5\n", flags);
  EXPECT_TRUE(told.ends_with("--drop who; if it names the samples, write --id who")) << told;
}

TEST_F(CsvReader, SaysWhichColumnMayBeTheTarget) {
  const std::string text = "who,ill,age,town,cost\nAnn,yes,4,Ulm,1\nBob,no,5,Rome,2\nCy,no,6,Bonn,3\n";
  const std::string told = refusal("a.csv", text, {.choice = {.by_flags = true}});
  EXPECT_NE(told.find(", or leave the other columns out: --drop who,town; the target is column 5 ('cost'), the last; "
                      "if it should be column 2 ('ill'), write --target ill"),
            std::string::npos)
      << told;
  const std::string named = refusal("a.csv", text, {.target = "cost", .choice = {.by_flags = true}});
  EXPECT_NE(named.find("leave the columns out: --drop who,ill,town; if"), std::string::npos) << named;
}

TEST_F(CsvReader, SaysHowAColumnMayNameTheSamples) {
  const std::string taken = "`polyhop fit` takes it with --id ";
  const auto told = [&](const std::string& text, const DataFormat& format = {}) {
    return refusal("a.csv", text, format);
  };
  EXPECT_TRUE(told("who,x,y\nAnn,1,3\nBob,2,4\nCy,3,5\n")
                  .ends_with("drop = \"who\"; if it names the samples, " + taken + "who"));
  EXPECT_TRUE(told("who,x,town,y\nAnn,1,Ulm,3\nBob,2,Ulm,4\nCy,3,Rome,5\n")
                  .ends_with("; if column 1 ('who') names the samples, " + taken + "who"));
  for (const char* text : {"town,x,y\nUlm,1,3\nRome,2,4\nUlm,3,5\n",  // not all different
                           "age,x,y\nold,1,3\n7,2,4\n8,3,5\n"}) {     // not all text
    EXPECT_EQ(told(text).find("--id"), std::string::npos) << told(text);
  }
  const std::string beside = told("who,no,x,y\nAnn,a,1,3\nBob,b,2,4\nCy,c,3,5\n", {.choice = {.id = "who"}});
  EXPECT_EQ(beside.find("--id"), std::string::npos) << "there is one already: " << beside;
}

TEST_F(CsvReader, RefusesTextAmongFeatures) {
  EXPECT_EQ(refusal("a.csv", "x,city,y\n1,Ulm,3\n"),
            "2: column 2 ('city'): found \"Ulm\", expected a number; turn text into numbers first, or leave the column "
            "out: drop = \"city\"");
  EXPECT_EQ(
      refusal("a.csv", "x;y\n1,5;3\n"),
      "2: column 1 ('x'): found \"1,5\", expected a number; write 1.5, not 1,5; turn other text into numbers first, "
      "or leave the column out: drop = \"x\"");
  // A model needs its features.
  EXPECT_EQ(refusal("a.csv", "x,city,y\n1,Ulm,3\n", {.features = {"x", "city"}}),
            "2: column 2 ('city'): found \"Ulm\", expected a number; turn text into numbers first");
  EXPECT_EQ(refusal("a.csv", "x,y\ninf,3\n"), "2: column 1 ('x'): found \"inf\", expected a finite number");
  EXPECT_EQ(refusal("a.csv", "x,y\n1,2\n3,red\n"),
            "3: column 2 ('y'): found \"red\" as a target, expected a number as in the lines above");
}

TEST_F(CsvReader, RefusesLabelsThatTrainingNeverSaw) {
  EXPECT_EQ(refusal("a.csv", "x,y\n1,red\n3,green\n", {.labels = {"red"}}),
            "3: column 2 ('y'): found the label \"green\", which is not in the training data; its labels are: red");
}

TEST_F(CsvReader, RefusesRaggedRecords) {
  EXPECT_EQ(refusal("a.csv", "x,y\n1,2\n\n1,2,3\n"), "4: found 3 cells, expected 2 as in the first line");
  EXPECT_EQ(refusal("a.csv", "1,\"2\n2\"\n1\n"), "3: found 1 cell, expected 2 as in the first line");
}

TEST_F(CsvReader, RefusesQuotesThatDoNotFit) {
  EXPECT_EQ(refusal("a.csv", "1,2\n\"1,2\n"), "2: a quotation mark that is never closed");
  EXPECT_EQ(refusal("a.csv", "1,2\n\"1\"2,\"2\"\n"), "2: text after the closing quote of \"1\"");
  EXPECT_EQ(refusal("a.csv", "1,2\n1\"\",2\n"),
            "2: a quotation mark inside \"1\\\"\\\"\", expected quotes around the whole cell");
}

TEST_F(CsvReader, PassesOverColumnsThatAreNotAskedFor) {
  const DataFormat some{.target = "y", .features = {"b", "a"}};
  const DataTable table = read("a.csv", "id,a,y,note,note,b\nx7,1,2,,text,3\n,4,5,,,6\n", some);
  EXPECT_EQ(table.names, (Words{"a", "b"}));
  EXPECT_EQ(row(table, 1), (Numbers{4, 6}));
  EXPECT_EQ(table.targets, (Numbers{2, 5}));
  EXPECT_EQ(refusal("a.csv", "age,a,y\n1,2,3\n", {.features = {"aged"}}), "has no column 'aged'; did you mean 'age'?");
  // Without names there is nothing to ask for.
  EXPECT_EQ(row(read("a.csv", "1,2,3\n", {.features = {"b"}}), 0), (Numbers{1, 2}));
}

TEST_F(CsvReader, RefusesColumnsWithTheSameName) {
  const std::string says = "columns 1 and 3 are both called 'age'; each needs its own name";
  EXPECT_EQ(refusal("a.csv", "age,x,age,y\n1,2,3,4\n"), says);
  EXPECT_EQ(refusal("a.csv", "age,x,age\n1,2,3\n"), says);
}

TEST_F(CsvReader, RefusesATargetThatIsNotThere) {
  EXPECT_EQ(refusal("a.csv", "price,x\n1,2\n", {.target = "prise"}), "has no column 'prise'; did you mean 'price'?");
  EXPECT_EQ(refusal("a.csv", "1,2\n", {.target = "3"}),
            "has no column '3'; without a header, columns go by number, 1 to 2");
  EXPECT_EQ(refusal("a.csv", "1,2\n", {.target = "0"}),
            "has no column '0'; without a header, columns go by number, 1 to 2");
}

TEST_F(CsvReader, RefusesAnotherNumberOfFeatures) {
  EXPECT_EQ(refusal("a.csv", "1,2,3\n", {.columns = 3}), "has 2 columns of features, expected 3");
  EXPECT_EQ(refusal("a.csv", "1\n2\n"), "has no column besides the target, expected features");
  EXPECT_EQ(refusal("a.csv", "x,y\n"), "holds no samples, only a header");
  EXPECT_EQ(refusal("a.csv", "\n\n"), "holds no samples");
}

TEST_F(CsvReader, AHeaderAloneIsNoSampleAndOneRowIsOne) {
  DataFormat format;
  format.may_be_empty = true;
  const DataTable empty = read("a.csv", "x,z,y\n", format);
  EXPECT_EQ(empty.features.rows(), 0);
  EXPECT_EQ(empty.features.columns(), 2);
  EXPECT_EQ(empty.names, (Words{"x", "z"}));
  EXPECT_EQ(empty.target_name, "y");
  const DataTable one = read("a.csv", "5,6,green\n");
  EXPECT_EQ(row(one, 0), (Numbers{5, 6}));
  EXPECT_EQ(one.labels, (Words{"green"}));
}

TEST_F(CsvReader, ReadsAGzipFileAsThePlainOne) {
  std::string text = "a,b,y\n";
  for (int n = 0; n < 1000; ++n) {
    text +=
        std::to_string(n) + "," + std::to_string(n * n) + "," + std::to_string(n % 7) + (n % 9 == 0 ? "\n\n" : "\n");
  }
  const DataTable plain = read("a.csv", text);
  const DataTable unpacked = read("a.csv.gz", packed(text));
  ASSERT_EQ(plain.features.rows(), 1000);
  ASSERT_EQ(unpacked.features.rows(), 1000);
  EXPECT_EQ(unpacked.targets, plain.targets);
  EXPECT_EQ(unpacked.names, plain.names);
  for (const Index n : {0, 1, 511, 512, 999}) EXPECT_EQ(row(unpacked, n), row(plain, n));
}

TEST_F(CsvReader, ATargetWithoutANameGoesByItsNumber) {
  EXPECT_EQ(read("a.csv", "1,2,3\n4,5,6\n").target_name, "3");
  EXPECT_EQ(read("a.csv", "1,2,3\n4,5,6\n", {.target = "1"}).target_name, "1");
  EXPECT_EQ(read("a.csv", "a,b,c\n4,5,6\n", {.target = "1"}).target_name, "a");
}

}  // namespace
}  // namespace polyhop::csv_reader_test

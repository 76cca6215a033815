// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/libsvm_reader.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/data_files.hpp"

namespace polyhop::libsvm_reader_test {
namespace {

using test::Numbers;
using test::Words;

class LibsvmReader : public test::DataFiles {
 protected:
  static std::vector<Index> columns_of(const DataTable& table, Index n) {
    const auto columns = table.features.columns_of(n);
    return {columns.begin(), columns.end()};
  }
  static Numbers values_of(const DataTable& table, Index n) {
    const auto values = table.features.values_of(n);
    return {values.begin(), values.end()};
  }
};

TEST_F(LibsvmReader, KeepsWhatIsThereSparse) {
  const DataTable table = read("a.svm", "+1 1:0.5 7:-2e1\n-1\n2.5\t3:+4 # 9:9\n");
  ASSERT_TRUE(table.features.is_sparse());
  EXPECT_EQ(table.features.rows(), 3);
  EXPECT_EQ(table.features.columns(), 7);
  EXPECT_EQ(table.targets, (Numbers{1, -1, 2.5}));
  EXPECT_TRUE(table.labels.empty());
  EXPECT_EQ(columns_of(table, 0), (std::vector<Index>{0, 6}));
  EXPECT_EQ(values_of(table, 0), (Numbers{0.5, -20}));
  EXPECT_TRUE(columns_of(table, 1).empty());
  EXPECT_EQ(columns_of(table, 2), std::vector<Index>{2});
}

TEST_F(LibsvmReader, PassesOverCommentsBlankLinesAndZeros) {
  const DataTable table = read("a.svm", "\xef\xbb\xbf# made by hand: 1:2\n\n  \n1 1:0 2:3\r\n0 1:5");
  EXPECT_EQ(table.features.rows(), 2);
  EXPECT_EQ(columns_of(table, 0), std::vector<Index>{1});
  EXPECT_EQ(table.targets, (Numbers{1, 0}));
}

TEST_F(LibsvmReader, SortsWordsIntoClasses) {
  const DataTable table = read("a.svm", "ham 1:1\nspam 1:2\neggs 1:3\nham 1:4\n");
  EXPECT_EQ(table.labels, (Words{"eggs", "ham", "spam"}));
  EXPECT_EQ(table.targets, (Numbers{1, 2, 0, 1}));
}

TEST_F(LibsvmReader, HasAtLeastTheColumnsOfTraining) {
  EXPECT_EQ(read("a.svm", "1 2:1\n", {.columns = 5}).features.columns(), 5);
  EXPECT_EQ(read("a.svm", "1 9:1\n", {.columns = 5}).features.columns(), 9);
}

TEST_F(LibsvmReader, ReadsFeaturesAloneWithOrWithoutLabels) {
  const DataTable table = read("a.svm", "1 1:2\n2:3\nspam\n", {.has_targets = false});
  EXPECT_EQ(table.features.rows(), 3);
  EXPECT_TRUE(table.targets.empty());
  EXPECT_TRUE(table.labels.empty());
}

TEST_F(LibsvmReader, NumbersClassesAsTrainingDid) {
  const DataFormat format{.labels = {"spam", "ham"}};
  const DataTable table = read("a.svm", "ham 1:1\nspam 1:1\n", format);
  EXPECT_EQ(table.targets, (Numbers{1, 0}));
  EXPECT_EQ(table.labels, format.labels);
  EXPECT_EQ(refusal("a.svm", "ham 1:1\neggs 1:1\n", format),
            "2: column 1: found the label \"eggs\", which is not in the training data; its labels are: spam, ham");
  EXPECT_EQ(read("a.svm", "2.0 1:1\n", {.labels = {"1", "2"}}).targets, Numbers{1});
}

TEST_F(LibsvmReader, SaysWhereALineIsMalformed) {
  EXPECT_EQ(refusal("a.svm", "1 1:1\n1 1:2 x\n"), "2: column 7: found \"x\", expected index:value");
  EXPECT_EQ(refusal("a.svm", "1 1:\n"), "1: column 5: found \"\" as the value of feature 1, expected a finite number");
  EXPECT_EQ(refusal("a.svm", "1 1:+-1\n"),
            "1: column 5: found \"+-1\" as the value of feature 1, expected a finite number");
  EXPECT_EQ(refusal("a.svm", "1 1:2:3\n"),
            "1: column 5: found \"2:3\" as the value of feature 1, expected a finite number");
  EXPECT_EQ(refusal("a.svm", "1 1:1,2:3\n"),
            "1: column 5: found \"1,2:3\" as the value of feature 1, expected a finite number");
  EXPECT_EQ(refusal("a.svm", "1 qid:3 1:1\n"), "1: column 3: found \"qid:3\", expected index:value");
  EXPECT_EQ(refusal("a.svm", "1 -1:1\n"), "1: column 3: found \"-1:1\", expected index:value");
  EXPECT_EQ(refusal("a.svm", "1:1 2:2\n"), "1: column 1: found \"1:1\", expected a label before the features");
  EXPECT_EQ(refusal("a.svm", "1,2 2:2\n"),
            "1: column 1: found \"1,2\", expected one label; samples of several classes cannot be read");
}

TEST_F(LibsvmReader, RefusesIndicesThatDoNotRise) {
  EXPECT_EQ(refusal("a.svm", "1 0:1\n"), "1: column 3: found the index 0, expected indices from 1");
  EXPECT_EQ(refusal("a.svm", "1 2:1 2:1\n"), "1: column 7: found the index 2 after 2, expected ascending indices");
  EXPECT_EQ(refusal("a.svm", "1 3:1 2:1\n"), "1: column 7: found the index 2 after 3, expected ascending indices");
  EXPECT_EQ(refusal("a.svm", "1 0000000000000000000003:1 3:1\n"),
            "1: column 28: found the index 3 after 3, expected ascending indices");
}

TEST_F(LibsvmReader, RefusesIndicesBeyondAnyMemory) {
  EXPECT_EQ(read("a.svm", "1 2147483647:1\n").features.columns(), 2147483647);
  for (const char* index : {"2147483648", "18446744073709551617", "99999999999999999999999999"}) {
    EXPECT_EQ(refusal("a.svm", "1 " + std::string(index) + ":1\n"),
              "1: column 3: found \"" + std::string(index) + ":1\", expected an index up to 2147483647");
  }
}

TEST_F(LibsvmReader, RefusesWhatIsNotFinite) {
  for (const char* value : {"nan", "inf", "-inf", "1e999", "NaN"}) {
    EXPECT_EQ(refusal("a.svm", "1 4:" + std::string(value) + "\n"),
              "1: column 5: found \"" + std::string(value) + "\" as the value of feature 4, expected a finite number");
  }
  EXPECT_EQ(refusal("a.svm", "nan 4:1\n"), "1: column 1: found \"nan\" as a target, expected a finite number");
}

TEST_F(LibsvmReader, RefusesAWordAmongNumbers) {
  EXPECT_EQ(refusal("a.svm", "1 1:1\nspam 1:1\n"),
            "2: column 1: found \"spam\" as a target, expected a number as in the lines above");
}

TEST_F(LibsvmReader, RefusesAFileWithoutSamplesOrFeatures) {
  EXPECT_EQ(refusal("a.svm", "# nothing\n\n"), "holds no samples");
  EXPECT_EQ(refusal("a.svm", "1\n-1\n"), "holds no features");
}

// Lines across the ends of the buffer, and one that is longer than it.
TEST_F(LibsvmReader, ReadsLinesOfAnyLength) {
  std::string text;
  Index entries = 0;
  for (const Index length : {10, 400'000, 3, 50'000, 100, 200'000, 1}) {
    text += "1";
    for (Index i = 1; i <= length; ++i) text += " " + std::to_string(i) + ":" + std::to_string(i % 7 + 1);
    text += "\n";
    entries += length;
  }
  const DataTable table = read("a.svm", text);
  ASSERT_EQ(table.features.rows(), 7);
  Index found = 0;
  for (Index n = 0; n < 7; ++n) {
    const auto columns = columns_of(table, n);
    for (std::size_t e = 0; e < columns.size(); ++e, ++found) {
      ASSERT_EQ(columns[e], static_cast<Index>(e));
      ASSERT_EQ(table.features.values_of(n)[e], static_cast<double>((e + 1) % 7 + 1));
    }
  }
  EXPECT_EQ(found, entries);
}

}  // namespace
}  // namespace polyhop::libsvm_reader_test

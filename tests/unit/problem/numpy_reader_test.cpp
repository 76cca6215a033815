// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/numpy_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "polyhop/core/npz_writer.hpp"
#include "support/data_files.hpp"

namespace polyhop::numpy_reader_test {
namespace {

using test::Numbers;

class NumpyReader : public test::DataFiles {
 protected:
  /// A matrix of doubles as numpy.save writes it.
  static std::string npy(const std::string& shape, const Numbers& numbers, const std::string& order = "False") {
    const std::string header = "{'descr': '<f8', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
    std::string out("\x93NUMPY\x01\x00", 8);
    out += static_cast<char>(header.size());
    out += '\0';
    out += header;
    out.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
    return out;
  }

  [[nodiscard]] std::string npz(const std::string& features, const std::vector<Index>& shape,
                                const std::string& targets, const std::vector<Index>& target_shape) const {
    NpzWriter out(file("a.npz"));
    Index count = 1;
    for (const Index n : shape) count *= n;
    out.add(features, Numbers(count, 2.5), shape);
    Index target_count = 1;
    for (const Index n : target_shape) target_count *= n;
    if (!targets.empty()) out.add(targets, Numbers(target_count, 1), target_shape);
    out.close();
    return file("a.npz");
  }
};

TEST_F(NumpyReader, TakesTheLastColumnOfAMatrixForTheTarget) {
  for (const bool by_rows : {true, false}) {
    const DataTable table = by_rows ? read("a.npy", npy("(2, 3)", {1, 2, 3, 4, 5, 6}))
                                    : read("a.npy", npy("(2, 3)", {1, 4, 2, 5, 3, 6}, "True"));
    EXPECT_EQ(row(table, 0), (Numbers{1, 2}));
    EXPECT_EQ(row(table, 1), (Numbers{4, 5}));
    EXPECT_EQ(table.targets, (Numbers{3, 6}));
  }
}

TEST_F(NumpyReader, ReadsFeaturesAlone) {
  const DataTable table = read("a.npy", npy("(1, 3)", {1, 2, 3}), {.has_targets = false});
  EXPECT_EQ(row(table, 0), (Numbers{1, 2, 3}));
  EXPECT_TRUE(table.targets.empty());
  EXPECT_EQ(read_data(npz("X", {2, 3}, "", {}), {.has_targets = false}).features.columns(), 3);
}

TEST_F(NumpyReader, FindsArraysUnderAnyOfTheirNames) {
  for (const auto& [x, y] : {std::pair{"features", "targets"}, {"X", "y"}, {"data", "target"}}) {
    const DataTable table = read_data(npz(x, {4, 2}, y, {4}));
    EXPECT_EQ(row(table, 3), (Numbers{2.5, 2.5}));
    EXPECT_EQ(table.targets, Numbers(4, 1));
  }
  EXPECT_EQ(read_data(npz("X", {4, 2}, "y", {4, 1})).targets.size(), 4U);
}

TEST_F(NumpyReader, NumbersClassesAsTrainingDid) {
  const std::string bytes = npy("(2, 2)", {0, 7, 0, 3});
  EXPECT_EQ(read("a.npy", bytes, {.labels = {"3", "7.0"}}).targets, (Numbers{1, 0}));
  EXPECT_EQ(refusal("a.npy", bytes, {.labels = {"7"}}),
            "row 2: found the label \"3\", which is not in the training data; its labels are: 7");
}

TEST_F(NumpyReader, RefusesWhatIsNotFinite) {
  EXPECT_EQ(refusal("a.npy", npy("(2, 2)", {0, 1, std::numeric_limits<double>::quiet_NaN(), 3})),
            "row 2, column 1: found nan, expected a finite number");
  EXPECT_EQ(refusal("a.npy", npy("(1, 2)", {0, std::numeric_limits<double>::infinity()})),
            "row 1, column 2: found inf, expected a finite number");
}

TEST_F(NumpyReader, RefusesOtherShapes) {
  EXPECT_EQ(refusal("a.npy", npy("(3,)", {1, 2, 3})), "the array has 1 dimensions, expected 2: a row for each sample");
  EXPECT_EQ(refusal("a.npy", npy("(0, 3)", {})), "holds no samples");
  EXPECT_EQ(refusal("a.npy", npy("(2, 1)", {1, 2})), "holds no features");
  EXPECT_EQ(refusal("a.npy", npy("(2, 0)", {})), "holds no features");
  EXPECT_EQ(refusal("a.npy", npy("(1, 3)", {1, 2, 3}), {.columns = 3}), "has 2 columns of features, expected 3");
  EXPECT_EQ(refusal_of(npz("X", {4, 2}, "y", {3})),
            "the array 'y' is 3, expected 4 targets, as there are rows of features");
  EXPECT_EQ(refusal_of(npz("X", {4, 2}, "y", {2, 2})),
            "the array 'y' is 2 x 2, expected 4 targets, as there are rows of features");
}

TEST_F(NumpyReader, TakesTheColumnsThatAreChosenAndTablesWithoutSamples) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  DataFormat format;
  format.choice.drop = {"1", "4"};
  const DataTable table = read("a.npy", npy("(2, 4)", {9, 1, 5, nan, 9, 2, 6, nan}), format);
  EXPECT_EQ(row(table, 1), (Numbers{2}));
  EXPECT_EQ(table.targets, (Numbers{5, 6}));
  EXPECT_EQ(table.target_name, "3");  // the last that is left
  EXPECT_EQ(table.columns.features, (std::vector<Index>{2}));
  EXPECT_EQ(table.columns.width, 4);
  format.choice.drop = {"1-4"};
  EXPECT_EQ(refusal("a.npy", npy("(1, 4)", {1, 2, 3, 4}), format), "has no column that is not dropped");
  format.choice = {};
  format.may_be_empty = true;
  const DataTable empty = read("a.npy", npy("(0, 3)", {}), format);
  EXPECT_EQ(empty.features.rows(), 0);
  EXPECT_EQ(empty.features.columns(), 2);
}

TEST_F(NumpyReader, RefusesAForgedShapeBeforeItTakesMemory) {
  EXPECT_EQ(refusal("a.npy", npy("(1000000000, 1000000000)", {1, 2})),
            "the file has a shape that asks for 8000000000000000000 bytes of numbers, found 16");
  EXPECT_EQ(refusal("a.npy", npy("(4000000000, 4000000000)", {1, 2})),
            "the file has a shape that asks for too many bytes of numbers, found 16");
  EXPECT_EQ(refusal("a.npy", npy("(1, 3)", {1, 2})),
            "the file has a shape that asks for 24 bytes of numbers, found 16");
  EXPECT_EQ(refusal("a.npy", npy("(1, 2)", {1, 2, 3})),
            "the file has a shape that asks for 16 bytes of numbers, found 24");
}

TEST_F(NumpyReader, TakesTheColumnThatIsNamedByItsNumberForTheTarget) {
  const std::string bytes = npy("(2, 3)", {1, 2, 3, 4, 5, 6});
  const DataTable table = read("a.npy", bytes, {.target = "2"});
  EXPECT_EQ(row(table, 1), (Numbers{4, 6}));
  EXPECT_EQ(table.targets, (Numbers{2, 5}));
  EXPECT_EQ(table.target_name, "2");
  EXPECT_EQ(read("a.npy", bytes, {.target = "1"}).targets, (Numbers{1, 4}));
  EXPECT_EQ(read("a.npy", bytes, {.target = "3"}).targets, (Numbers{3, 6}));
  EXPECT_EQ(read("a.npy", bytes).target_name, "3");
  for (const char* other : {"y", "0", "4", "2x"}) {
    EXPECT_EQ(refusal("a.npy", bytes, {.target = other}),
              "has no column '" + std::string(other) + "'; in a matrix, columns go by number, 1 to 3");
  }
}

TEST_F(NumpyReader, LeavesTheTargetOutOfFeatures) {
  const std::string bytes = npy("(2, 3)", {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(row(read("a.npy", bytes, {.target = "1", .columns = 2, .has_targets = false}), 1), (Numbers{5, 6}));
  // As many columns as features: the target is not among them.
  EXPECT_EQ(row(read("a.npy", bytes, {.target = "1", .columns = 3, .has_targets = false}), 1), (Numbers{4, 5, 6}));
  EXPECT_EQ(refusal("a.npy", bytes, {.target = "y", .columns = 2, .has_targets = false}),
            "has 3 columns of features, expected 2; if one of them is the target, name it");
}

TEST_F(NumpyReader, AGzipFileHoldsWhatItsShapeAsksForAndNoMore) {
  const Numbers six = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(read("a.npy.gz", packed(npy("(2, 3)", six))).targets, (Numbers{3, 6}));
  EXPECT_EQ(refusal("a.npy.gz", packed(npy("(1, 3)", six))), "the file continues after the last number of its shape");
  EXPECT_EQ(refusal("a.npy.gz", packed(npy("(3, 3)", six))), "the file ends too early");
  EXPECT_TRUE(refusal("a.npy.gz", packed(npy("(1000000000, 3)", six))).starts_with("the file has a shape that asks"));
}

TEST_F(NumpyReader, RefusesAnArchiveInGzip) {
  EXPECT_EQ(refusal("a.npz.gz", packed(content(npz("X", {1, 2}, "y", {1})))),
            "is a gzip file; an NPZ is already compressed, so unpack it with gunzip first");
}

TEST_F(NumpyReader, SaysWhichArraysAnArchiveLacks) {
  EXPECT_EQ(refusal_of(npz("Z", {1, 2}, "y", {1})),
            "has no array of features, features or X or data; its arrays: Z, y");
  EXPECT_EQ(refusal_of(npz("X", {1, 2}, "label", {1})),
            "has no array of targets, targets or y or target; its arrays: X, label");
}

}  // namespace
}  // namespace polyhop::numpy_reader_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/kept_rows.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "polyhop/core/npz_writer.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "support/data_files.hpp"

namespace polyhop::kept_rows_test {
namespace {

using test::Numbers;

TEST(KeptRows, AreAllWhereNoneAreNamed) {
  const DataFormat format;
  KeptRows kept(format);
  EXPECT_EQ(kept.count(5), 5);
  EXPECT_TRUE(kept.next());
  EXPECT_TRUE(kept.next());
  EXPECT_EQ(kept.passed(), 2);
}

TEST(KeptRows, AreThoseNamed) {
  DataFormat format;
  format.keep = {1, 3};
  KeptRows kept(format);
  EXPECT_EQ(kept.count(5), 2);
  std::vector<bool> said;
  for (int n = 0; n < 5; ++n) said.push_back(kept.next());
  EXPECT_EQ(said, (std::vector<bool>{false, true, false, true, false}));
}

// Every reader keeps the features of the samples it is told, the targets of all, and checks all.
class KeptFeatures : public test::DataFiles {
 protected:
  static void expect_kept(const std::string& path) {
    const DataTable whole = read_data(path);
    ASSERT_GE(whole.features.rows(), 3) << path;
    for (const std::vector<Index>& keep : std::vector<std::vector<Index>>{{}, {0}, {1, 2}, {0, 1, 2}}) {
      DataFormat format;
      format.keep = keep;
      const DataTable part = read_data(path, format);
      EXPECT_EQ(part.targets, whole.targets);
      EXPECT_EQ(part.names, whole.names);
      EXPECT_EQ(part.labels, whole.labels);
      EXPECT_EQ(part.target_name, whole.target_name);
      EXPECT_EQ(part.features.columns(), whole.features.columns());
      EXPECT_EQ(part.features.is_sparse(), whole.features.is_sparse());
      ASSERT_EQ(part.features.rows(), static_cast<Index>(keep.size())) << path;
      for (std::size_t n = 0; n < keep.size(); ++n) {
        EXPECT_EQ(numbers(part, static_cast<Index>(n)), numbers(whole, keep[n])) << path;
      }
    }
  }
  static Numbers numbers(const DataTable& table, Index n) {
    if (!table.features.is_sparse()) return row(table, n);
    Numbers out(static_cast<std::size_t>(table.features.columns()));
    for (std::size_t e = 0; e < table.features.columns_of(n).size(); ++e) {
      out[table.features.columns_of(n)[e]] = table.features.values_of(n)[e];
    }
    return out;
  }
  static std::string npy(const Numbers& numbers, const std::string& order) {
    const std::string header = "{'descr': '<f8', 'fortran_order': " + order + ", 'shape': (3, 3), }\n";
    std::string out("\x93NUMPY\x01\x00", 8);
    out += static_cast<char>(header.size());
    out += '\0';
    out += header;
    out.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
    return out;
  }
};

TEST_F(KeptFeatures, OfEveryFormat) {
  expect_kept(write("a.csv", "x,y,kind\n1,2,red\n3,4,blue\n5,6,red\n"));
  // The last sample alone knows of the last feature.
  expect_kept(write("a.svm", "1 1:2\n-1 2:3 3:4\n1 9:1\n"));
  const Numbers matrix = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  expect_kept(write("a.npy", npy(matrix, "False")));
  expect_kept(write("b.npy", npy(matrix, "True")));
  NpzWriter archive(file("a.npz"));
  archive.add("features", matrix, {3, 3});
  archive.add("targets", Numbers{1, 0, 1}, {3});
  archive.close();
  expect_kept(file("a.npz"));
  write("t-labels-idx1-ubyte", std::string("\0\0\x08\x01\0\0\0\x03\x05\x06\x07", 11));
  expect_kept(write("t-images-idx3-ubyte",
                    std::string("\0\0\x08\x03\0\0\0\x03\0\0\0\x01\0\0\0\x02\x01\x02\x03\x04\x05\x06", 22)));
}

TEST_F(KeptFeatures, OfABundledSet) {
  if (!test::has_bundled("wine")) GTEST_SKIP() << "wine is not installed: python3-sklearn";
  const DataTable whole = read_bundled("wine");
  const DataTable part = read_bundled("wine", "/", std::vector<Index>{2, 177});
  EXPECT_EQ(part.targets, whole.targets);
  ASSERT_EQ(part.features.rows(), 2);
  EXPECT_EQ(row(part, 1), row(whole, 177));
}

TEST_F(KeptFeatures, WhatIsNotKeptIsCheckedAllTheSame) {
  DataFormat none;
  none.keep = std::vector<Index>{};
  EXPECT_EQ(refusal("a.csv", "x,y\n1,2\nword,3\n", none).substr(0, 3), "3: ");
  EXPECT_EQ(refusal("a.svm", "1 1:2\n1 1:x\n", none).substr(0, 3), "2: ");
  EXPECT_EQ(refusal("b.csv", "x,y\n", none), "holds no samples, only a header");
}

}  // namespace
}  // namespace polyhop::kept_rows_test

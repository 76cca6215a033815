// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/data_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "polyhop/core/npz_writer.hpp"
#include "support/data_files.hpp"

namespace polyhop::data_file_test {
namespace {

using test::Numbers;

class DataFile : public test::DataFiles {};

TEST_F(DataFile, GoesByItsExtension) {
  for (const char* name : {"a.svm", "a.libsvm", "a.txt", "a.SVM", "data"}) {
    EXPECT_TRUE(read(name, "1 1:2\n").features.is_sparse()) << name;
  }
  EXPECT_EQ(refusal("a.csv", "1 1:2\n1 1:3\n"), "has no column besides the target, expected features");
  EXPECT_EQ(refusal("a.npy", "1 1:2\n"), "the file is not a NumPy array");
  EXPECT_EQ(refusal("a.npz", "1 1:2\n"), "is not a readable NPZ (zip) archive: Not a zip archive");
}

TEST_F(DataFile, GoesByItsContentWhereTheExtensionSaysNothing) {
  for (const char* name : {"a.txt", "a.svm", "data", "a.dat"}) {
    EXPECT_EQ(read(name, "1,2,3\n").features.columns(), 2) << name;
    EXPECT_EQ(read(name, "when: h,b\n1,2\n").target_name, "b") << name;
  }
  EXPECT_TRUE(read("a.txt", "1\t1:2\t2:3\n").features.is_sparse());
  EXPECT_TRUE(read("a.txt", "spam\n1 1:2\n").features.is_sparse());
  NpzWriter out(file("archive"));
  out.add("X", Numbers{1, 2}, {1, 2});
  out.add("y", Numbers{3}, {1});
  out.close();
  EXPECT_EQ(read_data(file("archive")).targets, Numbers{3});
}

TEST_F(DataFile, RefusesEmptyAndBinaryFiles) {
  for (const char* name : {"a.svm", "a.csv", "a.npy", "a.npz", "a-idx3-ubyte", "a"}) {
    EXPECT_EQ(refusal(name, ""), "is empty") << name;
  }
  const std::string garbage(
      "1,2\n\x7f"
      "ELF\0\0,",
      12);
  for (const char* name : {"a.svm", "a.csv", "a.txt", "a"}) {
    EXPECT_EQ(refusal(name, garbage), "holds binary data (a NUL byte), expected text") << name;
  }
}

}  // namespace
}  // namespace polyhop::data_file_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/bundled_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "support/temporary_folder.hpp"

namespace polyhop::bundled_data_test {
namespace {

class BundledData : public test::TemporaryFolder {
 protected:
  static std::string refusal(const std::string& name, const std::string& root) {
    try {
      read_bundled(name, root);
    } catch (const InputError& e) {
      return e.message();
    }
    return "not refused";
  }

  [[nodiscard]] std::string write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(file(path)).parent_path());
    std::ofstream(file(path)) << text;
    return file(path);
  }
};

TEST_F(BundledData, HasTheShapesThatTheListSays) {
  for (const BundledSet& set : bundled_sets()) {
    DataTable table;
    try {
      table = read_bundled(set.name);
    } catch (const InputError& e) {
      EXPECT_NE(e.message().find("apt install " + set.package), std::string::npos) << e.what();
      continue;
    }
    EXPECT_EQ(table.features.rows(), set.samples) << set.name;
    EXPECT_EQ(table.features.columns(), set.features) << set.name;
    ASSERT_EQ(static_cast<Index>(table.targets.size()), set.samples) << set.name;
    if (set.classes == 0) continue;
    EXPECT_EQ(std::ranges::min(table.targets), 0) << set.name;
    EXPECT_EQ(std::ranges::max(table.targets), static_cast<double>(set.classes - 1)) << set.name;
    if (!table.labels.empty()) {
      EXPECT_EQ(static_cast<Index>(table.labels.size()), set.classes) << set.name;
    }
  }
}

TEST_F(BundledData, SaysWhichPackageIsMissing) {
  EXPECT_EQ(refusal("wine", folder_.string()),
            "the data of 'wine' are in the Debian package python3-sklearn, which is not installed; run: apt install "
            "python3-sklearn");
  EXPECT_EQ(refusal("fashion-mnist", folder_.string()),
            "the data of 'fashion-mnist' are in the Debian package dataset-fashion-mnist, which is not installed; run: "
            "apt install dataset-fashion-mnist");
}

TEST_F(BundledData, SuggestsAName) {
  EXPECT_EQ(refusal("whine", "/"), "there is no bundled set 'whine'; did you mean 'wine'?");
}

// As a file of scikit-learn's own format, under another version of Python.
TEST_F(BundledData, FindsClassNamesUnderAnyPython) {
  std::string text = "178,13,red,white,rose\n";
  for (int n = 0; n < 178; ++n)
    text += "1,2,3,4,5,6,7,8,9,10,11,12," + std::to_string(n) + "," + std::to_string(n % 3) + "\n";
  const std::string folder = "usr/local/lib/python3.14/site-packages/sklearn/datasets/data/";
  const std::string path = write(folder + "wine_data.csv", text);
  const DataTable table = read_bundled("wine", folder_.string());
  EXPECT_EQ(table.labels, (std::vector<std::string>{"red", "white", "rose"}));
  EXPECT_EQ(table.features.dense()(177, 12), 177);
  EXPECT_EQ(table.targets[5], 2);
  static_cast<void>(write(folder + "wine_data.csv", text + "1\n"));
  EXPECT_EQ(refusal("wine", folder_.string()), "is not the file that polyhop expects");
}

}  // namespace
}  // namespace polyhop::bundled_data_test

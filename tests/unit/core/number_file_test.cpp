// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/number_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "unit/core/refusal.hpp"

namespace polyhop::number_file_test {
namespace {

namespace fs = std::filesystem;

class NumberFile : public testing::Test {
 protected:
  NumberFile() {
    std::string name = (fs::temp_directory_path() / "polyhop_numbers_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~NumberFile() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string file() const { return (folder_ / "numbers.txt").string(); }
  [[nodiscard]] std::vector<double> read(const std::string& text) const {
    std::ofstream(file(), std::ios::binary) << text;
    return read_numbers("start", file());
  }
  void expect_refused(const std::string& text, const std::string& where) const {
    EXPECT_EQ(refusal([&] { return read(text); }).what(), file() + ":" + where + " is not a finite number") << text;
  }

  fs::path folder_;
};

TEST_F(NumberFile, ReadsNumbersBetweenSpacesAndCommas) {
  EXPECT_EQ(read("1 2.5\n-3e2, 4,5\t6\n"), (std::vector<double>{1, 2.5, -300, 4, 5, 6}));
  EXPECT_EQ(read("\n\n  7  \r\n8"), (std::vector<double>{7, 8}));
}

TEST_F(NumberFile, ReadsAllDigits) {
  EXPECT_EQ(read("0.1 0.3333333333333333 5e-324"), (std::vector<double>{0.1, 1.0 / 3, 5e-324}));
}

TEST_F(NumberFile, AnEmptyFileHasNoNumbers) {
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(read("\n \n").empty());
}

TEST_F(NumberFile, SaysLineAndColumnOfABadNumber) {
  expect_refused("1 2\n3 four 5\n", "2: start: column 3");
  expect_refused("x", "1: start: column 1");
  expect_refused("1\n\n  2;3\n", "3: start: column 3");
}

TEST_F(NumberFile, RefusesWhatIsNotFinite) {
  expect_refused("1 nan", "1: start: column 3");
  expect_refused("inf", "1: start: column 1");
  expect_refused("1\n-inf", "2: start: column 1");
  expect_refused("1e999", "1: start: column 1");
}

TEST_F(NumberFile, RefusesNumbersThatRunTogether) {
  expect_refused("7 1.2.3", "1: start: column 3");
  expect_refused("1-2", "1: start: column 1");
}

TEST_F(NumberFile, RefusesAMissingFile) {
  const auto error = refusal([&] { return read_numbers("start", file()); });
  EXPECT_EQ(error.path(), "start");
  EXPECT_EQ(error.message(), "'" + file() + "': no such file");
}

TEST_F(NumberFile, RefusesADirectory) {
  const auto error = refusal([&] { return read_numbers("start", folder_.string()); });
  EXPECT_EQ(error.path(), "start");
  EXPECT_EQ(error.message(), "'" + folder_.string() + "': is a folder; expected a file");
}

}  // namespace
}  // namespace polyhop::number_file_test

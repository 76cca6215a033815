// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/export.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "polyhop/core/error.hpp"
#include "polyhop/report/curves_csv.hpp"
#include "polyhop/report/summary_json.hpp"
#include "support/records.hpp"
#include "support/temporary_folder.hpp"

namespace polyhop::export_test {
namespace {

namespace fs = std::filesystem;

class ExportTest : public test::TemporaryFolder {
 protected:
  [[nodiscard]] bool holds(const std::string& name, const std::string& part) const {
    return content(name).find(part) != std::string::npos;
  }
};

// Two agents in three dimensions, one averaged, one with every agent's steps at two points.
Record record() {
  Cell a;
  a.method = "a";
  a.seed = 3;
  a.points.resize(2);
  a.models = Rows(2, 3, 0.25);
  a.averaged = Rows(2, 3, 0.5);
  Cell b = a;
  b.method = "b";
  b.averaged = Rows();
  b.steps = {{}, {0.1, 0.2}};
  Cell gone;
  gone.method = "gone";
  gone.status = Status::failed;
  return test::record({a, b, gone}, 1);
}

TEST_F(ExportTest, WritesFourFilesAndMakesTheFolder) {
  export_record(record(), (folder_ / "deep" / "out").string());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "deep" / "out"), {}), 4);
  std::string csv;
  write_curves(record(), [&](std::string_view text) { csv += text; });
  EXPECT_EQ(content("deep/out/curves.csv"), csv);
  EXPECT_EQ(content("deep/out/summary.json"), summary_json(record()));
}

TEST_F(ExportTest, NamesModelsByMethodAndSeed) {
  export_record(record(), folder_.string());
  EXPECT_TRUE(holds("models.npz", "a/3.npy"));
  EXPECT_TRUE(holds("models.npz", "a/3/averaged.npy"));
  EXPECT_TRUE(holds("models.npz", "b/3.npy"));
  EXPECT_FALSE(holds("models.npz", "b/3/averaged.npy"));
  EXPECT_FALSE(holds("models.npz", "gone"));
  EXPECT_TRUE(holds("models.npz", "(2, 3)"));
}

TEST_F(ExportTest, StepsStandWhereTheyWereRecorded) {
  export_record(record(), folder_.string());
  EXPECT_FALSE(holds("steps.npz", "a/3.npy"));
  EXPECT_TRUE(holds("steps.npz", "b/3.npy"));
  EXPECT_TRUE(holds("steps.npz", "(2, 2)"));  // points x agents
}

TEST_F(ExportTest, OfAnEmptyRecordIsFourFilesToo) {
  export_record(Record(), folder_.string());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 4);
}

TEST_F(ExportTest, SaysWhichFolderCannotBeMade) {
  std::ofstream(folder_ / "file") << "mine";
  try {
    export_record(record(), (folder_ / "file" / "out").string());
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find((folder_ / "file" / "out").string()), std::string::npos) << e.what();
  }
  EXPECT_EQ(content("file"), "mine");
}

TEST_F(ExportTest, WritesNothingWhenOneFileCannotBe) {
  fs::create_directory(folder_ / "summary.json");
  EXPECT_THROW(export_record(record(), folder_.string()), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace polyhop::export_test

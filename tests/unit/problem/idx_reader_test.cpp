// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/idx_reader.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/data_files.hpp"

namespace polyhop::idx_reader_test {
namespace {

using test::Numbers;

class IdxReader : public test::DataFiles {
 protected:
  static std::string bytes(std::initializer_list<int> values) {
    std::string out;
    for (const int value : values) out += static_cast<char>(value);
    return out;
  }
  /// Two images of 1 x 3.
  std::string images() const {
    return write("t-images-idx3-ubyte", bytes({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 128, 255, 1, 2, 3}));
  }
  void labels() const { write("t-labels-idx1-ubyte", bytes({0, 0, 8, 1, 0, 0, 0, 2, 9, 4})); }
};

TEST_F(IdxReader, ReadsImagesWithTheLabelsBesideThem) {
  labels();
  const DataTable table = read_data(images());
  EXPECT_EQ(row(table, 0), (Numbers{0, 128, 255}));
  EXPECT_EQ(row(table, 1), (Numbers{1, 2, 3}));
  EXPECT_EQ(table.targets, (Numbers{9, 4}));
}

TEST_F(IdxReader, ReadsImagesAlone) {
  EXPECT_TRUE(read_data(images(), {.has_targets = false}).targets.empty());
  EXPECT_EQ(refusal_of(images()), "has no labels beside it: no t-labels-idx1-ubyte");
}

TEST_F(IdxReader, RefusesOtherLabels) {
  const std::string path = images();
  const auto refusal_with = [&](std::initializer_list<int> values) -> std::string {
    write("t-labels-idx1-ubyte", bytes(values));
    try {
      read_data(path);
    } catch (const InputError& e) {
      return e.message();
    }
    return "not refused";
  };
  EXPECT_EQ(refusal_with({0, 0, 8, 1, 0, 0, 0, 1, 9}), "has 1 labels, expected 2, one per image");
  EXPECT_EQ(refusal_with({0, 0, 8, 1, 0, 0, 0, 2, 9}), "has a header that asks for 2 bytes, found 1");
  EXPECT_EQ(refusal_with({0, 0, 8, 3, 0, 0, 0, 2, 9}), "is an IDX file of 3 dimensions, expected 1");
}

TEST_F(IdxReader, AGzipFileHoldsWhatItsHeaderAsksForAndNoMore) {
  const DataFormat alone{.has_targets = false};
  const std::string two = bytes({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 7, 9});
  EXPECT_EQ(row(read("f-idx3-ubyte.gz", packed(two), alone), 1), (Numbers{9}));
  EXPECT_EQ(refusal("f-idx3-ubyte.gz", packed(two + "x"), alone), "continues after what its header asks for");
  EXPECT_EQ(refusal("f-idx3-ubyte.gz", packed(two.substr(0, two.size() - 1)), alone), "ends too early");
}

TEST_F(IdxReader, RefusesForgedAndForeignHeaders) {
  const DataFormat alone{.has_targets = false};
  const std::string name = "f-idx3-ubyte";
  EXPECT_EQ(refusal(name, bytes({0, 0, 8, 3, 127, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1}), alone),
            "has a header that asks for 139637976727552 bytes, found 1");
  EXPECT_EQ(refusal(name, bytes({0, 0, 8, 3, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0}), alone),
            "has a header that asks for too many bytes, found 0");
  EXPECT_EQ(refusal(name, bytes({0, 0, 8, 3, 0, 0, 0}), alone), "ends inside its header");
  EXPECT_EQ(refusal(name, bytes({0, 0, 8, 3, 4, 3, 2, 1, 0, 0, 0, 1, 0, 0, 0, 1, 7}), alone),
            "has a header that asks for 67305985 bytes, found 1");  // 0x04030201
  EXPECT_EQ(refusal(name, bytes({0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 7, 9}), alone),
            "has a header that asks for 1 bytes, found 2");
  EXPECT_EQ(refusal(name, bytes({0, 0, 13, 3, 0, 0, 0, 1}), alone),
            "is an IDX file of the type 13, expected bytes (8)");
  EXPECT_EQ(refusal(name, "text", alone), "is not an IDX file");
  EXPECT_EQ(refusal(name, bytes({0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1}), alone), "holds no samples");
  EXPECT_EQ(refusal(name, bytes({0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}), alone), "holds no features");
}

}  // namespace
}  // namespace polyhop::idx_reader_test

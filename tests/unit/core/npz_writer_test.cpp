// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/npz_writer.hpp"

#include <gtest/gtest.h>
#include <zip.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "support/temporary_folder.hpp"

namespace polyhop::npz_writer_test {
namespace {

namespace fs = std::filesystem;

class NpzWriterTest : public test::TemporaryFolder {
 protected:
  [[nodiscard]] std::string write(const std::string& name) const {
    NpzWriter out(file(name));
    out.add("GAP tight/3", std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
    out.add("GAP tight/3/averaged", std::vector<double>{-0.5}, {1});
    out.close();
    return content(file(name));
  }
};

std::string member(const std::string& path, const char* name) {
  zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY, nullptr);
  if (archive == nullptr) return "no archive";
  zip_file_t* in = zip_fopen(archive, name, 0);
  std::string bytes(10000, '\0');
  const zip_int64_t count = in == nullptr ? 0 : zip_fread(in, bytes.data(), bytes.size());
  bytes.resize(count);
  if (in != nullptr) zip_fclose(in);
  zip_discard(archive);
  return bytes;
}

TEST_F(NpzWriterTest, WritesAHeaderAndThenTheNumbersRowByRow) {
  EXPECT_FALSE(write("a.npz").empty());
  const std::string bytes = member(file("a.npz"), "GAP tight/3.npy");
  ASSERT_EQ(bytes.size(), 128U + 6 * 8);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(bytes.substr(10, 59), "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(bytes[127], '\n');
  std::vector<double> numbers(6);
  std::memcpy(numbers.data(), bytes.data() + 128, 48);
  EXPECT_EQ(numbers, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_NE(member(file("a.npz"), "GAP tight/3/averaged.npy").find("'shape': (1,), }"), std::string::npos);
}

TEST_F(NpzWriterTest, WritesTheSameBytesAtAnyTimeInAnyTimeZone) {
  const std::string first = write("a.npz");
  const char* zone = std::getenv("TZ");
  const std::string before = zone == nullptr ? "" : zone;
  ::setenv("TZ", "Pacific/Kiritimati", 1);
  ::tzset();
  EXPECT_EQ(write("b.npz"), first);
  zone == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", before.c_str(), 1);
  ::tzset();
}

TEST_F(NpzWriterTest, AppearsOnCloseAndLeavesNothingBehindWithout) {
  {
    NpzWriter out(file("a.npz"));
    out.add("x", std::vector<double>{1}, {1});
    EXPECT_FALSE(fs::exists(file("a.npz")));
    EXPECT_EQ(entries(), 1);
  }
  EXPECT_EQ(entries(), 0);
}

TEST_F(NpzWriterTest, ShowsBadPathsBeforeTheWork) { EXPECT_THROW(NpzWriter(file("missing/a.npz")), Error); }

TEST_F(NpzWriterTest, RefusesAShapeThatDoesNotFit) {
  NpzWriter out(file("a.npz"));
  const std::vector<double> data(6);
  EXPECT_THROW(out.add("x", data, {2, 2}), Error);
  EXPECT_THROW(out.add("x", data, {-2, -3}), Error);
  EXPECT_THROW(out.add("x", data, {}), Error);
  EXPECT_THROW(out.add("x", {}, {Index{1} << 32, Index{1} << 32}), Error);
  EXPECT_NO_THROW(out.add("x", data, {3, 1, 2}));
}

TEST_F(NpzWriterTest, RefusesANameThatIsTaken) {
  NpzWriter out(file("a.npz"));
  out.add("x", std::vector<double>{1}, {1});
  EXPECT_THROW(out.add("x", std::vector<double>{2}, {1}), Error);
  EXPECT_THROW(out.add(std::string("y\0z", 3), std::vector<double>{2}, {1}), Error);
}

TEST_F(NpzWriterTest, LetsNoNameLeadOutOfTheFolder) {
  NpzWriter out(file("a.npz"));
  for (const char* name : {"../up", "a/../../b", "..", "/etc/x", "a\\..\\b", "a..b"}) {
    out.add(name, std::vector<double>{1}, {1});
  }
  out.close();
  for (const char* name : {"__/up.npy", "a/__/__/b.npy", "__.npy", "_etc/x.npy", "a\\__\\b.npy", "a..b.npy"}) {
    EXPECT_FALSE(member(file("a.npz"), name).empty()) << name;
  }
}

TEST_F(NpzWriterTest, WritesTextUnderItsOwnName) {
  NpzWriter out(file("a.npz"));
  out.add("x", std::vector<double>{1}, {1});
  out.add_text("model.json", "{}\n");
  EXPECT_THROW(out.add_text("model.json", ""), Error);
  EXPECT_THROW(out.add_text("x.npy", ""), Error);
  out.close();
  EXPECT_EQ(member(file("a.npz"), "model.json"), "{}\n");
}

TEST_F(NpzWriterTest, RefusesANameThatIsNotUtf8AndLeavesNothingBehind) {
  {
    NpzWriter out(file("a.npz"));
    out.add("\xff", std::vector<double>{1}, {1});
    EXPECT_THROW(out.close(), Error);
  }
  EXPECT_EQ(entries(), 0);
}

TEST_F(NpzWriterTest, WritesAnArchiveWithoutArrays) {
  NpzWriter out(file("a.npz"));
  out.close();
  EXPECT_EQ(content(file("a.npz")).size(), 22U);
  EXPECT_THROW(out.close(), Error);
}

}  // namespace
}  // namespace polyhop::npz_writer_test

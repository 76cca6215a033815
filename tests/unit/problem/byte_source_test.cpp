// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/byte_source.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <filesystem>
#include <limits>
#include <string>

#include "support/data_files.hpp"

namespace polyhop::byte_source_test {
namespace {

class ByteSourceTest : public test::DataFiles {
 protected:
  [[nodiscard]] std::string all(const std::string& name, std::size_t step) const {
    ByteSource source(file(name));
    std::string out;
    std::string buffer(step, '\0');
    for (std::size_t n = step; n == step;) {
      n = source.read(buffer.data(), step);
      out.append(buffer, 0, n);
    }
    EXPECT_GE(source.max_bytes(), out.size());
    return out;
  }
};

TEST_F(ByteSourceTest, UnpacksGzipByItsFirstBytes) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += std::to_string(i % 10007 * 7919) + "\n";
  write("plain", text);
  write("a.gz", packed(text));
  for (const std::size_t step : {std::size_t{1000}, std::size_t{1} << 20}) {
    EXPECT_TRUE(all("plain", step) == text);
    EXPECT_TRUE(all("a.gz", step) == text);
  }
}

TEST_F(ByteSourceTest, UnpacksMembersOneAfterTheOther) {
  write("a.gz", packed("one ") + packed("two ") + std::string(5, '\0') + packed("three") + std::string(512, '\0'));
  EXPECT_EQ(all("a.gz", 3), "one two three");
}

TEST_F(ByteSourceTest, RefusesDamagedGzip) {
  const std::string whole = packed("1 1:2\n1 1:3\n");
  for (const std::size_t cut : {3, 10, 15, 20}) {
    EXPECT_EQ(refusal("a.svm.gz", whole.substr(0, cut)), "its gzip data end too early; the file was cut off") << cut;
  }
  std::string changed = whole;
  changed[whole.size() - 6] = static_cast<char>(changed[whole.size() - 6] + 1);
  EXPECT_EQ(refusal("a.svm.gz", changed), "its gzip data are damaged: incorrect data check");
  EXPECT_EQ(refusal("a.svm.gz", whole + "more"), "has bytes after its gzip data that are not gzip");
  EXPECT_EQ(refusal("a.svm.gz", std::string("\x1f\x8b\x08\xff", 4)),
            "its gzip data are damaged: unknown header flags set");
}

TEST_F(ByteSourceTest, RefusesWhatIsNoOrdinaryFile) {
  EXPECT_EQ(refusal_of(file("missing.csv")), "no such file");
  write("missing1.csv", "1,2\n");
  EXPECT_EQ(refusal_of(file("missing.csv")), "no such file; did you mean 'missing1.csv'?");
  EXPECT_EQ(refusal_of(file("no/such/folder.csv")), "no such file");
  std::filesystem::create_directory(file("folder.csv"));
  EXPECT_EQ(refusal_of(file("folder.csv")), "is a folder; expected a file");
  ASSERT_EQ(::mkfifo(file("pipe.csv").c_str(), 0600), 0);
  for (const std::string& path : {file("pipe.csv"), std::string("/dev/zero")}) {
    EXPECT_EQ(refusal_of(path), "is a pipe, device or socket, expected a regular file");
  }
}

TEST_F(ByteSourceTest, GivesLinesAndExtendsThem) {
  LineSource lines(write("a.txt", "one\r\n\ntwo\nthree\nfour"));
  std::string_view line;
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "one");
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "");
  ASSERT_TRUE(lines.next(line));
  ASSERT_TRUE(lines.extend(line));
  EXPECT_EQ(line, "two\nthree");
  EXPECT_EQ(lines.number(), 3);
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "four");
  EXPECT_EQ(lines.number(), 5);
  EXPECT_FALSE(lines.extend(line));
  EXPECT_FALSE(lines.next(line));
}

// 200 MB of one line in a small file: memory must not follow what it unpacks to.
TEST_F(ByteSourceTest, RefusesALineWithoutEnd) {
  gzFile out = gzopen(file("a.csv.gz").c_str(), "wb1");
  const std::string part(1'000'000, '1');
  for (int i = 0; i < 200; ++i) gzwrite(out, part.data(), static_cast<unsigned>(part.size()));
  gzclose(out);
  EXPECT_EQ(refusal_of(file("a.csv.gz")), "1: a line of more than 134217728 bytes; is this a text file?");
}

TEST_F(ByteSourceTest, ParsesNumbersThatAreTheWholeText) {
  double x = 0;
  EXPECT_TRUE(parse_number("+1.5e3", x));
  EXPECT_EQ(x, 1500);
  EXPECT_TRUE(parse_number("1e999", x));
  EXPECT_EQ(x, std::numeric_limits<double>::infinity());
  for (const char* text : {"", "+", "+-1", "--1", "1x", " 1", "1 ", "0x10", "1,5", "e5", "."}) {
    EXPECT_FALSE(parse_number(text, x)) << text;
  }
}

TEST_F(ByteSourceTest, CountsLinesAndColons) {
  for (const std::string end : {"\n", ""}) {
    const TextCount count = count_text(write("a.svm", "1 1:2 3:4\n1 1:1" + end));
    EXPECT_EQ(count.bytes, 15U + end.size());
    EXPECT_EQ(count.lines, 2U);
    EXPECT_EQ(count.colons, 3U);
  }
}

TEST_F(ByteSourceTest, AGzipFileIsNotUnpackedBeforeItIsRead) {
  std::string damaged = packed(std::string(1000, 'x'));
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);
  const std::string path = write("a.gz", damaged);
  EXPECT_GE(ByteSource(path).max_bytes(), 1000U);
  EXPECT_EQ(count_text(path).bytes, 0U);
}

}  // namespace
}  // namespace polyhop::byte_source_test

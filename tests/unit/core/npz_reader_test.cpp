// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/npz_reader.hpp"

#include <gtest/gtest.h>
#include <zip.h>

#include <fstream>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/npz_writer.hpp"
#include "support/temporary_folder.hpp"

namespace polyhop::npz_reader_test {
namespace {

using Numbers = std::vector<double>;

class NpzReaderTest : public test::TemporaryFolder {
 protected:
  [[nodiscard]] std::string written() const {
    NpzWriter out(file("a.npz"));
    out.add("GAP tight/3", Numbers{1, 2, 3, 4, 5, 6}, {2, 3});
    out.add("one", Numbers{-0.5}, {});
    out.add("none", {}, {0, 4});
    out.add_text("model.json", "{\"größe\": 1}\n");
    out.close();
    return file("a.npz");
  }

  /// An archive with one member of these bytes, compressed.
  [[nodiscard]] std::string archive(const std::string& member, const std::string& bytes) const {
    zip_t* zip = zip_open(file("b.npz").c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    zip_file_add(zip, member.c_str(), zip_source_buffer(zip, bytes.data(), bytes.size(), 0), 0);
    EXPECT_EQ(zip_close(zip), 0);
    return file("b.npz");
  }

  static std::string npy(const std::string& header, const std::string& data, int version = 1) {
    std::string out("\x93NUMPY", 6);
    out += static_cast<char>(version);
    out += '\0';
    out += static_cast<char>(header.size());
    out.append(version == 1 ? 1 : 3, '\0');
    return out + header + data;
  }

  [[nodiscard]] std::string refusal(const std::string& bytes) const {
    try {
      static_cast<void>(NpzReader(archive("x.npy", bytes)).array("x"));
    } catch (const InputError& e) {
      EXPECT_EQ(e.file(), file("b.npz"));
      return e.message();
    }
    return "not refused";
  }
};

TEST_F(NpzReaderTest, GivesBackWhatTheWriterWrote) {
  const NpzReader in(written());
  EXPECT_EQ(in.names(), (std::vector<std::string>{"GAP tight/3", "one", "none"}));
  EXPECT_TRUE(in.has("one"));
  EXPECT_FALSE(in.has("model.json"));
  const NpzReader::Array matrix = in.array("GAP tight/3");
  EXPECT_EQ(matrix.shape, (std::vector<Index>{2, 3}));
  EXPECT_EQ(matrix.data, (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(in.array("one").shape.empty());
  EXPECT_EQ(in.array("one").data, Numbers{-0.5});
  EXPECT_EQ(in.array("none").shape, (std::vector<Index>{0, 4}));
  EXPECT_TRUE(in.has_text("model.json"));
  EXPECT_EQ(in.text("model.json"), "{\"größe\": 1}\n");
}

TEST_F(NpzReaderTest, SaysWhatIsMissing) {
  const NpzReader in(written());
  try {
    static_cast<void>(in.array("two"));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.message(), "holds no array 'two'; its arrays: GAP tight/3, one, none");
    EXPECT_EQ(e.file(), file("a.npz"));
  }
  EXPECT_THROW(static_cast<void>(in.text("other.json")), InputError);
  EXPECT_THROW(NpzReader(file("missing.npz")), InputError);
  EXPECT_THROW(NpzReader(folder_.string()), InputError);
}

TEST_F(NpzReaderTest, ReadsCompressedMembersOfOtherTypesAndOrders) {
  const std::string header = "{'shape': (2L, 2, 2), 'fortran_order': True, 'descr': '>i2'}\n";
  const std::string data("\0\1\0\2\0\3\0\4\0\5\0\6\0\7\xff\xff", 16);
  for (const int version : {1, 2, 3}) {
    const NpzReader in(archive("x.npy", npy(header, data, version)));
    EXPECT_EQ(in.array("x").data, (Numbers{1, 5, 3, 7, 2, 6, 4, -1}));
  }
  // By columns: 1 3 5 above 2 4 -1.
  const std::string wide = "{'shape': (2, 3), 'fortran_order': True, 'descr': '|i1'}\n";
  const NpzReader in(archive("x.npy", npy(wide, "\1\2\3\4\5\xff")));
  EXPECT_EQ(in.array("x").data, (Numbers{1, 3, 5, 2, 4, -1}));
}

TEST_F(NpzReaderTest, RefusesForgedHeaders) {
  const auto shaped = [](const std::string& shape) {
    return "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }\n";
  };
  const std::string eight(8, '\0');
  EXPECT_EQ(refusal(npy(shaped("(1,)"), eight)), "not refused");
  EXPECT_EQ(refusal(npy(shaped("(1,)"), eight + eight)),
            "the array 'x' has a shape that asks for 8 bytes of numbers, found 16");
  EXPECT_EQ(refusal(npy(shaped("(1099511627776,)"), eight)),
            "the array 'x' has a shape that asks for 8796093022208 bytes of numbers, found 8");
  EXPECT_EQ(refusal(npy(shaped("(4294967296, 4294967296)"), eight)),
            "the array 'x' has a shape that asks for too many bytes of numbers, found 8");
  EXPECT_EQ(refusal(npy(shaped("(2305843009213693952,)"), eight)),
            "the array 'x' has a shape that asks for too many bytes of numbers, found 8");
  for (const char* shape : {"(-1,)", "(1", "(99999999999999999999,)", "1", "(1 1)", "('a',)", "()x"}) {
    EXPECT_EQ(refusal(npy(shaped(shape), eight)), "the array 'x' has a header that is not NumPy's") << shape;
  }
}

// The directory says that a member has 16 MB, and so does the member's shape: memory is not taken on their word.
TEST_F(NpzReaderTest, DoesNotBelieveADirectoryThatSaysMoreThanTheFileHas) {
  NpzWriter out(file("d.npz"));
  out.add_text("x.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2097152,), }\n", "12345678"));
  out.close();
  std::string bytes = content(file("d.npz"));
  const std::size_t entry = bytes.find("PK\x01\x02");
  ASSERT_NE(entry, std::string::npos);
  for (const std::size_t size : {entry + 20, entry + 24}) bytes.replace(size, 4, std::string("\x46\0\0\1", 4));
  std::ofstream(file("d.npz"), std::ios::binary) << bytes;
  try {
    static_cast<void>(NpzReader(file("d.npz")).array("x"));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.message(), "'x.npy' is damaged: Premature end of file");
  }
}

TEST_F(NpzReaderTest, RefusesTypesThatAreNoNumbers) {
  for (const char* type : {"|O", "<U3", "<c16", "<f2", "<f16", "<i3", "|S8", "", "<", "<f8f8", "<M8[s]"}) {
    const std::string header = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (1,), }\n";
    EXPECT_EQ(refusal(npy(header, std::string(8, '\0'))),
              "the array 'x' has the type \"" + std::string(type) +
                  "\", expected booleans, integers or floats of 4 or 8 bytes");
  }
  EXPECT_EQ(refusal(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }\n", "")),
            "the array 'x' holds records, expected numbers");
}

TEST_F(NpzReaderTest, RefusesWhatIsNoArray) {
  EXPECT_EQ(refusal(""), "the array 'x' is not a NumPy array");
  EXPECT_EQ(refusal("something else entirely"), "the array 'x' is not a NumPy array");
  EXPECT_EQ(refusal(npy("{}", "", 4)), "the array 'x' has the format 4, expected 1 to 3");
  EXPECT_EQ(refusal(npy("{}", "")), "the array 'x' has a header that is not NumPy's");
  EXPECT_EQ(refusal(npy("{'shape': (1,)}", "").substr(0, 20)), "the array 'x' ends inside its header");
  EXPECT_EQ(refusal(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12)),
            "the array 'x' has a header of 4294967295 bytes, expected at most 65536");
}

TEST_F(NpzReaderTest, RefusesADamagedArchive) {
  std::string bytes = content(written());
  bytes[150] = static_cast<char>(bytes[150] + 1);  // in the first array's numbers
  std::ofstream(file("c.npz"), std::ios::binary) << bytes;
  EXPECT_THROW(static_cast<void>(NpzReader(file("c.npz")).array("GAP tight/3")), InputError);
  std::ofstream(file("d.npz"), std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  EXPECT_THROW(NpzReader(file("d.npz")), InputError);
}

}  // namespace
}  // namespace polyhop::npz_reader_test

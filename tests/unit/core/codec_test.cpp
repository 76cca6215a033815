// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/codec.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/index.hpp"

namespace polyhop::codec_test {
namespace {

enum class Fruit { apple, pear };

TEST(Codec, GivesBackWhatWasWritten) {
  MessageWriter out;
  out.add(true);
  out.add(Index{-7});
  out.add(std::numeric_limits<std::uint64_t>::max());
  out.add(0.1);
  out.add(Fruit::pear);
  out.add("words");
  out.add(std::vector<Index>{3, -1, 2});
  out.add(std::vector<double>{0.5, -2});
  out.add(std::vector<std::string>{"a", "", "bc"});
  MessageReader in(out.bytes());
  EXPECT_TRUE(in.take<bool>());
  EXPECT_EQ(in.take<Index>(), -7);
  EXPECT_EQ(in.take<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(in.take<double>(), 0.1);
  EXPECT_EQ(in.take<Fruit>(), Fruit::pear);
  EXPECT_EQ(in.take<std::string>(), "words");
  EXPECT_EQ(in.take<std::vector<Index>>(), (std::vector<Index>{3, -1, 2}));
  EXPECT_EQ(in.take<std::vector<double>>(), (std::vector<double>{0.5, -2}));
  EXPECT_EQ(in.take<std::vector<std::string>>(), (std::vector<std::string>{"a", "", "bc"}));
  EXPECT_NO_THROW(in.end());
}

TEST(Codec, TextsAndListsMayBeEmptyAndHoldAnyByte) {
  const std::string any("\0\xff\0:", 4);
  MessageReader in(message("", any, std::vector<double>{}, std::vector<std::string>{}, std::vector<Index>{}));
  EXPECT_EQ(in.take<std::string>(), "");
  EXPECT_EQ(in.take<std::string>(), any);
  EXPECT_TRUE(in.take<std::vector<double>>().empty());
  EXPECT_TRUE(in.take<std::vector<std::string>>().empty());
  EXPECT_TRUE(in.take<std::vector<Index>>().empty());
  EXPECT_NO_THROW(in.end());
}

TEST(Codec, RealNumbersKeepTheirBits) {
  using Limits = std::numeric_limits<double>;
  const std::vector<double> numbers = {-0.0,
                                       Limits::infinity(),
                                       -Limits::infinity(),
                                       Limits::denorm_min(),
                                       Limits::quiet_NaN(),
                                       -Limits::quiet_NaN(),
                                       std::bit_cast<double>(std::uint64_t{0x7ff8000000001234})};
  MessageWriter out;
  for (const double x : numbers) out.add(x);
  out.add(numbers);
  MessageReader in(out.bytes());
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  for (const double x : numbers) EXPECT_EQ(bits(in.take<double>()), bits(x));
  const auto list = in.take<std::vector<double>>();
  ASSERT_EQ(list.size(), numbers.size());
  for (std::size_t n = 0; n < list.size(); ++n) EXPECT_EQ(bits(list[n]), bits(numbers[n]));
}

void read_all(const std::string& bytes) {
  MessageReader in(bytes);
  (void)in.take<Index>();
  (void)in.take<bool>();
  (void)in.take<std::string>();
  (void)in.take<std::vector<double>>();
  (void)in.take<std::vector<std::string>>();
  in.end();
}

const std::string whole = message(Index{1}, true, "text", std::vector<double>{1, 2}, std::vector<std::string>{"a"});

TEST(Codec, MessagesThatEndTooEarlyAreRefused) {
  ASSERT_NO_THROW(read_all(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(read_all(whole.substr(0, length)), Error) << length;
  }
}

TEST(Codec, MessagesThatGoOnAreRefused) { EXPECT_THROW(read_all(whole + '\0'), Error); }

TEST(Codec, OtherTypesThanWereWrittenAreRefused) {
  EXPECT_THROW((void)MessageReader(message(Index{1})).take<double>(), Error);
  EXPECT_THROW((void)MessageReader(message(1)).take<Index>(), Error);
  EXPECT_THROW((void)MessageReader(message(Index{1})).take<std::uint64_t>(), Error);
  EXPECT_THROW((void)MessageReader(message(Fruit::pear)).take<int>(), Error);
  EXPECT_THROW((void)MessageReader(message("12345678")).take<std::vector<double>>(), Error);
  EXPECT_THROW((void)MessageReader(message(std::vector<double>{1})).take<std::string>(), Error);
}

TEST(Codec, AFlagIsYesOrNo) {
  std::string bytes = message(true);
  bytes.back() = 2;
  EXPECT_THROW((void)MessageReader(bytes).take<bool>(), Error);
}

// Nobody reserves memory for what cannot be there.
TEST(Codec, ALengthBeyondTheMessageIsRefused) {
  std::string bytes = message(std::vector<double>{1, 2});
  for (std::size_t n = 2; n < 10; ++n) bytes[n] = '\x7f';
  EXPECT_THROW((void)MessageReader(bytes).take<std::vector<double>>(), Error);
}

TEST(Codec, SaysWhatToDo) {
  try {
    MessageReader(message(1)).end();
    FAIL() << "nothing was left";
  } catch (const Error& e) {
    EXPECT_STREQ(
        e.what(),
        "a message from another process cannot be read: it continues past its end; run the same polyhop in all "
        "processes");
  }
}

}  // namespace
}  // namespace polyhop::codec_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/fingerprint.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace polyhop::fingerprint_test {
namespace {

std::string of(std::string_view text) {
  Fingerprint out;
  out.add(text);
  return hexadecimal(out.value());
}

// Stores and the promises of `polyhop doctor` are built on these: FNV-1a as its authors publish it.
TEST(Fingerprint, IsThePublishedOne) {
  EXPECT_EQ(of(""), "cbf29ce484222325");
  EXPECT_EQ(of("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(of("foobar"), "85944171f73967e8");
}

TEST(Fingerprint, TakesNumbersByTheirEightBytes) {
  Fingerprint number;
  number.add(0x0807060504030201);
  EXPECT_EQ(hexadecimal(number.value()), of("\x01\x02\x03\x04\x05\x06\x07\x08"));
  Fingerprint list, one_by_one;
  list.add(std::vector<double>{1, -0.0});
  one_by_one.add(1.0);
  one_by_one.add(-0.0);
  EXPECT_EQ(list.value(), one_by_one.value());
  Fingerprint zeros;
  zeros.add(std::vector<double>{1, 0.0});
  EXPECT_NE(list.value(), zeros.value());
}

}  // namespace
}  // namespace polyhop::fingerprint_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/memory_limit.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "polyhop/core/machine.hpp"
#include "polyhop/core/rows.hpp"
#include "support/memory_scope.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::memory_limit_test {
namespace {

TEST(MemorySize, IsANumberWithItsUnit) {
  EXPECT_EQ(parse_memory_size("512MB"), 512e6);
  EXPECT_EQ(parse_memory_size("4GB"), 4e9);
  EXPECT_EQ(parse_memory_size("2GiB"), 2.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(parse_memory_size("1.5g"), 1.5e9);
  EXPECT_EQ(parse_memory_size("2000 kB"), 2e6);
  EXPECT_EQ(parse_memory_size("1Ti"), 0x1p40);
}

TEST(MemorySize, OfAnythingElseIsRefused) {
  for (const char* text :
       {"", "4", "GB", "4 GBytes", "-4GB", "nanGB", "infGB", "0GB", "999kB", "4iB", "4B", "1e30TB"}) {
    EXPECT_EQ(refusal([&] { return parse_memory_size(text); }).message(),
              "found '" + std::string(text) + "', expected a size of at least 1MB, such as 512MB, 4GB or 2GiB");
  }
}

TEST(MemorySize, IsToldInThreeDigits) {
  EXPECT_EQ(memory_text(0), "0 bytes");
  EXPECT_EQ(memory_text(999), "999 bytes");
  EXPECT_EQ(memory_text(999.9e3), "1 MB");
  EXPECT_EQ(memory_text(1234567890), "1.23 GB");
  EXPECT_EQ(memory_text(5e21), "5e+03 EB");
}

TEST(MemoryLimit, IsHalfOfWhatThereIsSharedByTheProcesses) {
  ASSERT_GT(usable_memory(), 0);
  EXPECT_EQ(memory_limit(), usable_memory() / 2);
  share_memory(4);
  EXPECT_EQ(memory_limit(), usable_memory() / 8);
  const MemoryScope scope(5e6);
  EXPECT_EQ(memory_limit(), 5e6);  // what someone set is each process's
  share_memory(1);
}

TEST(MemoryLimit, RefusesBeforeAnythingIsTaken) {
  const MemoryScope scope(memory_held() + 10e6);
  const double before = memory_held();
  const HeldMemory most(8e6);
  const auto error = refusal<InputError>([&] { return HeldMemory(3e6); });
  EXPECT_NE(error.message().find("needs 3 MB more; the memory limit is "), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("raise it with --memory-limit"), std::string::npos) << error.message();
  EXPECT_EQ(memory_held(), before + 8e6);
  EXPECT_EQ(memory_left(), memory_limit() - before - 8e6);
  refusal([&] { return HeldMemory(std::numeric_limits<double>::infinity()); });
  EXPECT_EQ(memory_held(), before + 8e6);
}

TEST(MemoryLimit, CountsRowsWithTheirPaddingAndWhatVectorsGrowTo) {
  const double before = memory_held();
  {
    Rows rows(10, 3);  // 8 numbers per row
    EXPECT_EQ(memory_held(), before + 10 * 8 * sizeof(double));
    const Rows moved = std::move(rows);
    const Rows copied = moved;
    EXPECT_EQ(memory_held(), before + 2 * 10 * 8 * sizeof(double));
    MeteredVector<double> numbers(100);
    EXPECT_EQ(memory_held(), before + 2 * 10 * 8 * sizeof(double) + 100 * sizeof(double));
    numbers.reserve(1000);
    EXPECT_EQ(memory_held(), before + 2 * 10 * 8 * sizeof(double) + 1000 * sizeof(double));
  }
  EXPECT_EQ(memory_held(), before);
}

TEST(MemoryLimit, HoldsForRowsAndVectors) {
  const double before = memory_held();
  const MemoryScope scope(before + 10e6);
  refusal([] { return Rows(1000, 2000); });
  refusal([] { return Rows(std::numeric_limits<Index>::max() / 8, 8); });  // beyond any integer
  MeteredVector<char> bytes(6'000'000);
  refusal([&] {
    bytes.push_back(1);  // beside what it has, for a moment
    return 0;
  });
  EXPECT_EQ(bytes.size(), 6'000'000U);
  EXPECT_EQ(memory_held(), before + 6e6);
}

TEST(EnoughMemory, NamesTheKeyOfWhatDidNotFit) {
  const auto of = [](auto work) { return refusal([&] { return with_enough_memory("graph.agents", work); }); };
  const MemoryScope scope(memory_held() + 10e6);
  EXPECT_EQ(of([] { return Rows(1000, 2000).rows(); }).path(), "graph.agents");
  const InputError none = of([]() -> int { throw std::bad_alloc(); });
  EXPECT_EQ(none.path(), "graph.agents");
  EXPECT_NE(none.message().find("the system has no memory left"), std::string::npos) << none.message();
  EXPECT_EQ(of([]() -> int { throw std::length_error("vector"); }).message(), none.message());
  EXPECT_EQ(of([]() -> int { throw InputError("other", "wrong"); }).path(), "other");
}

}  // namespace
}  // namespace polyhop::memory_limit_test

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/pair_tiles.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "polyhop/core/random.hpp"
#include "unit/core/plain_kernels.hpp"

namespace polyhop::pair_tiles_test {
namespace {

// So many rows, each of which meets every slot with this chance; the diagonal is always there.
struct Pattern {
  Pattern(Index rows, Index slots, double chance) {
    Stream stream(1, Purpose::graph, rows + slots);
    for (Index r = 0; r < rows; ++r) {
      for (Index l = 0; l < slots; ++l) {
        if (l == r || stream.uniform() < chance) slot.push_back(static_cast<std::int32_t>(l));
      }
      offset.push_back(static_cast<Index>(slot.size()));
    }
  }
  [[nodiscard]] SparseView view() const { return {offset.data(), slot.data(), nullptr}; }
  std::vector<Index> offset = {0};
  std::vector<std::int32_t> slot;
};

template <class T>
Rows random_rows(Index rows, Index columns, Index which) {
  Rows out(rows, columns, 0, element_of<T>);
  Stream stream(2, Purpose::features, which);
  for (Index k = 0; k < rows; ++k) {
    for (Index j = 0; j < columns; ++j) out.as<T>(k)[j] = static_cast<T>(stream.normal());
  }
  return out;
}

std::vector<std::uint64_t> bits(const std::vector<double>& x) {
  std::vector<std::uint64_t> out;
  for (const double number : x) out.push_back(std::bit_cast<std::uint64_t>(number));
  return out;
}

std::vector<const void*> places_of(const Rows& x) {
  std::vector<const void*> out;
  for (Index k = 0; k < x.rows(); ++k) out.push_back(x.place(k));
  return out;
}

// With every variant of the kernels that this machine has.
template <class T>
void expect_plain_products(const Pattern& pattern, Index rows, Index slots, Index columns, const SlotSets& sets = {}) {
  const Rows x = random_rows<T>(rows, columns, 1);
  const Rows y = random_rows<T>(slots, columns, 2);
  const auto places = places_of(x);
  std::vector<double> expected(pattern.slot.size());
  plain::pairwise(pattern.view(), rows, places.data(), y.as<T>(), y.stride(), columns, expected.data());
  const std::string best = kernels::instruction_set();
  for (const char* variant : kernels::variants()) {
    ASSERT_TRUE(kernels::use_variant(variant));
    std::vector<double> got(expected.size(), -1);
    PairTiles(pattern.view(), rows, nullptr, {columns, element_of<T>}, sets)
        .multiply(places.data(), places_of(y).data(), columns, got.data());
    EXPECT_EQ(bits(got), bits(expected)) << rows << " rows, " << slots << " slots, " << columns << " columns, "
                                         << variant;
  }
  ASSERT_TRUE(kernels::use_variant(best));
}

TEST(PairTiles, AreThePlainProducts) {
  // Lines, lanes, pieces and their remainders.
  for (const Index columns : {0, 1, 7, 8, 9, 16, 17, 31, 255, 257, 511, 512, 513, 519, 528, 1000, 1025, 2049}) {
    for (const double chance : {0.1, 0.7, 1.0}) {
      const Pattern pattern(9, 13, chance);
      expect_plain_products<double>(pattern, 9, 13, columns);
      expect_plain_products<float>(pattern, 9, 13, columns);
    }
  }
}

TEST(PairTiles, TakeAGroupOfRowsAndThenTheNext) {
  expect_plain_products<double>({1030, 20, 0.2}, 1030, 20, 5);   // rows of a line
  expect_plain_products<double>({300, 20, 0.2}, 300, 20, 1100);  // rows of several pieces
}

// More rows and slots than a second cache holds, so that panels are cut from the sets.
constexpr Index far_slots = 420;
constexpr Index far_columns = 1100;

SlotSets sets_of(const std::vector<std::vector<std::int32_t>>& lists, std::int32_t first_own) {
  SlotSets out;
  out.first_own = first_own;
  for (const auto& list : lists) {
    out.slot.insert(out.slot.end(), list.begin(), list.end());
    out.offset.push_back(static_cast<Index>(out.slot.size()));
  }
  return out;
}

// Every row meets the 20 slots of its own set of 20, and some others by chance.
Pattern in_sets(Index rows, double chance) {
  Pattern out(0, far_slots, 0);
  Stream stream(3, Purpose::graph, rows);
  for (Index r = 0; r < rows; ++r) {
    for (Index l = 0; l < far_slots; ++l) {
      if (l / 20 == r / 20 || stream.uniform() < chance) out.slot.push_back(static_cast<std::int32_t>(l));
    }
    out.offset.push_back(static_cast<Index>(out.slot.size()));
  }
  return out;
}

TEST(PairTiles, OfSetsAreThePlainProducts) {
  std::vector<std::vector<std::int32_t>> lists;
  for (std::int32_t l = 0; l < far_slots; ++l) {
    if (l % 20 == 0) lists.emplace_back();
    lists.back().push_back(l);
  }
  for (const double chance : {0.0, 0.02}) {  // with chance, there are entries that no set has
    const Pattern pattern = in_sets(60, chance);
    expect_plain_products<double>(pattern, 60, far_slots, far_columns, sets_of(lists, 0));
    expect_plain_products<float>(pattern, 60, far_slots, 2 * far_columns, sets_of(lists, 0));
  }
  lists.push_back({3, 25, 44});  // an overlapping set, and one without rows
  lists.push_back({400, 401});
  expect_plain_products<double>(in_sets(60, 0), 60, far_slots, far_columns, sets_of(lists, 0));
  expect_plain_products<double>(in_sets(60, 0), 60, far_slots, far_columns, sets_of(lists, 100));
}

TEST(PairTiles, OfSetsReadFewRowsAtATime) {
  std::vector<std::vector<std::int32_t>> lists(1);
  for (std::int32_t l = 0; l < far_slots; ++l) lists[0].push_back(l);
  const Pattern all(60, far_slots, 1);
  // 60 rows in four panels against 420 slots in 27.
  EXPECT_EQ(PairTiles(all.view(), 60, nullptr, far_columns, sets_of(lists, 0)).panels(), 4 * 27);
  // All but the last 20 slots, of which four groups of rows are left; what the second set names was taken before.
  const auto most = std::vector(lists[0].begin(), lists[0].end() - 20);
  const auto again = std::vector(lists[0].begin(), lists[0].begin() + 16);
  EXPECT_EQ(PairTiles(all.view(), 60, nullptr, far_columns, sets_of({most, again}, 0)).panels(), 4 * 25 + 4);
  EXPECT_EQ(PairTiles(all.view(), 60, nullptr, far_columns).panels(), 1) << "without sets";
  EXPECT_EQ(PairTiles(all.view(), 60, nullptr, 10, sets_of(lists, 0)).panels(), 1) << "rows that are near anyway";
}

TEST(PairTiles, HaveNothingToDoWithoutEntries) {
  const Pattern nothing(0, 5, 1);
  expect_plain_products<double>(nothing, 0, 5, 10);
}

TEST(PairTiles, CopyWhatTheMirrorNames) {
  const std::vector<Index> offset = {0, 2};
  const std::vector<std::int32_t> slot = {0, 1};
  const std::vector<Index> mirror = {-1, 0};
  Rows y(2, 1);
  y(0, 0) = 2;
  y(1, 0) = 3;
  const Rows three(1, 1, 3);
  const void* x = three.data();
  std::vector<double> out(2);
  PairTiles({offset.data(), slot.data(), nullptr}, 1, mirror.data(), 1)
      .multiply(&x, places_of(y).data(), 1, out.data());
  EXPECT_EQ(out, (std::vector<double>{6, 6})) << "the second entry is a copy of the first, not 9";
}

TEST(PairTiles, WithAMirrorGiveTheSameAsWithout) {
  constexpr Index rows = 11;
  const Pattern all(rows, rows, 1);
  std::vector<Index> mirror;
  for (Index k = 0; k < rows; ++k) {
    for (Index l = 0; l < rows; ++l) mirror.push_back(l < k ? l * rows + k : -1);
  }
  const SlotSets sets = sets_of({{0, 1, 2, 3, 4, 5, 6, 7}, {5, 6, 7, 8, 9, 10}}, 0);
  for (const Index columns : {3, 40, 600, 30000}) {  // the last are far
    const Rows y = random_rows<double>(rows, columns, 3);
    const auto places = places_of(y);
    std::vector<double> got(rows * rows, -1);
    std::vector<double> expected(rows * rows);
    PairTiles(all.view(), rows, mirror.data(), columns, sets)
        .multiply(places.data(), places.data(), columns, got.data());
    plain::pairwise(all.view(), rows, places.data(), y.data(), y.stride(), columns, expected.data());
    EXPECT_EQ(bits(got), bits(expected)) << columns;
  }
}

}  // namespace
}  // namespace polyhop::pair_tiles_test

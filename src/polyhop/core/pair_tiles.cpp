// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/pair_tiles.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

// How a pattern is cut into panels of so many rows and slots at most, whose rows are multiplied so many bytes at a
// time.
struct Cut {
  std::size_t rows;
  std::size_t slots;
  Index run_bytes;
};
constexpr std::size_t any = std::numeric_limits<std::int32_t>::max();
// A tile of whole rows of up to `near_row` bytes fits into the first cache; longer ones are multiplied in runs, so that
// the rows of a group stay in the second cache. There are so many rows that four of them meet a slot, even if the
// pattern is sparse; if sums have to be kept between runs, fewer.
constexpr Index near_row = 8192;
constexpr Cut into_groups = {1024, any, near_row};
constexpr Cut into_groups_in_runs = {128, any, 4096};
// All that a panel reads in a run, and its sums, fit into the first cache, so each row is fetched from afar once. That
// pays if the rows of a block and what it is sent take more than a second cache.
constexpr Cut into_sets = {16, 16, 2048};
constexpr Index near_block = 4 << 20;

struct Entry {
  std::int32_t slot;
  std::int32_t row;
  std::int32_t place;
};

// A column of a tile: entries that share a slot.
using Column = std::span<const Entry>;
Column column_at(std::span<const Entry> entries, std::size_t from) {
  std::size_t to = from;
  while (to < entries.size() && to < from + kernels::max_tile_height && entries[to].slot == entries[from].slot) ++to;
  return {entries.data() + from, to - from};
}

bool has_same_rows(Column a, Column b) { return std::ranges::equal(a, b, {}, &Entry::row, &Entry::row); }

// One column, or two with the same rows.
struct Tile {
  Column one, other;
  [[nodiscard]] std::size_t height() const { return one.size(); }
  [[nodiscard]] std::size_t breadth() const { return other.empty() ? 1 : 2; }
};

struct Plan {
  MeteredVector<std::int32_t> code;
  MeteredVector<Index> panels = {0};
  std::size_t most = 0;  // products in a panel
  std::size_t of_panel = 0;
  Index run_bytes = 0;

  void add(const Tile& tile) {
    code.push_back(static_cast<std::int32_t>(tile.height()));
    code.push_back(static_cast<std::int32_t>(tile.breadth()));
    for (const Entry& entry : tile.one) code.push_back(entry.row);
    code.push_back(tile.one[0].slot);
    if (!tile.other.empty()) code.push_back(tile.other[0].slot);
    for (std::size_t n = 0; n < tile.height(); ++n) {
      code.push_back(tile.one[n].place);
      if (!tile.other.empty()) code.push_back(tile.other[n].place);
    }
    of_panel += tile.height() * tile.breadth();
  }
  void end_panel() {
    panels.push_back(static_cast<Index>(code.size()));
    most = std::max(most, of_panel);
    of_panel = 0;
  }
};

// Cuts the entries of a pattern into panels.
class Planner {
 public:
  Planner(const SparseView& pattern, Index rows, const Index* mirror, const Cut& cut)
      : pattern_(pattern), cut_(cut), left_in_row_(rows), panel_of_row_(rows), is_taken_(pattern.offset[rows]) {
    for (Index r = 0; r < rows; ++r) {
      for (Index e = pattern.offset[r]; e < pattern.offset[r + 1]; ++e) {
        slots_ = std::max(slots_, pattern.slot[e] + 1);
        is_taken_[e] = mirror != nullptr && mirror[e] >= 0 ? 1 : 0;
        if (is_taken_[e] == 0) ++left_in_row_[r];
      }
      left_ += left_in_row_[r];
    }
    part_of_.resize(slots_);
  }

  // What is left of the entries that are in one of these rows and one of these slots.
  void take(std::span<const std::int32_t> rows, std::span<const std::int32_t> slots) {
    if (left_ == 0) return;
    for (std::size_t n = 0; n < slots.size(); ++n) part_of_[slots[n]] = 1 + static_cast<std::int32_t>(n / cut_.slots);
    for (std::size_t n = 0; n < rows.size(); n += cut_.rows) {
      take_part(rows.subspan(n, std::min(cut_.rows, rows.size() - n)));
    }
    for (const std::int32_t slot : slots) part_of_[slot] = 0;
  }
  void take_sets(const SlotSets& sets) {
    std::vector<std::int32_t> own;
    for (std::size_t s = 0; s + 1 < sets.offset.size(); ++s) {
      const std::span slots(sets.slot.data() + sets.offset[s], sets.slot.data() + sets.offset[s + 1]);
      own.clear();
      for (const std::int32_t slot : slots) {
        const std::int32_t row = slot - sets.first_own;
        if (row >= 0 && row < std::ssize(left_in_row_)) own.push_back(row);
      }
      take(own, slots);
    }
  }
  void take_all() {
    std::vector<std::int32_t> rows(left_in_row_.size());
    std::vector<std::int32_t> slots(slots_);
    std::iota(rows.begin(), rows.end(), 0);
    std::iota(slots.begin(), slots.end(), 0);
    take(rows, slots);
  }

  [[nodiscard]] std::int32_t slots() const { return slots_; }
  // How many rows are fetched if a panel keeps them all, or if a tile keeps only what the tile before it has.
  [[nodiscard]] Index fetched_by_panels() const { return fetched_by_panels_; }
  [[nodiscard]] Index fetched_by_tiles() const { return fetched_by_tiles_; }
  Plan plan;

 private:
  void take_part(std::span<const std::int32_t> rows) {
    entries_.clear();
    for (const std::int32_t r : rows) {
      if (left_in_row_[r] == 0) continue;
      for (Index e = pattern_.offset[r]; e < pattern_.offset[r + 1]; ++e) {
        const std::int32_t slot = pattern_.slot[e];
        if (is_taken_[e] != 0 || part_of_[slot] == 0) continue;
        is_taken_[e] = 1;
        --left_in_row_[r];
        --left_;
        entries_.push_back({slot, r, static_cast<std::int32_t>(e)});
      }
    }
    std::ranges::sort(entries_, {}, [&](const Entry& e) { return std::tuple(part_of_[e.slot], e.slot, e.row); });
    for (std::span<const Entry> rest = entries_; !rest.empty();) {
      const std::int32_t part = part_of_[rest[0].slot];
      const auto end = std::ranges::find_if(rest, [&](const Entry& e) { return part_of_[e.slot] != part; });
      add_panel({rest.begin(), end});
      rest = {end, rest.end()};
    }
  }

  // Entries by slots
  void add_panel(std::span<const Entry> entries) {
    const auto panel = static_cast<Index>(plan.panels.size());
    for (const Entry& entry : entries) {
      if (std::exchange(panel_of_row_[entry.row], panel) != panel) ++fetched_by_panels_;
    }
    columns_.clear();
    for (std::size_t at = 0; at < entries.size(); at += columns_.back().size()) {
      if (at == 0 || entries[at].slot != entries[at - 1].slot) ++fetched_by_panels_;
      columns_.push_back(column_at(entries, at));
    }
    // Those with the same rows become neighbours: they make tiles of two, and find the rows in the first cache.
    std::ranges::stable_sort(columns_, [](Column a, Column b) {
      return std::ranges::lexicographical_compare(a, b, {}, &Entry::row, &Entry::row);
    });
    tiles_.clear();
    for (std::size_t at = 0; at < columns_.size(); at += tiles_.back().breadth()) {
      const bool two = at + 1 < columns_.size() && has_same_rows(columns_[at], columns_[at + 1]);
      const bool keeps = !tiles_.empty() && has_same_rows(columns_[at], tiles_.back().one);
      tiles_.push_back({columns_[at], two ? columns_[at + 1] : Column()});
      fetched_by_tiles_ += static_cast<Index>(tiles_.back().breadth() + (keeps ? 0 : tiles_.back().height()));
    }
    // One shape after the other, so that the processor can tell which comes next.
    std::ranges::stable_sort(tiles_, std::greater(), [](const Tile& t) { return std::tuple(t.height(), t.breadth()); });
    for (const Tile& tile : tiles_) plan.add(tile);
    plan.end_panel();
  }

  SparseView pattern_;
  Cut cut_;
  std::vector<Index> left_in_row_;     // entries not taken yet
  std::vector<Index> panel_of_row_;    // the last one that has the row
  std::vector<char> is_taken_;         // by entry
  std::vector<std::int32_t> part_of_;  // which of the slots at hand one is among; 0: none
  std::vector<Entry> entries_;
  std::vector<Column> columns_;
  std::vector<Tile> tiles_;
  std::int32_t slots_ = 0;
  Index left_ = 0;
  Index fetched_by_panels_ = 0;
  Index fetched_by_tiles_ = 0;
};

Plan make_plan(const SparseView& pattern, Index rows, const Index* mirror, Index row_bytes, const SlotSets& sets) {
  const Cut& cut = row_bytes > near_row ? into_groups_in_runs : into_groups;
  Planner groups(pattern, rows, mirror, cut);
  groups.take_all();
  groups.plan.run_bytes = cut.run_bytes;
  if (sets.slot.empty() || (rows + groups.slots()) * row_bytes <= near_block) return std::move(groups.plan);
  Planner panels(pattern, rows, mirror, into_sets);
  panels.take_sets(sets);
  panels.take_all();
  panels.plan.run_bytes = into_sets.run_bytes;
  return std::move(panels.fetched_by_panels() < groups.fetched_by_tiles() ? panels.plan : groups.plan);
}

}  // namespace

PairTiles::PairTiles(const SparseView& pattern, Index rows, const Index* mirror, VectorType vectors,
                     const SlotSets& sets)
    : columns_(vectors.columns) {
  if (pattern.offset[rows] > std::numeric_limits<std::int32_t>::max()) {
    throw Error("more than 2^31 pairs of agents within two hops in one block");
  }
  const Index bytes = bytes_of(vectors.element);
  const Index columns = Rows::padded(columns_, vectors.element);
  Plan plan = make_plan(pattern, rows, mirror, columns * bytes, sets);
  code_ = std::move(plan.code);
  panels_ = std::move(plan.panels);
  run_ = plan.run_bytes / bytes;
  if (columns > run_) sums_.resize(plan.most * kernels::lanes);
  if (mirror == nullptr) return;
  for (Index e = pattern.offset[0]; e < pattern.offset[rows]; ++e) {
    if (mirror[e] >= 0) copies_.push_back({static_cast<std::int32_t>(e), static_cast<std::int32_t>(mirror[e])});
  }
}

}  // namespace polyhop

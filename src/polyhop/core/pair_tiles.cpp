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
constexpr Index near_row = 4096;
constexpr std::size_t group_height = 4;  // of a tile of a group: with more rows, fewer slots share all of them
constexpr Cut into_groups = {1024, any, near_row};
constexpr Cut into_groups_in_runs = {128, any, near_row};
// All that a panel reads in a run, and its sums, are near, so each row is fetched from afar once. That pays if the rows
// of a block and what it is sent take more than a second cache.
constexpr Cut into_sets = {16, 16, near_row};
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
  while (to < entries.size() && to < from + group_height && entries[to].slot == entries[from].slot) ++to;
  return {entries.data() + from, to - from};
}

bool has_same_rows(Column a, Column b) { return std::ranges::equal(a, b, {}, &Entry::row, &Entry::row); }

// Columns with the same rows.
struct Tile {
  std::span<const Column> columns;
  [[nodiscard]] std::size_t height() const { return columns[0].size(); }
  [[nodiscard]] std::size_t breadth() const { return columns.size(); }
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
    for (const Entry& entry : tile.columns[0]) code.push_back(entry.row);
    for (const Column& column : tile.columns) code.push_back(column[0].slot);
    for (std::size_t n = 0; n < tile.height(); ++n) {
      for (const Column& column : tile.columns) code.push_back(column[n].place);
    }
    of_panel += tile.height() * tile.breadth();
  }
  void end_panel() {
    if (of_panel == 0 && panels.size() > 1) return;
    panels.push_back(static_cast<Index>(code.size()));
    most = std::max(most, of_panel);
    of_panel = 0;
  }
};

// Cuts the entries of a pattern into panels.
class Planner {
 public:
  Planner(const SparseView& pattern, Index rows, const Index* mirror, const Cut& cut)
      : pattern_(pattern), cut_(cut), left_in_row_(rows), is_taken_(pattern.offset[rows]) {
    for (Index r = 0; r < rows; ++r) {
      for (Index e = pattern.offset[r]; e < pattern.offset[r + 1]; ++e) {
        slots_ = std::max(slots_, pattern.slot[e] + 1);
        is_taken_[e] = mirror != nullptr && mirror[e] >= 0 ? 1 : 0;
        if (is_taken_[e] == 0) ++left_in_row_[r];
      }
      left_ += left_in_row_[r];
    }
    column_of_.resize(slots_);
  }

  // The entries of each set, in rectangles.
  void take_sets(const SlotSets& sets) {
    std::vector<std::int32_t> rows;
    std::vector<std::int32_t> slots;
    for (std::size_t s = 0; s + 1 < sets.offset.size(); ++s) {
      rows.clear();
      slots.clear();
      for (const std::int32_t slot :
           std::span(sets.slot.data() + sets.offset[s], sets.slot.data() + sets.offset[s + 1])) {
        const std::int32_t row = slot - sets.first_own;
        if (row >= 0 && row < std::ssize(left_in_row_) && left_in_row_[row] > 0) rows.push_back(row);
        if (slot < slots_) slots.push_back(slot);
      }
      in_pieces(std::span(std::as_const(rows)), cut_.rows, [&](auto some_rows) {
        in_pieces(std::span(std::as_const(slots)), cut_.slots,
                  [&](auto some_slots) { take_rectangle(some_rows, some_slots); });
      });
    }
  }
  // What is left, by groups of rows.
  void take_rest() {
    if (left_ == 0 && plan.panels.size() > 1) return;
    std::vector<std::int32_t> rows(left_in_row_.size());
    std::iota(rows.begin(), rows.end(), 0);
    in_pieces(std::span(std::as_const(rows)), cut_.rows, [&](auto some) { take_group(some); });
  }

  [[nodiscard]] std::int32_t slots() const { return slots_; }
  // How many rows are fetched if a panel keeps them all, or if a tile keeps only what the tile before it has.
  [[nodiscard]] Index fetched_by_panels() const { return fetched_by_panels_; }
  [[nodiscard]] Index fetched_by_tiles() const { return fetched_by_tiles_; }
  Plan plan;

 private:
  // Calls use(piece) for as few pieces of a list as have at most `most` members, all of about the same length.
  template <class T, class Use>
  static void in_pieces(std::span<T> list, std::size_t most, Use use) {
    const std::size_t pieces = (list.size() + most - 1) / most;
    for (std::size_t n = 0; n < pieces; ++n) {
      const std::size_t begin = n * list.size() / pieces;
      use(list.subspan(begin, (n + 1) * list.size() / pieces - begin));
    }
  }

  // All products of some rows with some slots, up to four rows at a time: those that were taken before are computed
  // once more, with the same bits, where a gap would cost more. Entries that are not in the pattern are left out.
  void take_rectangle(std::span<const std::int32_t> rows, std::span<const std::int32_t> slots) {
    for (std::size_t n = 0; n < slots.size(); ++n) column_of_[slots[n]] = 1 + static_cast<std::int32_t>(n);
    bool any_row = false;
    used_.assign(slots.size(), 0);
    in_pieces(rows, kernels::max_tile_height, [&](std::span<const std::int32_t> some) {
      const std::size_t height = some.size();
      entries_.assign(height * slots.size(), {-1, -1, -1});
      open_.assign(slots.size(), 0);
      for (std::size_t n = 0; n < height; ++n) {
        for (Index e = pattern_.offset[some[n]]; e < pattern_.offset[some[n] + 1]; ++e) {
          const std::int32_t column = column_of_[pattern_.slot[e]];
          if (column == 0) continue;
          entries_[(column - 1) * height + n] = {pattern_.slot[e], some[n], static_cast<std::int32_t>(e)};
          if (is_taken_[e] == 0) open_[column - 1] = 1;
        }
      }
      columns_.clear();
      for (std::size_t n = 0; n < slots.size(); ++n) {
        const Column column(entries_.data() + n * height, height);
        if (open_[n] == 0 || std::ranges::find(column, -1, &Entry::place) != column.end()) continue;
        columns_.push_back(column);
        used_[n] = 1;
        for (const Entry& entry : column) take(entry);
      }
      in_pieces(std::span(std::as_const(columns_)), kernels::max_tile_breadth,
                [&](std::span<const Column> tile) { plan.add({tile}); });
      if (!columns_.empty()) fetched_by_panels_ += static_cast<Index>(height);
      any_row = any_row || !columns_.empty();
    });
    fetched_by_panels_ += std::ranges::count(used_, 1);
    if (any_row) plan.end_panel();
    for (const std::int32_t slot : slots) column_of_[slot] = 0;
  }

  // The entries of some rows that are left, by slots.
  void take_group(std::span<const std::int32_t> rows) {
    entries_.clear();
    for (const std::int32_t r : rows) {
      for (Index e = pattern_.offset[r]; left_in_row_[r] > 0 && e < pattern_.offset[r + 1]; ++e) {
        const Entry entry{pattern_.slot[e], r, static_cast<std::int32_t>(e)};
        if (is_taken_[e] != 0) continue;
        take(entry);
        entries_.push_back(entry);
      }
    }
    std::ranges::sort(entries_, {}, [](const Entry& e) { return std::tuple(e.slot, e.row); });
    columns_.clear();
    for (std::size_t at = 0; at < entries_.size(); at += columns_.back().size()) {
      columns_.push_back(column_at(entries_, at));
    }
    // Those with the same rows become neighbours: they make tiles of two, and find the rows in the first cache.
    std::ranges::stable_sort(columns_, [](Column a, Column b) {
      return std::ranges::lexicographical_compare(a, b, {}, &Entry::row, &Entry::row);
    });
    tiles_.clear();
    for (std::span<const Column> rest = columns_; !rest.empty();) {
      const auto end = std::ranges::find_if(rest, [&](Column c) { return !has_same_rows(c, rest[0]); });
      in_pieces(std::span(rest.begin(), end), kernels::max_tile_breadth,
                [&](std::span<const Column> tile) { tiles_.push_back({tile}); });
      fetched_by_tiles_ += static_cast<Index>(rest[0].size()) + (end - rest.begin());
      rest = {end, rest.end()};
    }
    // One shape after the other, so that the processor can tell which comes next.
    std::ranges::stable_sort(tiles_, std::greater(), [](const Tile& t) { return std::tuple(t.height(), t.breadth()); });
    for (const Tile& tile : tiles_) plan.add(tile);
    plan.end_panel();
  }
  void take(const Entry& entry) {
    if (std::exchange(is_taken_[entry.place], 1) != 0) return;
    --left_in_row_[entry.row];
    --left_;
  }

  SparseView pattern_;
  Cut cut_;
  std::vector<Index> left_in_row_;  // entries not taken yet
  std::vector<char> is_taken_;      // by entry
  // Of the rectangle or the group at hand:
  std::vector<std::int32_t> column_of_;  // by slot, from 1; 0: it is not among them
  std::vector<Entry> entries_;
  std::vector<char> open_;  // by column: whether these rows have entries that were not taken
  std::vector<char> used_;  // by column: whether any rows had
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
  groups.take_rest();
  groups.plan.run_bytes = cut.run_bytes;
  if (sets.slot.empty() || (rows + groups.slots()) * row_bytes <= near_block) return std::move(groups.plan);
  Planner panels(pattern, rows, mirror, into_sets);
  panels.take_sets(sets);
  panels.take_rest();
  panels.plan.run_bytes = into_sets.run_bytes;
  const bool pays = panels.fetched_by_panels() + panels.fetched_by_tiles() < groups.fetched_by_tiles();
  return std::move(pays ? panels.plan : groups.plan);
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

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

// How a pattern is cut into panels of so many rows and slots at most, which are multiplied a piece of their columns at
// a time.
struct Cut {
  std::size_t rows;
  std::size_t slots;
};
constexpr std::size_t any = std::numeric_limits<std::int32_t>::max();
// The pieces of a tile fit into the first cache, those of a group's rows into the second one. There are so many rows
// that four of them meet a slot, even if the pattern is sparse.
constexpr std::size_t group_height = 4;  // of a tile of a group: with more rows, fewer slots share all of them
constexpr Cut into_groups = {256, any};
// All that a panel reads of a piece is near, so each row is fetched from afar once. That pays if the rows of a block
// and what it is sent take more than a second cache.
constexpr Cut into_sets = {16, 16};
constexpr Index near_block = 4 << 20;

struct Entry {
  std::int32_t slot;
  std::int32_t row;
  std::int32_t place;
};

// A column of a tile: entries that share a slot. Without a place, their product is not asked for.
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
  MeteredVector<std::int32_t> place;
  MeteredVector<PairTiles::Panel> panels = {{0, 0}};
  Index most = 0;  // products in a panel

  void add(const Tile& tile) {
    code.push_back(static_cast<std::int32_t>(tile.height()));
    code.push_back(static_cast<std::int32_t>(tile.breadth()));
    for (const Entry& entry : tile.columns[0]) code.push_back(entry.row);
    for (const Column& column : tile.columns) code.push_back(column[0].slot);
    for (std::size_t n = 0; n < tile.height(); ++n) {
      for (const Column& column : tile.columns) place.push_back(column[n].place);
    }
  }
  void end_panel() {
    const Index products = static_cast<Index>(place.size()) - panels.back().place;
    if (products == 0) return;
    panels.push_back({static_cast<Index>(code.size()), static_cast<Index>(place.size())});
    most = std::max(most, products);
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
  // Where a pattern is dense, by groups of rows.
  void take_blocks() {
    each_group([&](auto some) { take_block(some); });
  }
  // What is left, by groups of rows.
  void take_rest() {
    if (left_ > 0) each_group([&](auto some) { take_group(some); });
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

  template <class Use>
  void each_group(Use use) {
    std::vector<std::int32_t> rows(left_in_row_.size());
    std::iota(rows.begin(), rows.end(), 0);
    in_pieces(std::span(std::as_const(rows)), cut_.rows, use);
  }

  // The products of some rows with some slots, up to six rows at a time, as far as the pattern has all of a column.
  void take_rectangle(std::span<const std::int32_t> rows, std::span<const std::int32_t> slots) {
    used_.assign(slots.size(), 0);
    in_pieces(rows, kernels::max_tile_height, [&](std::span<const std::int32_t> some) {
      take_tiles(some, slots, false);
      if (!columns_.empty()) fetched_by_panels_ += std::ssize(some);
    });
    fetched_by_panels_ += std::ranges::count(used_, 1);
    plan.end_panel();
  }

  // The products of up to six rows at a time with all slots that at least half of them meet. The rest of these columns
  // is computed for nothing: tiles as large as registers allow gain more.
  void take_block(std::span<const std::int32_t> rows) {
    std::vector<std::int32_t> slots;
    in_pieces(rows, kernels::max_tile_height, [&](std::span<const std::int32_t> some) {
      slots.clear();
      each_left(some, [&](Index e) {
        const std::int32_t slot = pattern_.slot[e];
        if (++column_of_[slot] == (std::ssize(some) + 1) / 2) slots.push_back(slot);
      });
      each_left(some, [&](Index e) { column_of_[pattern_.slot[e]] = 0; });
      std::ranges::sort(slots);
      used_.assign(slots.size(), 0);
      take_tiles(some, slots, true);
      if (!columns_.empty()) fetched_by_tiles_ += std::ssize(some) + std::ssize(columns_);
    });
    plan.end_panel();
  }

  // Calls use(e) for the entries of some rows that were not taken yet.
  template <class Use>
  void each_left(std::span<const std::int32_t> rows, Use use) {
    for (const std::int32_t r : rows) {
      for (Index e = pattern_.offset[r]; left_in_row_[r] > 0 && e < pattern_.offset[r + 1]; ++e) {
        if (is_taken_[e] == 0) use(e);
      }
    }
  }

  // A product that was taken before is computed once more, with the same bits, where a gap would cost more.
  void take_tiles(std::span<const std::int32_t> rows, std::span<const std::int32_t> slots, bool gaps) {
    for (std::size_t n = 0; n < slots.size(); ++n) column_of_[slots[n]] = 1 + static_cast<std::int32_t>(n);
    const std::size_t height = rows.size();
    entries_.resize(height * slots.size());
    open_.assign(slots.size(), 0);
    for (std::size_t n = 0; n < height; ++n) {
      for (std::size_t column = 0; column < slots.size(); ++column) {
        entries_[column * height + n] = {slots[column], rows[n], -1};
      }
      for (Index e = pattern_.offset[rows[n]]; e < pattern_.offset[rows[n] + 1]; ++e) {
        const std::int32_t column = column_of_[pattern_.slot[e]];
        if (column == 0) continue;
        entries_[(column - 1) * height + n] = {pattern_.slot[e], rows[n], static_cast<std::int32_t>(e)};
        if (is_taken_[e] == 0) ++open_[column - 1];
      }
    }
    columns_.clear();
    for (std::size_t n = 0; n < slots.size(); ++n) {
      const Column column(entries_.data() + n * height, height);
      const bool is_whole = std::ranges::find(column, -1, &Entry::place) == column.end();
      if (open_[n] == 0 || (!gaps && !is_whole)) continue;
      columns_.push_back(column);
      used_[n] = 1;
      for (const Entry& entry : column) take(entry);
    }
    in_pieces(std::span(std::as_const(columns_)), kernels::max_tile_breadth,
              [&](std::span<const Column> tile) { plan.add({tile}); });
    for (const std::int32_t slot : slots) column_of_[slot] = 0;
  }

  // The entries of some rows that are left, by slots.
  void take_group(std::span<const std::int32_t> rows) {
    entries_.clear();
    for (const std::int32_t r : rows) {
      each_left({&r, 1}, [&](Index e) {
        entries_.push_back({pattern_.slot[e], r, static_cast<std::int32_t>(e)});
        take(entries_.back());
      });
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
    if (entry.place < 0 || std::exchange(is_taken_[entry.place], 1) != 0) return;
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
  std::vector<std::size_t> open_;  // by column: entries of these rows that were not taken
  std::vector<char> used_;         // by column: whether any rows had
  std::vector<Column> columns_;
  std::vector<Tile> tiles_;
  std::int32_t slots_ = 0;
  Index left_ = 0;
  Index fetched_by_panels_ = 0;
  Index fetched_by_tiles_ = 0;
};

Plan make_plan(const SparseView& pattern, Index rows, const Index* mirror, Index row_bytes, const SlotSets& sets) {
  Planner groups(pattern, rows, mirror, into_groups);
  groups.take_blocks();
  groups.take_rest();
  if (sets.slot.empty() || (rows + groups.slots()) * row_bytes <= near_block) return std::move(groups.plan);
  Planner panels(pattern, rows, mirror, into_sets);
  panels.take_sets(sets);
  panels.take_rest();
  const bool pays = panels.fetched_by_panels() + panels.fetched_by_tiles() < groups.fetched_by_tiles();
  return std::move(pays ? panels.plan : groups.plan);
}

}  // namespace

PairTiles::PairTiles(const SparseView& pattern, Index rows, const Index* mirror, VectorType vectors,
                     const SlotSets& sets)
    : vectors_(vectors) {
  if (pattern.offset[rows] > std::numeric_limits<std::int32_t>::max()) {
    throw Error("more than 2^31 pairs of agents within two hops in one block");
  }
  const Index bytes = bytes_of(vectors.element);
  const Index columns = Rows::padded(vectors.columns, vectors.element);
  Plan plan = make_plan(pattern, rows, mirror, columns * bytes, sets);
  code_ = std::move(plan.code);
  place_ = std::move(plan.place);
  panels_ = std::move(plan.panels);
  products_.resize(plan.most);
  const auto slots = std::span(pattern.slot, pattern.slot + pattern.offset[rows]);
  if (!slots.empty()) y_.resize(*std::ranges::max_element(slots) + 1);
  if (mirror == nullptr) return;
  for (Index e = pattern.offset[0]; e < pattern.offset[rows]; ++e) {
    if (mirror[e] >= 0) copies_.push_back({static_cast<std::int32_t>(e), static_cast<std::int32_t>(mirror[e])});
  }
}

void PairTiles::multiply(const void* const* x, const Reach& reach, double* out) {
  for (std::size_t l = 0; l < y_.size(); ++l) y_[l] = reach.place(static_cast<Index>(l));
  multiply(x, y_.data(), vectors_.columns, out);
}

void PairTiles::multiply(const void* const* x, const void* const* y, Index columns, double* out) {
  for (std::size_t p = 0; p + 1 < panels_.size(); ++p) {
    const Panel& panel = panels_[p];
    const Panel& next = panels_[p + 1];
    kernels::pairwise({code_.data() + panel.code, code_.data() + next.code}, x, y, vectors_.element, columns,
                      products_.data());
    const double* product = products_.data();
    double nowhere = 0;
    for (Index n = panel.place; n < next.place; ++n, ++product)
      *(place_[n] >= 0 ? out + place_[n] : &nowhere) = *product;
  }
  for (const auto& [to, from] : copies_) out[to] = out[from];
}

void multiply_pairs(const Reach& reach, const void* const* x, double* out) {
  if (reach.products != nullptr) return reach.products->multiply(x, reach, out);
  with_element(reach.element, [&](auto zero) {
    using T = decltype(zero);
    for (Index r = 0; r < reach.agents; ++r) {
      for (Index e = reach.pattern.offset[r]; e < reach.pattern.offset[r + 1]; ++e) {
        out[e] = kernels::dot(static_cast<const T*>(x[r]), reach.row<T>(e), reach.columns);
      }
    }
  });
}

}  // namespace polyhop

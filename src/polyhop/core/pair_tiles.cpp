// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/pair_tiles.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <tuple>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

// Rows of up to `near_row` bytes are multiplied whole, since a tile of them fits into the first cache; longer ones in
// runs, so that the rows of a group stay in the second cache.
constexpr Index near_row = 8192;
constexpr Index run_bytes = 4096;
// The rows that share slots: so many that there are four that meet a slot, even if the pattern is sparse. If there are
// sums between two runs, fewer.
constexpr Index group_of_whole_rows = 1024;
constexpr Index group_of_runs = 128;

struct Entry {
  std::int32_t slot;
  std::int32_t row;
  std::int32_t place;
};

// The entries to compute in the rows [first, last), by slots.
void gather(const SparseView& pattern, Index first, Index last, const Index* mirror, std::vector<Entry>& out) {
  out.clear();
  for (Index r = first; r < last; ++r) {
    for (Index e = pattern.offset[r]; e < pattern.offset[r + 1]; ++e) {
      if (mirror != nullptr && mirror[e] >= 0) continue;
      out.push_back({pattern.slot[e], static_cast<std::int32_t>(r), static_cast<std::int32_t>(e)});
    }
  }
  std::ranges::sort(out, {}, [](const Entry& entry) { return std::tuple(entry.slot, entry.row); });
}

// A column of a tile: entries that share a slot.
using Column = std::span<const Entry>;
Column column_at(const std::vector<Entry>& entries, std::size_t from) {
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

Plan make_plan(const SparseView& pattern, Index rows, const Index* mirror, Index group) {
  Plan out;
  std::vector<Entry> entries;
  std::vector<Column> columns;
  std::vector<Tile> tiles;
  for (Index first = 0; first < rows; first += group) {
    gather(pattern, first, std::min(rows, first + group), mirror, entries);
    columns.clear();
    for (std::size_t at = 0; at < entries.size(); at += columns.back().size()) {
      columns.push_back(column_at(entries, at));
    }
    // Those with the same rows become neighbours: they make tiles of two, and find the rows in the first cache.
    std::ranges::stable_sort(columns, [](Column a, Column b) {
      return std::ranges::lexicographical_compare(a, b, {}, &Entry::row, &Entry::row);
    });
    tiles.clear();
    for (std::size_t at = 0; at < columns.size(); at += tiles.back().breadth()) {
      const bool two = at + 1 < columns.size() && has_same_rows(columns[at], columns[at + 1]);
      tiles.push_back({columns[at], two ? columns[at + 1] : Column()});
    }
    // One shape after the other, so that the processor can tell which comes next.
    std::ranges::stable_sort(tiles, std::greater(), [](const Tile& t) { return std::tuple(t.height(), t.breadth()); });
    for (const Tile& tile : tiles) out.add(tile);
    out.end_panel();
  }
  return out;
}

}  // namespace

PairTiles::PairTiles(const SparseView& pattern, Index rows, const Index* mirror, VectorType vectors)
    : columns_(vectors.columns) {
  if (pattern.offset[rows] > std::numeric_limits<std::int32_t>::max()) {
    throw Error("more than 2^31 pairs of agents within two hops in one block");
  }
  const Index columns = Rows::padded(columns_, vectors.element);
  const bool in_runs = columns * bytes_of(vectors.element) > near_row;
  Plan plan = make_plan(pattern, rows, mirror, in_runs ? group_of_runs : group_of_whole_rows);
  code_ = std::move(plan.code);
  panels_ = std::move(plan.panels);
  run_ = in_runs ? run_bytes / bytes_of(vectors.element) : std::max<Index>(1, columns);
  if (in_runs) sums_.resize(plan.most * kernels::lanes);
  if (mirror == nullptr) return;
  for (Index e = pattern.offset[0]; e < pattern.offset[rows]; ++e) {
    if (mirror[e] >= 0) copies_.push_back({static_cast<std::int32_t>(e), static_cast<std::int32_t>(mirror[e])});
  }
}

}  // namespace polyhop

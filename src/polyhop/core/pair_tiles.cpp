// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/pair_tiles.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <tuple>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

// The cost model's view of a processor: the bytes that a core gets per cycle, measured on Zen 4 (docs/benchmarks.md),
// assuming that it multiplies and adds 64 bytes of each operand per cycle.
constexpr double near_rate = 32;  // from the second cache
constexpr double far_rate = 10;   // from the third or from memory
constexpr double product_rate = 64;
constexpr double tile_cost = 20;  // cycles to start and finish a product of a tile

// The part of a group's rows that stays in the first cache beside the rows that pass through: 4 rows of 4 kB.
constexpr Index run_bytes = 4096;

double second_cache() {
  const auto bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<double>(bytes) : 0.5e6;
}

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

// The entries from `from` on that share its slot.
std::span<const Entry> same_slot(const std::vector<Entry>& entries, std::size_t from) {
  std::size_t to = from;
  while (to < entries.size() && entries[to].slot == entries[from].slot) ++to;
  return {entries.data() + from, to - from};
}

struct Plan {
  MeteredVector<std::int32_t> code;
  MeteredVector<Index> panels = {0};
  double cost = 0;       // in cycles
  std::size_t most = 0;  // products in a panel
  std::size_t of_panel = 0;

  // One tile: the same rows against one slot, or two.
  void add(std::span<const Entry> one, std::span<const Entry> other) {
    const auto breadth = other.empty() ? 1 : 2;
    code.push_back(static_cast<std::int32_t>(one.size()));
    code.push_back(breadth);
    for (const Entry& entry : one) code.push_back(entry.row);
    code.push_back(one[0].slot);
    if (breadth == 2) code.push_back(other[0].slot);
    for (std::size_t n = 0; n < one.size(); ++n) {
      code.push_back(one[n].place);
      if (breadth == 2) code.push_back(other[n].place);
    }
    of_panel += one.size() * static_cast<std::size_t>(breadth);
  }
  void end_panel() {
    panels.push_back(static_cast<Index>(code.size()));
    most = std::max(most, of_panel);
    of_panel = 0;
  }
};

bool has_same_rows(std::span<const Entry> a, std::span<const Entry> b) {
  return std::ranges::equal(a, b, {}, &Entry::row, &Entry::row);
}

Plan by_groups(const SparseView& pattern, Index rows, const Index* mirror, double row_bytes, double rate) {
  Plan out;
  std::vector<Entry> entries;
  std::vector<std::span<const Entry>> slots;
  for (Index first = 0; first < rows; first += kernels::max_tile_height) {
    gather(pattern, first, std::min<Index>(rows, first + kernels::max_tile_height), mirror, entries);
    slots.clear();
    for (std::size_t at = 0; at < entries.size(); at += slots.back().size()) slots.push_back(same_slot(entries, at));
    // Slots that meet the same rows become neighbours, and make tiles of two.
    std::ranges::stable_sort(slots, [](const auto& a, const auto& b) {
      return std::ranges::lexicographical_compare(a, b, {}, &Entry::row, &Entry::row);
    });
    for (std::size_t at = 0; at < slots.size();) {
      const bool two = at + 1 < slots.size() && has_same_rows(slots[at], slots[at + 1]);
      out.add(slots[at], two ? slots[at + 1] : std::span<const Entry>());
      const double breadth = two ? 2 : 1;
      const double products = breadth * static_cast<double>(slots[at].size());
      out.cost += std::max(products * row_bytes / product_rate, breadth * row_bytes / rate) + products * tile_cost;
      at += two ? 2 : 1;
    }
    out.end_panel();
  }
  return out;
}

Plan by_slots(const SparseView& pattern, Index rows, const Index* mirror, double row_bytes) {
  Plan out;
  std::vector<Entry> entries;
  const Index held = std::max<Index>(kernels::max_tile_height, static_cast<Index>(second_cache() / 2 / row_bytes));
  for (Index first = 0; first < rows; first += held) {
    gather(pattern, first, std::min(rows, first + held), mirror, entries);
    for (std::size_t at = 0; at < entries.size();) {
      auto slot = same_slot(entries, at);
      at += slot.size();
      out.cost += row_bytes / far_rate;
      while (!slot.empty()) {
        const auto tile = slot.first(std::min<std::size_t>(slot.size(), kernels::max_tile_height));
        slot = slot.subspan(tile.size());
        out.add(tile, {});
        out.cost += static_cast<double>(tile.size()) * (row_bytes / near_rate + tile_cost);
      }
    }
    out.end_panel();
  }
  return out;
}

}  // namespace

PairTiles::PairTiles(const SparseView& pattern, Index rows, const Index* mirror, VectorType vectors, Order order)
    : columns_(vectors.columns) {
  const Index entries = pattern.offset[rows] - pattern.offset[0];
  if (pattern.offset[rows] > std::numeric_limits<std::int32_t>::max()) {
    throw Error("more than 2^31 pairs of agents within two hops in one block");
  }
  const auto bytes =
      static_cast<double>(std::max<Index>(Rows::line_bytes, vectors.columns * bytes_of(vectors.element)));
  const auto* last = std::max_element(pattern.slot + pattern.offset[0], pattern.slot + pattern.offset[rows]);
  const bool is_near = entries == 0 || (*last + 1) * bytes <= second_cache();
  if (order == Order::cheapest && is_near) order = Order::groups;
  Plan plan;
  if (order != Order::slots) plan = by_groups(pattern, rows, mirror, bytes, is_near ? near_rate : far_rate);
  if (order != Order::groups) {
    Plan other = by_slots(pattern, rows, mirror, bytes);
    if (order == Order::cheapest) order = other.cost < plan.cost ? Order::slots : Order::groups;
    if (order == Order::slots) plan = std::move(other);
  }
  const bool in_runs = order == Order::groups && bytes > run_bytes;
  code_ = std::move(plan.code);
  panels_ = std::move(plan.panels);
  run_ = in_runs ? run_bytes / bytes_of(vectors.element) : Rows::padded(columns_, vectors.element);
  run_ = std::max<Index>(run_, 1);
  if (in_runs) sums_.resize(plan.most * kernels::lanes);
  if (mirror == nullptr) return;
  for (Index e = pattern.offset[0]; e < pattern.offset[rows]; ++e) {
    if (mirror[e] >= 0) copies_.push_back({static_cast<std::int32_t>(e), static_cast<std::int32_t>(mirror[e])});
  }
}

}  // namespace polyhop

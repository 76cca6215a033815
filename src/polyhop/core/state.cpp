// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/state.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "polyhop/core/block.hpp"
#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

// An iteration count is stored as its bits, so that no integer is ever rounded.
static_assert(sizeof(double) == sizeof(Index));

}  // namespace

void StateRegistry::insert(const std::string& name, Kind kind, void* place, Index columns, Index count) {
  for (const auto& item : items_) {
    if (item.name == name) throw Error("state '" + name + "' is registered twice");
  }
  items_.push_back({name, kind, place, columns, count});
}

void StateRegistry::rows(const std::string& name, Rows& rows) { insert(name, Kind::rows, &rows, rows.columns()); }
void StateRegistry::scalars(const std::string& name, std::vector<double>& scalars) {
  insert(name, Kind::scalars, &scalars, 1);
}
void StateRegistry::number(const std::string& name, double& number) { insert(name, Kind::real, &number, 1); }
void StateRegistry::number(const std::string& name, Index& number) { insert(name, Kind::index, &number, 1); }
void StateRegistry::shared(const std::string& name, Rows& rows) {
  insert(name, Kind::shared, &rows, rows.columns(), rows.rows());
}

std::vector<StateRegistry::Entry> StateRegistry::entries() const {
  std::vector<Entry> out;
  for (const Item& item : items_) out.push_back({item.name, item.per_agent(), item.columns, item.count});
  return out;
}

void StateRegistry::copy_out(std::size_t n, Index k, std::span<double> out) const {
  const Item& item = items_[n];
  switch (item.kind) {
    case Kind::rows:
    case Kind::shared:
      read_row(*static_cast<const Rows*>(item.place), k, out);
      std::fill(out.begin() + item.columns, out.end(), 0.0);
      break;
    case Kind::scalars:
      out[0] = (*static_cast<const std::vector<double>*>(item.place))[k];
      break;
    case Kind::real:
      out[0] = *static_cast<const double*>(item.place);
      break;
    case Kind::index:
      out[0] = std::bit_cast<double>(*static_cast<const Index*>(item.place));
      break;
  }
}

void StateRegistry::copy_in(std::size_t n, Index k, std::span<const double> in) {
  const Item& item = items_[n];
  switch (item.kind) {
    case Kind::rows:
    case Kind::shared:
      write_row(in.first(item.columns), *static_cast<Rows*>(item.place), k);
      break;
    case Kind::scalars:
      (*static_cast<std::vector<double>*>(item.place))[k] = in[0];
      break;
    case Kind::real:
      *static_cast<double*>(item.place) = in[0];
      break;
    case Kind::index:
      *static_cast<Index*>(item.place) = std::bit_cast<Index>(in[0]);
      break;
  }
}

Snapshot StateRegistry::shape(Index agents) const {
  Snapshot snapshot;
  for (const Item& item : items_) {
    const Index rows = item.per_agent() ? agents : item.count;
    snapshot.entries.push_back(
        {item.name, rows, item.columns, std::vector<double>(rows * item.columns), !item.per_agent()});
  }
  return snapshot;
}

void StateRegistry::save(const Block& block, Snapshot& snapshot) const {
  for (std::size_t n = 0; n < items_.size(); ++n) {
    const auto columns = static_cast<std::size_t>(items_[n].columns);
    const std::span<double> data = snapshot.entries[n].data;
    if (items_[n].per_agent()) {
      for (Index k = 0; k < block.size(); ++k) {
        copy_out(n, k, data.subspan(static_cast<std::size_t>(block.agent(k)) * columns, columns));
      }
    } else if (block.first == 0) {
      // Every worker holds the same; one of them writes it.
      for (Index r = 0; r < items_[n].count; ++r)
        copy_out(n, r, data.subspan(static_cast<std::size_t>(r) * columns, columns));
    }
  }
}

void StateRegistry::restore(const Block& block, const Snapshot& snapshot) {
  Index agents = block.last;
  for (std::size_t n = 0; n < std::min(items_.size(), snapshot.entries.size()); ++n) {
    if (items_[n].per_agent()) agents = std::max(agents, snapshot.entries[n].rows);
  }
  StateMatching matching(entries(), agents);
  for (const auto& entry : snapshot.entries)
    (void)matching.find({entry.name, 0, entry.rows, entry.columns, entry.data});
  matching.end();
  for (std::size_t n = 0; n < items_.size(); ++n) {
    const auto columns = static_cast<std::size_t>(items_[n].columns);
    const std::span<const double> data = snapshot.entries[n].data;
    const auto row = [&](Index r) { return data.subspan(static_cast<std::size_t>(r) * columns, columns); };
    if (items_[n].per_agent()) {
      for (Index k = 0; k < block.size(); ++k) copy_in(n, k, row(block.agent(k)));
    } else {
      for (Index r = 0; r < items_[n].count; ++r) copy_in(n, r, row(r));
    }
  }
}

namespace {

[[noreturn]] void refuse_shape(const std::string& name) {
  throw Error("the saved state's '" + name + "' has another shape than this run's");
}

}  // namespace

std::size_t StateMatching::find(const StatePart& part) {
  if (part.first == 0 || count_ == 0) begin(part);
  const auto& entry = entries_[count_ - 1];
  rows_ += part.rows;
  if (part.name != entry.name) {
    throw Error("the saved state has '" + part.name + "' where this run has '" + entry.name + "'");
  }
  const bool whole = static_cast<Index>(part.data.size()) == part.rows * part.columns;
  if (rows_ > rows_of(entry) || part.columns != entry.columns || !whole) refuse_shape(part.name);
  return count_ - 1;
}

void StateMatching::end() const {
  check_last();
  if (count_ == entries_.size()) return;
  throw Error("the saved state has " + std::to_string(count_) + " entries, this run has " +
              std::to_string(entries_.size()));
}

void StateMatching::begin(const StatePart& part) {
  check_last();
  if (count_ == entries_.size()) throw Error("the saved state has '" + part.name + "', which this run does not have");
  ++count_;
  rows_ = 0;
}

void StateMatching::check_last() const {
  if (count_ == 0) return;
  const auto& last = entries_[count_ - 1];
  if (rows_ != rows_of(last)) refuse_shape(last.name);
}

}  // namespace polyhop

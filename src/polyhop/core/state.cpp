// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/state.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

// An iteration count is kept as its bits, so that no integer is ever rounded.
static_assert(sizeof(Real) == sizeof(Index));

}  // namespace

void StateRegistry::insert(const std::string& name, Kind kind, void* place, Index columns) {
  for (const auto& item : items_) {
    if (item.name == name) throw Error("state '" + name + "' is registered twice");
  }
  items_.push_back({name, kind, place, columns});
}

void StateRegistry::rows(const std::string& name, Rows& rows) { insert(name, Kind::rows, &rows, rows.columns()); }
void StateRegistry::scalars(const std::string& name, std::vector<Real>& scalars) {
  insert(name, Kind::scalars, &scalars, 1);
}
void StateRegistry::number(const std::string& name, Real& number) { insert(name, Kind::real, &number, 1); }
void StateRegistry::number(const std::string& name, Index& number) { insert(name, Kind::index, &number, 1); }

Snapshot StateRegistry::shape(Index agents) const {
  Snapshot snapshot;
  for (const auto& item : items_) {
    const bool per_agent = item.kind == Kind::rows || item.kind == Kind::scalars;
    const Index rows = per_agent ? agents : 1;
    snapshot.entries.push_back(
        {item.name, rows, item.columns, std::vector<Real>(static_cast<std::size_t>(rows * item.columns))});
  }
  return snapshot;
}

void StateRegistry::save(const Block& block, Snapshot& snapshot) const {
  for (std::size_t n = 0; n < items_.size(); ++n) {
    const Item& item = items_[n];
    Real* out = snapshot.entries[n].data.data();
    switch (item.kind) {
      case Kind::rows: {
        const auto& rows = *static_cast<const Rows*>(item.place);
        for (Index k = 0; k < block.size(); ++k) {
          std::ranges::copy(rows.row(k), out + (block.first + k) * item.columns);
        }
        break;
      }
      case Kind::scalars:
        std::ranges::copy(*static_cast<const std::vector<Real>*>(item.place), out + block.first);
        break;
      case Kind::real:
        // Every worker holds the same number; one of them writes it.
        if (block.first == 0) *out = *static_cast<const Real*>(item.place);
        break;
      case Kind::index:
        if (block.first == 0) *out = std::bit_cast<Real>(*static_cast<const Index*>(item.place));
        break;
    }
  }
}

void StateRegistry::restore(const Block& block, const Snapshot& snapshot) {
  if (snapshot.entries.size() != items_.size()) {
    throw Error("the saved state has " + std::to_string(snapshot.entries.size()) + " entries, this run has " +
                std::to_string(items_.size()));
  }
  for (std::size_t n = 0; n < items_.size(); ++n) {
    const Item& item = items_[n];
    const auto& entry = snapshot.entries[n];
    if (entry.name != item.name || entry.columns != item.columns) {
      throw Error("the saved state has '" + entry.name + "' where this run has '" + item.name + "'");
    }
    const bool per_agent = item.kind == Kind::rows || item.kind == Kind::scalars;
    const bool fits = per_agent ? entry.rows >= block.last : entry.rows == 1;
    if (!fits || static_cast<Index>(entry.data.size()) != entry.rows * entry.columns) {
      throw Error("the saved state's '" + entry.name + "' has another shape than this run's");
    }
    const Real* in = entry.data.data();
    switch (item.kind) {
      case Kind::rows: {
        auto& rows = *static_cast<Rows*>(item.place);
        for (Index k = 0; k < block.size(); ++k) {
          std::copy_n(in + (block.first + k) * item.columns, item.columns, rows.row(k).begin());
        }
        break;
      }
      case Kind::scalars: {
        auto& scalars = *static_cast<std::vector<Real>*>(item.place);
        std::copy_n(in + block.first, block.size(), scalars.begin());
        break;
      }
      case Kind::real:
        *static_cast<Real*>(item.place) = *in;
        break;
      case Kind::index:
        *static_cast<Index*>(item.place) = std::bit_cast<Index>(*in);
        break;
    }
  }
}

}  // namespace polyhop

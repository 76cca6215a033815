// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/memory_limit.hpp"

namespace polyhop {

/// A sparse matrix by rows; the columns of a row ascend, so that a sum along a row runs in order of the
/// agents' numbers.
struct SparseRows {
  std::vector<Index> offset = {0};
  MeteredVector<std::int32_t> column;
  MeteredVector<double> weight;

  [[nodiscard]] Index rows() const { return static_cast<Index>(offset.size()) - 1; }
  [[nodiscard]] Index entries() const { return static_cast<Index>(column.size()); }
  [[nodiscard]] std::span<const std::int32_t> columns_of(Index row) const {
    return {column.data() + offset[row], static_cast<std::size_t>(offset[row + 1] - offset[row])};
  }
  [[nodiscard]] std::span<const double> weights_of(Index row) const {
    return {weight.data() + offset[row], static_cast<std::size_t>(offset[row + 1] - offset[row])};
  }
  /// Appends an entry to the current row; `end_row` completes it.
  void add(std::int32_t at, double value) {
    column.push_back(at);
    weight.push_back(value);
  }
  void end_row() { offset.push_back(static_cast<Index>(column.size())); }
};

}  // namespace polyhop

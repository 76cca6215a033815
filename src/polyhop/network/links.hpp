// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "polyhop/core/index.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/reach.hpp"
#include "polyhop/graph/sparse_rows.hpp"

namespace polyhop {

/// Whose rows the agents of a block read, and where they are in the mail: some rows of a matrix over agents, with the
/// position of an agent's row for each entry.
class Links {
 public:
  Links() = default;
  /// Takes the rows of `pattern` from `first` on; `pattern` must outlive the links. Rows are ordered by the agents'
  /// numbers.
  Links(const SparseRows& pattern, Index first) : pattern_(&pattern), first_(first) {}
  /// The same with `slot(agent)` for the row of an agent.
  template <class Slot>
  Links(const SparseRows& pattern, Index first, Slot slot) : Links(pattern, first) {
    slots_.reserve(pattern.column.size());
    for (const Index l : pattern.column) slots_.push_back(static_cast<std::int32_t>(slot(l)));
  }

  [[nodiscard]] SparseView view() const {
    return {pattern_->offset.data() + first_, slots_.empty() ? senders() : slots_.data(), pattern_->weight.data()};
  }
  /// The agents' numbers, by entry.
  [[nodiscard]] const std::int32_t* senders() const { return pattern_->column.data(); }

 private:
  const SparseRows* pattern_ = nullptr;
  Index first_ = 0;
  MeteredVector<std::int32_t> slots_;
};

}  // namespace polyhop

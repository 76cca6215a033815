// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "polyhop/core/index.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

struct Reach;

/// How own rows are multiplied with those of a reach.
class ReachProducts {
 public:
  /// out[e] = x[r] . row slot[e] of the reach, for every entry e of each row r.
  virtual void multiply(const void* const* x, const Reach& reach, double* out) = 0;

 protected:
  ReachProducts() = default;
  ReachProducts(const ReachProducts&) = default;
  ReachProducts(ReachProducts&&) = default;
  ReachProducts& operator=(const ReachProducts&) = default;
  ReachProducts& operator=(ReachProducts&&) = default;
  ~ReachProducts() = default;
};

/// What the agents of a block hold of everybody within two hops: entry e of agent k (pattern.offset[k] <= e <
/// pattern.offset[k+1]) is the row of one agent l, with weight b_kl, in order of l, including k itself. A view into the
/// network's mail: valid until the next exchange of vectors (of numbers, if columns is 1) begins.
struct Reach {
  SparseView pattern;
  Index agents = 0;            // of the block
  Index entries = 0;           // pattern.offset[agents]
  const void* rows = nullptr;  // null if only their products are at hand
  Index stride = 0;
  Index columns = 0;
  Element element = Element::float64;
  ReachProducts* products = nullptr;  // null behind a door: one by one

  /// The row of a slot
  [[nodiscard]] const void* place(Index slot) const {
    return static_cast<const std::byte*>(rows) + slot * stride * bytes_of(element);
  }
  /// All rows, as T
  template <class T = double>
  [[nodiscard]] const T* all() const {
    if (element != element_of<T>) refuse_element(element);
    return static_cast<const T*>(rows);
  }
  template <class T = double>
  [[nodiscard]] const T* row(Index entry) const {
    return all<T>() + pattern.slot[entry] * stride;
  }
};

}  // namespace polyhop

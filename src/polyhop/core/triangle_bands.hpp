// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "polyhop/core/index.hpp"
#include "polyhop/core/kernels.hpp"

namespace polyhop {

/// An order of the numbers in the upper triangle of a symmetric matrix: bands of kernels::strip rows, in a band column
/// after column, in a column row after row. So consecutive numbers depend on few rows and columns.
class TriangleBands {
 public:
  explicit TriangleBands(Index size) : size_(size) {}
  [[nodiscard]] Index numbers() const { return size_ * (size_ + 1) / 2; }

  /// Numbers of column `column` and rows from `row` to `last` that follow each other; the band begins with row `band`.
  struct Piece {
    Index band = 0;
    Index column = 0;
    Index row = 0;
    Index last = 0;
  };
  /// Calls use(piece) for the pieces that `count` numbers from `first` on consist of, in order.
  template <class Use>
  void each_piece(Index first, Index count, Use use) const {
    Index band = 0;
    for (Index all = of_band(band); first >= all && band < size_; all = of_band(band)) {
      first -= all;
      band += kernels::strip;
    }
    for (Index s = band; count > 0; ++s) {
      if (s == size_) s = band += kernels::strip;
      const Index rows = std::min({s - band + 1, kernels::strip, size_ - band});
      if (first >= rows) {
        first -= rows;
        continue;
      }
      const Index some = std::min(count, rows - first);
      use(Piece{band, s, band + first, band + first + some});
      count -= some;
      first = 0;
    }
  }

 private:
  [[nodiscard]] Index of_band(Index band) const {
    const Index rows = std::min(kernels::strip, size_ - band);
    return rows * (size_ - band) - rows * (rows - 1) / 2;
  }

  Index size_;
};

}  // namespace polyhop

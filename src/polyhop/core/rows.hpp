// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "polyhop/core/real.hpp"

namespace polyhop {

/// A row-major matrix with one agent (or one sample) per row: the shape of all state in polyhop.
/// Every row starts on a cache line and is followed by zeros up to the next one, which kernels read and leave zero.
/// Its memory counts against `memory_limit()`: making one may throw OverMemoryLimit.
class Rows {
 public:
  /// Numbers in a cache line: what rows are padded to a multiple of.
  static constexpr Index line = 8;
  static constexpr Index padded(Index columns) { return (columns + line - 1) / line * line; }

  Rows() = default;
  Rows(Index rows, Index columns, Real fill = 0)
      : rows_(rows), columns_(columns), stride_(padded(columns)), data_(allocate(rows, stride_)) {
    std::fill_n(data_, rows_ * stride_, Real{0});
    if (fill != 0) {
      for (Index r = 0; r < rows_; ++r) std::ranges::fill(row(r), fill);
    }
  }
  Rows(const Rows& other) : Rows(other.rows_, other.columns_) { std::copy_n(other.data_, rows_ * stride_, data_); }
  Rows(Rows&& other) noexcept { swap(*this, other); }
  Rows& operator=(Rows other) noexcept {
    swap(*this, other);
    return *this;
  }
  ~Rows() { release(data_, rows_ * stride_); }

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index columns() const { return columns_; }
  [[nodiscard]] Index stride() const { return stride_; }
  [[nodiscard]] Real* data() { return data_; }
  [[nodiscard]] const Real* data() const { return data_; }
  [[nodiscard]] std::span<Real> row(Index r) { return {data_ + r * stride_, static_cast<std::size_t>(columns_)}; }
  [[nodiscard]] std::span<const Real> row(Index r) const {
    return {data_ + r * stride_, static_cast<std::size_t>(columns_)};
  }
  Real& operator()(Index r, Index c) { return data_[r * stride_ + c]; }
  Real operator()(Index r, Index c) const { return data_[r * stride_ + c]; }

  friend void swap(Rows& a, Rows& b) noexcept {
    std::swap(a.rows_, b.rows_);
    std::swap(a.columns_, b.columns_);
    std::swap(a.stride_, b.stride_);
    std::swap(a.data_, b.data_);
  }

 private:
  static Real* allocate(Index rows, Index stride);
  static void release(Real* data, Index count) noexcept;

  Index rows_ = 0;
  Index columns_ = 0;
  Index stride_ = 0;
  Real* data_ = nullptr;
};

}  // namespace polyhop

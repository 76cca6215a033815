// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// The exponent of the power of two just below the largest of some numbers. Dividing by that power is exact, and makes
/// the numbers safe to square. 0 if they are already safe, or all 0.
int extreme_exponent(std::span<const double> x);

/// The features of samples, one sample per row: dense, or sparse, holding only what is not 0. Sums along a row run in a
/// fixed order, so no bit depends on the caller.
class Features {
 public:
  Features() = default;
  Features(Rows rows) : dense_(std::move(rows)) {}  // NOLINT: rows are features
  /// Row r holds value[e] in column[e] for offset[r] <= e < offset[r+1], columns ascending.
  static Features sparse(Index columns, MeteredVector<Index> offset, MeteredVector<std::int32_t> column,
                         MeteredVector<double> value);

  [[nodiscard]] bool is_sparse() const { return !offset_.empty(); }
  [[nodiscard]] Index rows() const { return is_sparse() ? static_cast<Index>(offset_.size()) - 1 : dense_.rows(); }
  [[nodiscard]] Index columns() const { return is_sparse() ? columns_ : dense_.columns(); }
  /// The rows themselves; only if they are dense.
  [[nodiscard]] const Rows& dense() const { return dense_; }
  [[nodiscard]] Rows& dense() { return dense_; }
  /// A sparse row's columns and values; only if they are sparse.
  [[nodiscard]] std::span<const std::int32_t> columns_of(Index row) const;
  template <class T = double>
  [[nodiscard]] std::span<const T> values_of(Index row) const {
    return {values<T>() + offset_[row], values<T>() + offset_[row + 1]};
  }

  /// Their number type. Features are read and prepared in double, and rounded afterwards.
  [[nodiscard]] Element element() const { return is_sparse() ? sparse_element_ : dense_.element(); }
  /// The same in single precision.
  [[nodiscard]] Features rounded() const;
  /// The rows from `first` to `last`, in double precision.
  [[nodiscard]] Features widened(Index first, Index last) const;

  /// h . w, w a row of Rows as long as h; in double if w is.
  [[nodiscard]] double dot(Index row, const double* w) const;
  [[nodiscard]] double dot(Index row, const float* w) const;
  /// out += a h, of the same type as the features
  void add_scaled(double a, Index row, double* out) const;
  void add_scaled(double a, Index row, float* out) const;
  [[nodiscard]] double squared_norm(Index row) const;
  /// Divides every row by its norm, however large or small it is; rows of zeros stay.
  void normalise_rows();
  /// Column j becomes (x - shift[j]) * factor[j]. Sparse features are not shifted, because that would make them dense.
  void transform_columns(std::span<const double> shift, std::span<const double> factor);
  /// The same with a last column of ones.
  [[nodiscard]] Features with_ones() const;
  /// These rows, in this order.
  [[nodiscard]] Features select(std::span<const Index> rows) const;

 private:
  [[nodiscard]] std::span<double> own_values(Index row);
  template <class T>
  [[nodiscard]] const T* values() const {
    if (sparse_element_ != element_of<T>) refuse_element(sparse_element_);
    if constexpr (std::is_same_v<T, float>) {
      return single_.data();
    } else {
      return value_.data();
    }
  }

  Rows dense_;
  Index columns_ = 0;
  MeteredVector<Index> offset_;
  MeteredVector<std::int32_t> column_;
  Element sparse_element_ = Element::float64;
  MeteredVector<double> value_;  // or, in single precision,
  MeteredVector<float> single_;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/features.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "polyhop/core/kernels.hpp"

namespace polyhop {

int extreme_exponent(std::span<const Real> x) {
  Real largest = 0;
  for (const Real number : x) largest = std::max(largest, std::abs(number));
  constexpr Real high = 0x1p400;
  if (largest == 0 || !std::isfinite(largest) || (largest < high && largest > 1 / high)) return 0;
  return std::ilogb(largest);
}

Features Features::sparse(Index columns, MeteredVector<Index> offset, MeteredVector<std::int32_t> column,
                          MeteredVector<Real> value) {
  Features out;
  out.columns_ = columns;
  out.offset_ = std::move(offset);
  out.column_ = std::move(column);
  out.value_ = std::move(value);
  return out;
}

std::span<const std::int32_t> Features::columns_of(Index row) const {
  return {column_.data() + offset_[row], column_.data() + offset_[row + 1]};
}

std::span<const Real> Features::values_of(Index row) const {
  return {value_.data() + offset_[row], value_.data() + offset_[row + 1]};
}

Real Features::dot(Index row, const Real* w) const {
  if (!is_sparse()) return kernels::dot(dense_.row(row).data(), w, dense_.columns());
  const auto columns = columns_of(row);
  const auto values = values_of(row);
  // Partial sums, so that no addition waits for the one before it, and no fused multiply-add, which is a call where the
  // processor is not known to have it.
  double sum[4] = {};
  for (std::size_t e = 0; e < columns.size(); ++e) sum[e % 4] += values[e] * w[columns[e]];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

void Features::add_scaled(Real a, Index row, Real* out) const {
  if (!is_sparse()) {
    kernels::add_scaled(a, dense_.row(row).data(), out, out, dense_.columns());
    return;
  }
  const auto columns = columns_of(row);
  const auto values = values_of(row);
  for (std::size_t e = 0; e < columns.size(); ++e) out[columns[e]] += a * values[e];
}

Real Features::squared_norm(Index row) const {
  if (!is_sparse()) {
    const Real* h = dense_.row(row).data();
    return kernels::dot(h, h, dense_.columns());
  }
  double sum = 0;
  for (const Real x : values_of(row)) sum = std::fma(x, x, sum);
  return sum;
}

void Features::normalise_rows() {
  for (Index r = 0; r < rows(); ++r) {
    const std::span<Real> row = is_sparse() ? own_values(r) : dense_.row(r);
    if (const int exponent = extreme_exponent(row); exponent != 0) {
      for (Real& x : row) x = std::ldexp(x, -exponent);
    }
    const Real norm = std::sqrt(squared_norm(r));
    if (norm == 0) continue;
    const Real by = 1 / norm;
    for (Real& x : row) x *= by;
  }
}

std::span<Real> Features::own_values(Index row) {
  return {value_.data() + offset_[row], value_.data() + offset_[row + 1]};
}

void Features::transform_columns(std::span<const Real> shift, std::span<const Real> factor) {
  for (Index r = 0; r < rows(); ++r) {
    if (is_sparse()) {
      const auto columns = columns_of(r);
      const auto values = own_values(r);
      for (std::size_t e = 0; e < values.size(); ++e) values[e] *= factor[columns[e]];
    } else {
      const auto row = dense_.row(r);
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = (row[j] - shift[j]) * factor[j];
    }
  }
}

Features Features::with_ones() const {
  if (!is_sparse()) {
    Rows out(dense_.rows(), dense_.columns() + 1);
    for (Index r = 0; r < dense_.rows(); ++r) {
      std::ranges::copy(dense_.row(r), out.row(r).begin());
      out(r, dense_.columns()) = 1;
    }
    return out;
  }
  MeteredVector<Index> offset = {0};
  MeteredVector<std::int32_t> column;
  MeteredVector<Real> value;
  column.reserve(column_.size() + offset_.size());
  value.reserve(value_.size() + offset_.size());
  for (Index r = 0; r < rows(); ++r) {
    column.insert(column.end(), columns_of(r).begin(), columns_of(r).end());
    value.insert(value.end(), values_of(r).begin(), values_of(r).end());
    column.push_back(static_cast<std::int32_t>(columns_));
    value.push_back(1);
    offset.push_back(static_cast<Index>(column.size()));
  }
  return sparse(columns_ + 1, std::move(offset), std::move(column), std::move(value));
}

Features Features::select(std::span<const Index> rows) const {
  if (!is_sparse()) {
    Rows out(static_cast<Index>(rows.size()), dense_.columns());
    for (std::size_t n = 0; n < rows.size(); ++n) {
      std::ranges::copy(dense_.row(rows[n]), out.row(static_cast<Index>(n)).begin());
    }
    return out;
  }
  MeteredVector<Index> offset = {0};
  MeteredVector<std::int32_t> column;
  MeteredVector<Real> value;
  for (const Index row : rows) {
    column.insert(column.end(), columns_of(row).begin(), columns_of(row).end());
    value.insert(value.end(), values_of(row).begin(), values_of(row).end());
    offset.push_back(static_cast<Index>(column.size()));
  }
  return sparse(columns_, std::move(offset), std::move(column), std::move(value));
}

}  // namespace polyhop

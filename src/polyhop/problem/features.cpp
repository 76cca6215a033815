// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/features.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "polyhop/core/block.hpp"
#include "polyhop/core/kernels.hpp"

namespace polyhop {

int extreme_exponent(std::span<const double> x) {
  double largest = 0;
  for (const double number : x) largest = std::max(largest, std::abs(number));
  constexpr double high = 0x1p400;
  if (largest == 0 || !std::isfinite(largest) || (largest < high && largest > 1 / high)) return 0;
  return std::ilogb(largest);
}

Features Features::sparse(Index columns, MeteredVector<Index> offset, MeteredVector<std::int32_t> column,
                          MeteredVector<double> value) {
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

namespace {

// Partial sums, so that no addition waits for the previous one; and no fused multiply-add, which is a function call if
// the target processor is not known to have it.
template <class H, class W>
double sparse_dot(std::span<const std::int32_t> columns, std::span<const H> values, const W* w) {
  double sum[4] = {};
  for (std::size_t e = 0; e < columns.size(); ++e) {
    sum[e % 4] += static_cast<double>(values[e]) * static_cast<double>(w[columns[e]]);
  }
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

template <class T>
void sparse_add(double a, std::span<const std::int32_t> columns, std::span<const T> values, T* out) {
  const auto factor = static_cast<T>(a);
  for (std::size_t e = 0; e < columns.size(); ++e) out[columns[e]] += factor * values[e];
}

}  // namespace

double Features::dot(Index row, const double* w) const {
  if (is_sparse()) {
    return with_element(element(),
                        [&](auto zero) { return sparse_dot(columns_of(row), values_of<decltype(zero)>(row), w); });
  }
  if (element() == Element::float64) return kernels::dot(dense_.as<double>(row), w, dense_.columns());
  const float* h = dense_.as<float>(row);
  double sum = 0;
  for (Index j = 0; j < dense_.columns(); ++j) sum = std::fma(static_cast<double>(h[j]), w[j], sum);
  return sum;
}

double Features::dot(Index row, const float* w) const {
  if (is_sparse()) return sparse_dot(columns_of(row), values_of<float>(row), w);
  return kernels::dot(dense_.as<float>(row), w, dense_.columns());
}

void Features::add_scaled(double a, Index row, double* out) const {
  if (is_sparse()) return sparse_add(a, columns_of(row), values_of<double>(row), out);
  kernels::add_scaled(a, dense_.as<double>(row), out, out, dense_.columns());
}

void Features::add_scaled(double a, Index row, float* out) const {
  if (is_sparse()) return sparse_add(a, columns_of(row), values_of<float>(row), out);
  kernels::add_scaled(a, dense_.as<float>(row), out, out, dense_.columns());
}

double Features::squared_norm(Index row) const {
  if (!is_sparse()) {
    const double* h = dense_.row(row).data();
    return kernels::dot(h, h, dense_.columns());
  }
  double sum = 0;
  for (const double x : values_of(row)) sum = std::fma(x, x, sum);
  return sum;
}

Features Features::rounded() const {
  if (!is_sparse()) return converted(dense_, Element::float32);
  Features out;
  out.columns_ = columns_;
  out.offset_ = offset_;
  out.column_ = column_;
  out.sparse_element_ = Element::float32;
  out.single_.assign(value_.begin(), value_.end());
  return out;
}

Features Features::widened(Index first, Index last) const {
  if (!is_sparse()) {
    Rows out(last - first, dense_.columns());
    for (Index r = first; r < last; ++r) read_row(dense_, r, out.row(r - first));
    return out;
  }
  MeteredVector<Index> offset;
  for (Index r = first; r <= last; ++r) offset.push_back(offset_[r] - offset_[first]);
  MeteredVector<std::int32_t> column(column_.begin() + offset_[first], column_.begin() + offset_[last]);
  MeteredVector<double> value;
  with_element(element(), [&](auto zero) {
    const auto* from = values<decltype(zero)>();
    value.assign(from + offset_[first], from + offset_[last]);
  });
  return sparse(columns_, std::move(offset), std::move(column), std::move(value));
}

void Features::normalise_rows() {
  for (Index r = 0; r < rows(); ++r) {
    const std::span<double> row = is_sparse() ? own_values(r) : dense_.row(r);
    if (const int exponent = extreme_exponent(row); exponent != 0) {
      for (double& x : row) x = std::ldexp(x, -exponent);
    }
    const double norm = std::sqrt(squared_norm(r));
    if (norm == 0) continue;
    const double by = 1 / norm;
    for (double& x : row) x *= by;
  }
}

std::span<double> Features::own_values(Index row) {
  return {value_.data() + offset_[row], value_.data() + offset_[row + 1]};
}

void Features::transform_columns(std::span<const double> shift, std::span<const double> factor) {
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
  MeteredVector<double> value;
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
  MeteredVector<double> value;
  for (const Index row : rows) {
    column.insert(column.end(), columns_of(row).begin(), columns_of(row).end());
    value.insert(value.end(), values_of(row).begin(), values_of(row).end());
    offset.push_back(static_cast<Index>(column.size()));
  }
  return sparse(columns_, std::move(offset), std::move(column), std::move(value));
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/standardise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

namespace polyhop {
namespace {

// What is summed over samples, as a function of x - mean.
enum class Moment { itself, size, square };

double moment_of(double x, Moment moment) {
  return moment == Moment::itself ? x : moment == Moment::size ? std::abs(x) : x * x;
}

// sums row k = sum over agent k's samples of a moment of x / 2^exponent - mean, column by column. Entries missing from
// a sparse row are 0.
Rows own_sums(const Dataset& data, std::span<const double> mean, std::span<const int> exponent, Moment moment) {
  Rows sums(data.agents(), data.features.columns());
  for (Index k = 0; k < data.agents(); ++k) {
    const auto sum = sums.row(k);
    for (Index n = data.first(k); n < data.first(k + 1); ++n) {
      if (data.features.is_sparse()) {
        const auto columns = data.features.columns_of(n);
        const auto values = data.features.values_of(n);
        for (std::size_t e = 0; e < columns.size(); ++e) {
          const auto j = static_cast<std::size_t>(columns[e]);
          sum[j] += moment_of(exponent.empty() ? values[e] : std::ldexp(values[e], -exponent[j]), moment);
        }
      } else {
        const auto row = data.features.dense().row(n);
        for (std::size_t j = 0; j < row.size(); ++j) {
          sum[j] += moment_of((exponent.empty() ? row[j] : std::ldexp(row[j], -exponent[j])) - mean[j], moment);
        }
      }
    }
  }
  return sums;
}

// 1 if an agent has features whose squares overflow or vanish, otherwise 0.
double is_extreme(const Dataset& data, Index agent) {
  for (Index n = data.first(agent); n < data.first(agent + 1); ++n) {
    const Features& h = data.features;
    const std::span<const double> row = h.is_sparse() ? h.values_of(n) : h.dense().row(n);
    for (const double& x : row) {
      if (extreme_exponent({&x, 1}) != 0) return 1;
    }
  }
  return 0;
}

}  // namespace

Traffic of_all(const Traffic& own, Collective& collective) {
  std::array<double, 2> sums{};
  collective.in_order(sums, [&](std::span<double> shared) {
    shared[0] += static_cast<double>(own.vectors);
    shared[1] += static_cast<double>(own.scalars);
  });
  return {own.rounds, static_cast<Index>(sums[0]), static_cast<Index>(sums[1])};
}

ColumnMoments column_moments(const Dataset& data, bool centred, const CombinationMatrix& matrix,
                             const Ownership& ownership, Team& team) {
  const auto columns = static_cast<std::size_t>(data.features.columns());
  ColumnMoments out;
  out.mean.assign(columns, 0);
  out.spread.assign(columns, 0);
  team.launch(matrix, ownership, data.features.columns(), 1, [&](Worker& worker) {
    std::vector<double> count;
    std::vector<double> extremes;
    for (Index k = 0; k < data.agents(); ++k) {
      count.push_back(static_cast<double>(data.samples(k)));
      extremes.push_back(is_extreme(data, k));
    }
    worker.network.spread_sum({count, extremes});
    // If squares do not fit, columns are first divided by a power of two, which is exact.
    std::vector<int> exponent;
    if (extremes[0] > 0) {
      Rows sizes = own_sums(data, out.mean, {}, Moment::size);
      for (Index k = 0; k < sizes.rows(); ++k) {
        for (double& size : sizes.row(k)) size /= count[0];
      }
      worker.network.spread_sum(sizes);
      for (const double size : sizes.row(0)) exponent.push_back(size > 0 && std::isfinite(size) ? std::ilogb(size) : 0);
    }
    if (centred && !data.features.is_sparse()) {
      Rows sums = own_sums(data, out.mean, exponent, Moment::itself);
      worker.network.spread_sum(sums);
      for (std::size_t j = 0; j < columns; ++j) out.mean[j] = sums(0, static_cast<Index>(j)) / count[0];
    }
    Rows squares = own_sums(data, out.mean, exponent, Moment::square);
    worker.network.spread_sum(squares);
    for (std::size_t j = 0; j < columns; ++j) {
      const double spread = std::sqrt(squares(0, static_cast<Index>(j)) / count[0]);
      out.spread[j] = spread > 1e-12 * std::abs(out.mean[j]) ? spread : 0;
      if (exponent.empty()) continue;
      out.mean[j] = std::ldexp(out.mean[j], exponent[j]);
      out.spread[j] = std::ldexp(out.spread[j], exponent[j]);
    }
    out.traffic = of_all(worker.network.algorithm_traffic(), worker.collective);
  });
  return out;
}

double column_spread(const Dataset& data, bool intercept, Team& team) {
  const auto all = static_cast<std::size_t>(data.features.columns());
  const std::vector<double> zeros(all);
  std::vector<double> squares(all);
  const Rows own = own_sums(data, zeros, {}, Moment::square);
  team.collective().in_order(squares, [&](std::span<double> shared) {
    for (Index k = 0; k < own.rows(); ++k) {
      for (std::size_t j = 0; j < all; ++j) shared[j] += own(k, static_cast<Index>(j));
    }
  });
  if (intercept) squares.pop_back();
  std::erase(squares, 0.0);
  if (squares.empty()) return 1;
  const auto [least, most] = std::ranges::minmax(squares);
  const double ratio = std::sqrt(most / least);
  return std::isfinite(ratio) ? ratio : 1;
}

Standardised standardise(Dataset& data, const CombinationMatrix& matrix, const Ownership& ownership, Team& team) {
  ColumnMoments moments = column_moments(data, true, matrix, ownership, team);
  Standardised out{std::move(moments.mean), std::move(moments.spread), moments.traffic};
  std::vector<double> factor;
  for (std::size_t j = 0; j < out.scale.size(); ++j) {
    if (!(out.scale[j] > 0)) {
      out.constant.push_back(static_cast<Index>(j));
      out.scale[j] = 1;
    }
    factor.push_back(1 / out.scale[j]);
  }
  data.features.transform_columns(out.mean, factor);
  return out;
}

}  // namespace polyhop

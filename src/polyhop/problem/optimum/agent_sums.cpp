// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/agent_sums.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace polyhop::optimum {

double sum_of(Collective& collective, std::span<const double> values) {
  std::array<double, 1> total{};
  collective.by_agent(total, static_cast<Index>(values.size()),
                      [&](std::span<double> shared, Index k) { shared[0] += values[k]; });
  return total[0];
}

Vector sum_of(Collective& collective, const Rows& rows) {
  Vector total(rows.columns());
  for (Index first = 0; first < total.size(); first += at_once) {
    const Index count = std::min<Index>(at_once, total.size() - first);
    const std::span<double> part(total.data() + first, static_cast<std::size_t>(count));
    collective.by_agent(part, rows.rows(), [&](std::span<double> shared, Index k) {
      const double* own = rows.row(k).data() + first;
      for (std::size_t j = 0; j < shared.size(); ++j) shared[j] += own[j];
    });
  }
  return total;
}

}  // namespace polyhop::optimum

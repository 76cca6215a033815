// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "polyhop/core/index.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// x . y over exactly n numbers, for blocks inside a row that are not followed by zeros. kernels::dot takes the
/// complete lines; the rest is added after them, in order.
template <class T>
double block_dot(const T* x, const T* y, Index n) {
  constexpr Index line = Rows::line_of(element_of<T>);
  const Index whole = n / line * line;
  double sum = kernels::dot(x, y, whole);
  for (Index j = whole; j < n; ++j) sum = std::fma(static_cast<double>(x[j]), static_cast<double>(y[j]), sum);
  return sum;
}

}  // namespace polyhop

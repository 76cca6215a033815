// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace polyhop {

/// The middle of a non-empty list, or the mean of the two middle ones. Infinities count.
inline double median(std::vector<double> x) {
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::ranges::nth_element(x, middle);
  if (x.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(x.begin(), middle));
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/thinning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace polyhop {

std::vector<Index> thinned(Index count, Index most) {
  std::vector<Index> out;
  if (count <= most) {
    out.resize(std::max<Index>(count, 0));
    std::iota(out.begin(), out.end(), Index{0});
    return out;
  }
  const auto last = static_cast<double>(count - 1);
  const Index even = most / 2;
  for (Index n = 0; n < even; ++n) {
    const double share = even > 1 ? static_cast<double>(n) / static_cast<double>(even - 1) : 0;
    out.push_back(static_cast<Index>(std::lround(share * last)));
  }
  const Index geometric = most - even;
  for (Index n = 1; n <= geometric; ++n) {
    const double share = static_cast<double>(n) / static_cast<double>(geometric);
    out.push_back(static_cast<Index>(std::lround(std::pow(last, share))));
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace polyhop

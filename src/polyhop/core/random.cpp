// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/random.hpp"

#include <Random123/philox.h>

#include <cmath>

#include "polyhop/core/elementary.hpp"

namespace polyhop {

std::uint64_t Stream::bits() {
  if (left_ == 0) {
    const r123::Philox4x64::ctr_type counter = {{counter_[0], counter_[1], counter_[2], counter_[3]}};
    const r123::Philox4x64::key_type key = {{seed_, 0}};
    const auto block = r123::Philox4x64{}(counter, key);
    for (int i = 0; i < 4; ++i) buffer_[i] = block[i];
    ++counter_[0];
    left_ = 4;
  }
  return buffer_[4 - left_--];
}

double Stream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double x = 0;
  double y = 0;
  double s = 0;
  do {
    x = 2.0 * uniform() - 1.0;
    y = 2.0 * uniform() - 1.0;
    s = x * x + y * y;
  } while (s >= 1.0 || s == 0.0);
  const double factor = std::sqrt(-2.0 * elementary::log(s) / s);
  spare_ = y * factor;
  has_spare_ = true;
  return x * factor;
}

void Stream::normals(std::span<double> out, double scale) {
  for (auto& x : out) x = scale * normal();
}

}  // namespace polyhop

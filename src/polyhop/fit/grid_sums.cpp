// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/grid_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace polyhop {
namespace {

constexpr int raised = 16;  // bits added if numbers do not fit
constexpr int lowered = 2;  // bits dropped if all are smaller by that and one more

double largest(std::span<const double> x) {
  double out = 0;
  for (const double number : x)
    out = std::max(out, std::isnan(number) ? std::numeric_limits<double>::infinity() : std::abs(number));
  return out;
}

// Rounds x to a multiple of 2^(exponent + bits - 50), the last digit of the sums. |x| <= 2^exponent.
void snap(std::span<double> x, int exponent, int bits) {
  const double shift = std::ldexp(1.5, exponent + bits + 2);
  for (double& number : x) number = (number + shift) - shift;
}

}  // namespace

GridSums::GridSums(double slope, Index agents)
    : value_(2 * std::ilogb(slope) + 10), gradient_(std::ilogb(slope) + 6), values_(agents) {
  for (auto* list : {&unlike_, &large_, &small_values_, &small_gradients_}) *list = values_;
}

double GridSums::of(const Evaluation& evaluation, Rows& gradient, Network& network) {
  const auto agents = static_cast<double>(network.agents());
  const int bits = std::ilogb(agents) + 1;  // a sum of that many is at most that much longer
  while (true) {
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const auto row = gradient.row(static_cast<Index>(k));
      evaluation.gradients.write(static_cast<Index>(k), gradient, static_cast<Index>(k));
      values_[k] = evaluation.values[k];
      const double value_size = largest({&values_[k], 1});
      const double gradient_size = largest(row);
      const bool is_finite = std::isfinite(value_size) && std::isfinite(gradient_size);
      unlike_[k] = is_finite ? 0 : 1;
      large_[k] = is_finite && (value_size > std::ldexp(1, value_) || gradient_size > std::ldexp(1, gradient_)) ? 1 : 0;
      small_values_[k] = value_size < std::ldexp(1, value_ - lowered - 1) ? 1 : 0;
      small_gradients_[k] = gradient_size < std::ldexp(1, gradient_ - lowered - 1) ? 1 : 0;
      if (!is_finite || large_[k] != 0) {
        values_[k] = 0;
        std::ranges::fill(row, double{0});
      }
      snap({&values_[k], 1}, value_, bits);
      snap(row, gradient_, bits);
    }
    network.spread_sum(gradient, {values_, unlike_, large_, small_values_, small_gradients_});
    if (unlike_[0] > 0) return std::numeric_limits<double>::infinity();
    if (large_[0] == 0) break;
    value_ += raised;
    gradient_ += raised;
  }
  constexpr int least = -900;  // if all are 0 there is nothing to track
  if (small_values_[0] == agents) value_ = std::max(least, value_ - lowered);
  if (small_gradients_[0] == agents) gradient_ = std::max(least, gradient_ - lowered);
  return values_[0];
}

}  // namespace polyhop

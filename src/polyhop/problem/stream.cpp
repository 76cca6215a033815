// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/stream.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "polyhop/core/kernels.hpp"

namespace polyhop {

StreamObjective::StreamObjective(Index dimension, std::shared_ptr<const Loss> loss, Next next)
    : loss_(std::move(loss)), next_(std::move(next)), features_(1, dimension) {}

void StreamObjective::fetch(std::span<const Index> batch) const {
  if (std::ranges::equal(held_, batch)) return;
  const auto count = static_cast<Index>(batch.size());
  if (features_.rows() != count) features_ = Rows(count, features_.columns());
  targets_.resize(batch.size());
  for (std::size_t n = 0; n < batch.size(); ++n) targets_[n] = next_(batch[n], features_.row(static_cast<Index>(n)));
  held_.assign(batch.begin(), batch.end());
}

Real StreamObjective::predict(std::span<const Real> w, Index sample) const {
  Real sum = 0;
  const auto h = features_.row(sample);
  for (std::size_t j = 0; j < w.size(); ++j) sum += h[j] * w[j];
  return sum;
}

Real StreamObjective::value(std::span<const Real> w, std::span<const Index> batch) const {
  fetch(batch);
  Real sum = 0;
  for (std::size_t n = 0; n < batch.size(); ++n) {
    const Real z = predict(w, static_cast<Index>(n));
    Real value = 0;
    loss_->values({&z, 1}, {&targets_[n], 1}, {&value, 1});
    sum += value;
  }
  return sum / static_cast<Real>(batch.size());
}

Real StreamObjective::value_and_gradient(std::span<const Real> w, std::span<const Index> batch,
                                         std::span<Real> gradient) const {
  const Real value_here = value(w, batch);
  std::ranges::fill(gradient, Real{0});
  for (std::size_t n = 0; n < batch.size(); ++n) {
    const Real z = predict(w, static_cast<Index>(n));
    Real slope = 0;
    loss_->slopes({&z, 1}, {&targets_[n], 1}, {&slope, 1});
    const auto h = features_.row(static_cast<Index>(n));
    kernels::add_scaled(slope / static_cast<Real>(batch.size()), h.data(), gradient.data(), gradient.data(),
                        static_cast<Index>(gradient.size()));
  }
  return value_here;
}

}  // namespace polyhop

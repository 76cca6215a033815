// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "polyhop/problem/objective.hpp"

namespace polyhop::test {

/// Vectorised costs that write down how they are called.
class CountedCosts final : public Costs {
 public:
  struct Call {
    const double* points = nullptr;
    std::vector<Index> owners;
    bool with_gradients = false;
  };

  explicit CountedCosts(std::vector<std::shared_ptr<const Objective>> objectives) : all_(std::move(objectives)) {}
  [[nodiscard]] Index agents() const override { return static_cast<Index>(all_.size()); }
  [[nodiscard]] Index dimension() const override { return all_.front()->dimension(); }
  [[nodiscard]] Index samples(Index agent) const override { return all_[agent]->samples(); }
  void evaluate(const Rows& points, std::span<const Index> owners, std::span<const std::span<const Index>> batches,
                std::span<double> values, Rows* gradients) const override {
    for (std::size_t n = 0; n < owners.size(); ++n) {
      const Objective& own = *all_[owners[n]];
      const auto row = static_cast<Index>(n);
      values[n] = own.value(points.row(row), batches[n]);
      if (gradients != nullptr) own.value_and_gradient(points.row(row), batches[n], gradients->row(row));
    }
    if (!is_counting) return;
    const std::lock_guard<std::mutex> guard(mutex_);
    calls_.push_back({points.data(), {owners.begin(), owners.end()}, gradients != nullptr});
  }

  /// The calls since somebody asked.
  [[nodiscard]] std::vector<Call> calls() const {
    const std::lock_guard<std::mutex> guard(mutex_);
    return std::exchange(calls_, {});
  }

  bool is_counting = true;  // counting allocates

 private:
  std::vector<std::shared_ptr<const Objective>> all_;
  mutable std::mutex mutex_;
  mutable std::vector<Call> calls_;
};

}  // namespace polyhop::test

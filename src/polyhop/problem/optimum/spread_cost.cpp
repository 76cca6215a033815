// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/spread_cost.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "polyhop/core/rows.hpp"
#include "polyhop/problem/optimum/agent_sums.hpp"
#include "polyhop/problem/optimum/pooled_cost.hpp"

namespace polyhop::optimum {
namespace {

class SpreadCost final : public Cost {
 public:
  SpreadCost(const DataProblem& problem, Collective& collective, const Block& here, double features)
      : Cost(penalty_of(problem), problem.l2() == 0),
        collective_(collective),
        agents_(static_cast<double>(problem.agents())),
        features_(features),
        blocks_(static_cast<double>(problem.predictions())),
        rows_(here.size(), problem.dimension()) {
    for (Index k = 0; k < here.size(); ++k) parts_.push_back(pooled(problem, k, k + 1, {}));
  }

  [[nodiscard]] double evaluate(const Vector& w, Vector* gradient) const override {
    std::vector<double> values;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      Vector own;
      values.push_back(parts_[k]->evaluate(w, gradient == nullptr ? nullptr : &own));
      if (gradient != nullptr) std::ranges::copy(own, rows_.row(static_cast<Index>(k)).begin());
    }
    if (gradient != nullptr) *gradient = sum(w);
    return sum_of(collective_, values) + half_penalty(w);
  }
  void fix_curvature(const Vector& w) override {
    for (const auto& part : parts_) part->fix_curvature(w);
  }
  [[nodiscard]] Vector curvature_times(const Vector& v) const override {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      std::ranges::copy(parts_[k]->curvature_times(v), rows_.row(static_cast<Index>(k)).begin());
    }
    return sum(v);
  }
  // It passes between processes in one piece, agent by agent.
  [[nodiscard]] bool has_small_hessian() const override {
    constexpr double max_work = 4e9;
    const auto size = static_cast<double>(penalty.size()) * static_cast<double>(penalty.size());
    return blocks_ == 1 && size <= static_cast<double>(at_once) && size * agents_ <= max_work &&
           features_ * static_cast<double>(penalty.size()) <= 10 * max_work;
  }
  [[nodiscard]] Matrix hessian() const override {
    Matrix total = Matrix::Zero(penalty.size(), penalty.size());
    const std::span<double> numbers(total.data(), static_cast<std::size_t>(total.size()));
    collective_.by_agent(numbers, rows_.rows(), [&](std::span<double> shared, Index k) {
      Eigen::Map<Matrix>(shared.data(), total.rows(), total.cols()) += parts_[k]->hessian();
    });
    total.diagonal() += penalty;
    return total;
  }
  [[nodiscard]] bool falls_along(const Vector& w) const override {
    std::array<double, 1> others{};
    collective_.in_order(others, [&](std::span<double> shared) {
      if (shared[0] == 0 && !std::ranges::all_of(parts_, [&](const auto& part) { return part->falls_along(w); })) {
        shared[0] = 1;
      }
    });
    return others[0] == 0;
  }
  [[nodiscard]] bool is_positive() const override { return parts_.front()->is_positive(); }
  [[nodiscard]] bool is_smooth() const override { return parts_.front()->is_smooth(); }
  [[nodiscard]] double work() const override { return 2 * features_ * blocks_; }
  [[nodiscard]] Vector squares() const override {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      std::ranges::copy(parts_[k]->squares(), rows_.row(static_cast<Index>(k)).begin());
    }
    return sum_of(collective_, rows_);
  }

 private:
  // The sum of all agents' rows, plus the penalty's part at w.
  [[nodiscard]] Vector sum(const Vector& w) const {
    Vector total = sum_of(collective_, rows_);
    add_penalty(w, total);
    return total;
  }

  Collective& collective_;
  double agents_;
  double features_;  // of all samples
  double blocks_;
  std::vector<std::unique_ptr<Pooled>> parts_;
  mutable Rows rows_;  // each local agent's contribution to a sum
};

}  // namespace

std::unique_ptr<Cost> spread_cost(const DataProblem& problem, Collective& collective, const Block& here,
                                  double features) {
  return std::make_unique<SpreadCost>(problem, collective, here, features);
}

}  // namespace polyhop::optimum

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/problem/data_problem.hpp"
#include "polyhop/problem/objective.hpp"
#include "support/losses.hpp"

namespace polyhop::test {

/// The costs of a problem with dense features as a user would write them: values and gradients of batches.
class OwnCosts final : public Costs {
 public:
  OwnCosts(std::shared_ptr<const DataProblem> problem, const std::string& loss, double l2)
      : problem_(std::move(problem)), loss_(make_loss(loss)), l2_(l2) {}
  [[nodiscard]] Index agents() const override { return problem_->agents(); }
  [[nodiscard]] Index dimension() const override { return problem_->dimension(); }
  [[nodiscard]] Index samples(Index agent) const override { return problem_->data().samples(agent); }
  void evaluate(const Rows& points, std::span<const Index> owners, std::span<const std::span<const Index>> batches,
                std::span<double> values, Rows* gradients) const override {
    const Dataset& data = problem_->data();
    const Rows& features = data.features.dense();
    for (std::size_t n = 0; n < owners.size(); ++n) {
      const auto row = static_cast<Index>(n);
      values[n] = l2_ / 2 * dot(points, row, points, row);
      if (gradients != nullptr) {
        clear_row(*gradients, row);
        add_row(l2_, points, row, *gradients, row);
      }
      const double share = 1 / static_cast<double>(batches[n].size());
      for (const Index sample : batches[n]) {
        const Index place = data.first(owners[n]) + sample;
        const double z = dot(points, row, features, place);
        const double y = data.targets[place];
        double value = 0;
        double slope = 0;
        loss_->values({&z, 1}, {&y, 1}, {&value, 1});
        loss_->slopes({&z, 1}, {&y, 1}, {&slope, 1});
        values[n] += share * value;
        if (gradients != nullptr) add_row(share * slope, features, place, *gradients, row);
      }
    }
  }

 private:
  std::shared_ptr<const DataProblem> problem_;
  std::shared_ptr<const Loss> loss_;
  double l2_;
};

}  // namespace polyhop::test

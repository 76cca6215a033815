// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "polyhop/core/rows.hpp"
#include "polyhop/problem/objective.hpp"

namespace polyhop::test {

/// least + (1/2) sum_j h_j (w_j - c_j)^2, whose smoothness nobody knows.
class Bowl final : public Objective {
 public:
  Bowl(std::vector<double> curvature, std::vector<double> centre, double least = 0)
      : h_(std::move(curvature)), c_(std::move(centre)), least_(least) {}
  [[nodiscard]] Index dimension() const override { return static_cast<Index>(h_.size()); }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index>) const override {
    double sum = least_;
    for (std::size_t j = 0; j < h_.size(); ++j) sum += h_[j] * (w[j] - c_[j]) * (w[j] - c_[j]) / 2;
    return sum;
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    for (std::size_t j = 0; j < h_.size(); ++j) gradient[j] = h_[j] * (w[j] - c_[j]);
    return value(w, batch);
  }

 private:
  std::vector<double> h_, c_;
  double least_;
};

inline std::vector<std::shared_ptr<const Objective>> as_objectives(const std::vector<Bowl>& all) {
  std::vector<std::shared_ptr<const Objective>> objectives;
  for (const Bowl& bowl : all) objectives.push_back(std::make_shared<Bowl>(bowl));
  return objectives;
}

inline ObjectiveProblem bowls(const std::vector<Bowl>& all) { return ObjectiveProblem(as_objectives(all)); }

/// The largest difference of a coordinate of any row to that of the point.
inline double largest_distance(const Rows& w, const std::vector<double>& to) {
  double largest = 0;
  for (Index k = 0; k < w.rows(); ++k) {
    for (Index j = 0; j < w.columns(); ++j) {
      largest = std::max(largest, std::abs(w(k, j) - to[j]));
    }
  }
  return largest;
}

}  // namespace polyhop::test

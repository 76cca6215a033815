// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/objective.hpp"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "polyhop/core/error.hpp"
#include "polyhop/core/kernels.hpp"

namespace polyhop {
namespace {

std::vector<Index> all_samples(const Objective& objective) {
  std::vector<Index> all(static_cast<std::size_t>(objective.samples()));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

using Objectives = std::vector<std::shared_ptr<const Objective>>;

class ObjectiveOracle final : public Oracle {
 public:
  ObjectiveOracle(Objectives objectives, Sampler sampler, Index dimension)
      : objectives_(std::move(objectives)), sampler_(std::move(sampler)), trial_(1, dimension) {}

  void draw(Index i) override { sampler_.draw(i); }
  [[nodiscard]] bool is_exact() const override { return sampler_.takes_all(); }
  [[nodiscard]] Index epoch() const override { return sampler_.epoch(); }

  void values_at_point(const Rows& w, std::span<Real> out) override {
    for (std::size_t k = 0; k < objectives_.size(); ++k) {
      out[k] = objectives_[k]->value(w.row(0), sampler_.indices(static_cast<Index>(k)));
    }
  }

 private:
  void do_evaluate(const Rows& w, bool, Evaluation& out) override {
    if (out.gradients.row.empty()) prepare(out);
    for (std::size_t k = 0; k < objectives_.size(); ++k) {
      const auto agent = static_cast<Index>(k);
      out.values[k] = objectives_[k]->value_and_gradient(w.row(agent), sampler_.indices(agent), out.written.row(agent));
    }
  }

  void prepare(Evaluation& out) const {
    const auto agents = static_cast<Index>(objectives_.size());
    out.values.resize(objectives_.size());
    out.written = Rows(agents, trial_.columns());
    out.gradients.columns = trial_.columns();
    out.gradients.scale.assign(objectives_.size(), 1.0);
    for (Index k = 0; k < agents; ++k) out.gradients.row.push_back(out.written.row(k).data());
  }

  void do_values_at(const Reach& reach, std::span<Real> out) override {
    for (Index k = 0; k < reach.agents; ++k) {
      for (Index e = reach.pattern.offset[k]; e < reach.pattern.offset[k + 1]; ++e) {
        const std::span<const Real> point(reach.row(e), static_cast<std::size_t>(reach.columns));
        out[static_cast<std::size_t>(e)] = objectives_[static_cast<std::size_t>(k)]->value(point, sampler_.indices(k));
      }
    }
  }

  void do_values_along(const Rows& w, const Gradients& g, std::span<const Index> agents, std::span<const Real> steps,
                       std::span<Real> out) override {
    for (const Index k : agents) {
      const auto slot = static_cast<std::size_t>(k);
      kernels::add_scaled(-steps[slot] * g.scale[slot], g.row[slot], w.row(k).data(), trial_.data(), g.columns);
      out[slot] = objectives_[slot]->value(trial_.row(0), sampler_.indices(k));
    }
  }

  Objectives objectives_;
  Sampler sampler_;
  Rows trial_;  // one row: a point on its way to being evaluated
};

}  // namespace

GradientCheck check_gradient(const Objective& objective, std::span<const Real> w) {
  const std::vector<Index> batch = all_samples(objective);
  std::vector<Real> point(w.begin(), w.end());
  std::vector<Real> gradient(w.size());
  objective.value_and_gradient(point, batch, gradient);
  GradientCheck check;
  for (std::size_t j = 0; j < point.size(); ++j) {
    // The cube root of the rounding unit balances truncation against cancellation.
    const Real h = 6e-6 * std::max(1.0, std::abs(w[j]));
    point[j] = w[j] + h;
    const Real up = objective.value(point, batch);
    point[j] = w[j] - h;
    const Real down = objective.value(point, batch);
    point[j] = w[j];
    const Real expected = (up - down) / (2 * h);
    const Real error = std::abs(gradient[j] - expected) / std::max(1.0, std::abs(gradient[j]));
    // A NaN must not hide behind a comparison.
    if (!(error <= check.worst_error)) {
      check = {std::isnan(error) ? HUGE_VAL : error, static_cast<Index>(j), gradient[j], expected};
    }
  }
  return check;
}

ObjectiveProblem::ObjectiveProblem(Objectives objectives, Batch batch, Sampling sampling)
    : objectives_(std::move(objectives)), batch_(batch), sampling_(sampling) {
  const auto first = std::ranges::find_if(objectives_, [](const auto& own) { return own != nullptr; });
  if (first == objectives_.end()) throw InputError("objectives", "found none, expected at least one agent");
  dimension_ = (*first)->dimension();
  for (std::size_t k = 0; k < objectives_.size(); ++k) {
    if (objectives_[k] == nullptr) continue;
    if (objectives_[k]->dimension() != dimension()) {
      throw InputError("objectives", "agent " + std::to_string(k) + " has dimension " +
                                         std::to_string(objectives_[k]->dimension()) + ", agent " +
                                         std::to_string(first - objectives_.begin()) + " has " +
                                         std::to_string(dimension()));
    }
    if (objectives_[k]->samples() < 1) throw InputError("objectives", "agent " + std::to_string(k) + " has no samples");
  }
}

std::unique_ptr<Oracle> ObjectiveProblem::oracle(Block block, std::uint64_t seed) const {
  Objectives own;
  std::vector<Index> samples;
  for (Index k = 0; k < block.size(); ++k) {
    own.push_back(objectives_[static_cast<std::size_t>(block.agent(k))]);
    samples.push_back(own.back()->samples());
  }
  return std::make_unique<ObjectiveOracle>(std::move(own), Sampler(block, samples, batch_, sampling_, seed),
                                           dimension());
}

void ObjectiveProblem::costs(Block block, const Rows& points, Rows& out) const {
  for (Index k = 0; k < block.size(); ++k) {
    const Objective& objective = *objectives_[static_cast<std::size_t>(block.agent(k))];
    const std::vector<Index> batch = all_samples(objective);
    for (Index p = 0; p < points.rows(); ++p) out(k, p) = objective.value(points.row(p), batch);
  }
}

}  // namespace polyhop

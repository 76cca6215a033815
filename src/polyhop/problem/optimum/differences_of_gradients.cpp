// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/differences_of_gradients.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/problem/optimum/agent_sums.hpp"
#include "polyhop/problem/optimum/conjugate_gradients.hpp"
#include "polyhop/problem/optimum/cost.hpp"
#include "polyhop/problem/optimum/descent.hpp"

namespace polyhop::optimum {
namespace {

// The mean of the agents' costs, in any unit, known only by values and gradients.
class Mean final : public Cost {
 public:
  Mean(const Costs& costs, Collective& collective, const Block& here, double samples)
      : Cost(Vector::Zero(costs.dimension()), true),
        costs_(costs),
        collective_(collective),
        samples_(samples),
        owners_(agents_of(here)),
        batches_(costs, owners_),
        values_(owners_.size()),
        points_(here.size(), costs.dimension()),
        gradients_(here.size(), costs.dimension()) {}

  // What counts as 1.
  void set_unit(double unit) { unit_ = unit; }

  [[nodiscard]] double evaluate(const Vector& w, Vector* gradient) const override {
    for (Index k = 0; k < points_.rows(); ++k) std::ranges::copy(w, points_.row(k).begin());
    costs_.evaluate(points_, owners_, batches_.batches(), values_, gradient == nullptr ? nullptr : &gradients_);
    const double divisor = unit_ * static_cast<double>(costs_.agents());
    if (gradient != nullptr) *gradient = sum_of(collective_, gradients_) / divisor;
    return sum_of(collective_, values_) / divisor;
  }
  void fix_curvature(const Vector& w) override { at_ = w; }
  // Central differences; the cube root of the rounding unit balances truncation against cancellation.
  [[nodiscard]] Vector curvature_times(const Vector& v) const override {
    const double length = v.norm();
    if (length == 0) return v;
    const double h = 6e-6 * std::max(1.0, at_.norm()) / length;
    return (gradient(at_ + h * v) - gradient(at_ - h * v)) / (2 * h);
  }
  [[nodiscard]] bool has_small_hessian() const override { return false; }
  [[nodiscard]] Matrix hessian() const override { return {}; }
  [[nodiscard]] bool falls_along(const Vector&) const override { return false; }
  [[nodiscard]] bool is_positive() const override { return false; }
  [[nodiscard]] bool is_smooth() const override { return false; }
  // As for linear models, for lack of anything better.
  [[nodiscard]] double work() const override { return 2 * samples_ * static_cast<double>(penalty.size()); }

 private:
  const Costs& costs_;
  Collective& collective_;
  double samples_;  // of all agents
  double unit_ = 1;
  std::vector<Index> owners_;
  AllSamples batches_;
  mutable std::vector<double> values_;
  mutable Rows points_;  // w for every agent here
  mutable Rows gradients_;
  Vector at_;  // where curvatures are taken
};

// The end of a descent.
struct Ending {
  Vector w;
  double value = 0;
  double drop = 0;       // how far it went down, or how large the value is, whichever is larger
  double gain = 0;       // what another Newton step promises; NaN if J does not curve upwards along it
  bool is_rest = false;  // true: both that and the gradient are negligible
};

Ending descend(Mean& cost, const Vector& start, double unit) {
  cost.set_unit(unit);
  const Reference found = by_descent(cost, start);
  cost.set_unit(1);
  Ending out;
  out.w = Eigen::Map<const Vector>(found.minimiser->data(), start.size());
  out.value = cost.value(out.w);
  const Vector g = cost.gradient(out.w);
  cost.fix_curvature(out.w);
  Vector d;
  const int most = std::min(affordable_gradients(cost) / 8, 20 + 2 * static_cast<int>(start.size()));
  const auto gains = conjugate_gradients(cost, -g, 1e-3, most, d);
  out.gain = g.norm() > 0 && gains.empty() ? std::nan("") : 0.5 * std::abs(g.dot(d));
  // If a descent starts at the minimum, up to rounding, the gradient cannot get smaller, and the value decides.
  const bool is_flat = g.norm() <= 1e-5 * unit || out.gain <= 1e-12 * std::abs(out.value);
  out.drop = std::max(cost.value(start) - out.value, std::abs(out.value));
  out.is_rest = std::isfinite(out.value) && is_flat && out.gain <= 1e-6 * out.drop;
  return out;
}

// True when the second descent shows that the first one did not end in the minimum of a convex cost.
bool differ(const Ending& first, const Ending& second) {
  // If nothing is promised, fmax takes the other number.
  const double tolerance = 10 * (first.gain + std::fmax(second.gain, 0.0)) + 1e-6 * first.drop;
  return second.value < first.value - tolerance || (second.is_rest && second.value > first.value + tolerance);
}

}  // namespace

Reference by_differences(const Costs& costs, Collective& collective, const Block& here) {
  std::array<double, 2> samples{};  // of all agents; of the agent that has the most
  collective.by_agent(samples, here.size(), [&](std::span<double> shared, Index k) {
    const auto own = static_cast<double>(costs.samples(here.agent(k)));
    shared[0] += own;
    shared[1] = std::max(shared[1], own);
  });
  if (samples[1] >= static_cast<double>(endless_samples)) {
    return unknown_reference("there are infinitely many samples, so no cost is a mean over all of them");
  }
  Mean cost(costs, collective, here, samples[0]);
  const Vector zero = Vector::Zero(costs.dimension());
  const Vector slope = cost.gradient(zero);
  if (!std::isfinite(cost.value(zero)) || !slope.allFinite()) {
    return unknown_reference("the cost at 0, where the search for a minimum starts, is not finite");
  }
  // In units of the first slope, smallness does not depend on the scale of the costs.
  const double unit = slope.norm() > 0 ? slope.norm() : 1;
  const Ending found = descend(cost, zero, unit);
  if (!found.is_rest) return unknown_reference("the search for a minimum did not converge, or there is none");
  Vector elsewhere(zero.size());
  Stream(0, Purpose::start).normals({elsewhere.data(), static_cast<std::size_t>(elsewhere.size())});
  if (std::isfinite(cost.value(elsewhere)) && differ(found, descend(cost, elsewhere, unit))) {
    return unknown_reference("two starting points lead to different costs, so the problem is not convex");
  }
  Reference reference;
  reference.minimiser.emplace(found.w.begin(), found.w.end());
  reference.value = found.value;
  // Twice the gain bounds the error where J is self-concordant, and on exponential tails.
  reference.accuracy = 2 * found.gain + 1e-15 * std::abs(found.value);
  reference.how = "L-BFGS, then Newton's method on differences of gradients";
  return reference;
}

}  // namespace polyhop::optimum

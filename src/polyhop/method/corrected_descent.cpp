// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/corrected_descent.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/method/line_search.hpp"

namespace polyhop {
namespace {

// For how many iterations the curvature met may fall, and by how much in each.
constexpr Index settles = 100;
constexpr double fall = 0.97;
// A curvature that exceeds the trial's own by more than this factor belongs to a different place.
constexpr double far_off = 16;

}  // namespace

CurvatureWatch::CurvatureWatch(Index agents, double longest) : longest_(longest) {
  for (auto* scalars : {&largest_, &measured_, &trial_, &values_}) scalars->resize(agents);
}

void CurvatureWatch::limit(double share, std::span<double> mu) const {
  for (std::size_t k = 0; k < mu.size(); ++k) mu[k] = std::min(mu[k], longest_ * share / largest_[k]);
}

void CurvatureWatch::register_state(StateRegistry& state, const std::string& owner) {
  state.number(owner + ".age", age_);
  state.scalars(owner + ".along_gradients", largest_);
}

// 2 (J(w - a g) - J(w) + a ||g||^2) / (a^2 ||g||^2); infinity where the trial is not finite.
double CurvatureWatch::curvature(std::size_t k, const Iterate& at) const {
  const double a = trial_[k];
  const double g2 = at.gradients().squared_norm(static_cast<Index>(k));
  const double value = at.own_values()[k];
  if (!std::isfinite(g2) || !std::isfinite(value) || !may_grow(a, g2, value)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double found = 2 * (values_[k] - value + a * g2) / (a * a * g2);
  return std::isfinite(found) ? found : std::numeric_limits<double>::infinity();
}

// At a = longest/L_k, raising L_k until the trial is not far off.
void CurvatureWatch::measure(const Iterate& at) {
  agents_.resize(largest_.size());
  std::iota(agents_.begin(), agents_.end(), Index{0});
  for (std::size_t k = 0; k < trial_.size(); ++k) trial_[k] = largest_[k] > 0 ? longest_ / largest_[k] : 1;
  for (int n = 0; n < max_shrinks && !agents_.empty(); ++n) {
    at.oracle().values_along(at.w(), at.gradients(), agents_, trial_, values_);
    std::erase_if(agents_, [&](Index agent) {
      measured_[agent] = curvature(agent, at);
      if (!(measured_[agent] * trial_[agent] > far_off * longest_)) return true;
      trial_[agent] /= far_off;
      largest_[agent] = longest_ / trial_[agent];
      return false;
    });
  }
  for (const Index k : agents_) measured_[k] = std::numeric_limits<double>::quiet_NaN();
}

void CurvatureWatch::begin(const Iterate& at) {
  if (at.oracle().smoothness(largest_)) return;
  // For a quadratic the first measurement is exact; for other costs the next ones come close, unless 1 was far too
  // small.
  std::ranges::fill(largest_, 1.0);
  std::vector<double> least(largest_.size());
  for (int n = 0; n < 3; ++n) {
    const std::vector<double> before = largest_;
    measure(at);
    for (std::size_t k = 0; k < largest_.size(); ++k) {
      if (largest_[k] > before[k]) least[k] = largest_[k];
      if (measured_[k] > 0) largest_[k] = std::max(least[k], measured_[k]);
    }
  }
}

void CurvatureWatch::update(const Iterate& at) {
  if (age_ == 0) begin(at);
  measure(at);
  const bool may_fall = longest_ <= 1 && age_ < settles;
  for (std::size_t k = 0; k < largest_.size(); ++k) {
    if (std::isnan(measured_[k])) continue;
    largest_[k] = std::max((may_fall ? fall : 1) * largest_[k], measured_[k]);
  }
  ++age_;
}

CorrectedDescent::CorrectedDescent(const Rows& zeros, std::vector<double> reach)
    : correction_(zeros, 0.5),
      reach_(std::move(reach)),
      along_gradients_(zeros.rows()),
      differences_(zeros),
      along_moves_(zeros.rows()) {}

void CorrectedDescent::register_state(StateRegistry& state) {
  correction_.register_state(state);
  along_gradients_.register_state(state, "descent");
  differences_.register_state(state, "descent");
  state.number("descent.secants", age_);
  state.scalars("descent.along_moves", along_moves_);
}

void CorrectedDescent::watch_secants(const Iterate& at) {
  if (!at.oracle().is_exact()) return;
  const Index n = age_++;
  if (!differences_.update(at.as_iteration(n))) return;
  for (std::size_t k = 0; k < along_moves_.size(); ++k) {
    // Not where rounding decides the difference of the gradients.
    const double lost = 1e-16 * at.gradients().squared_norm(static_cast<Index>(k));
    if (!(differences_.ss()[k] > 0 && differences_.zz()[k] > lost)) continue;
    const double secant = std::sqrt(differences_.zz()[k] / differences_.ss()[k]);
    along_moves_[k] = std::max((n < settles ? fall : 1) * along_moves_[k], secant);
  }
}

void CorrectedDescent::move(Rows& w, const Iterate& at, double share, std::span<double> mu, Network& network) {
  along_gradients_.update(at);
  watch_secants(at);
  for (std::size_t k = 0; k < mu.size(); ++k) {
    const double largest = std::max(along_gradients_.largest()[k], along_moves_[k]);
    mu[k] = largest > 0 ? share / largest : share;
    if (reach_.empty()) continue;
    const double length = std::sqrt(correction_.last_direction().squared_norm(static_cast<Index>(k)));
    if (mu[k] * length > reach_[k]) mu[k] = reach_[k] / length;
  }
  correction_.apply(w, mu, false, network);
}

}  // namespace polyhop

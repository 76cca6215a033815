// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/step_cap.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "polyhop/core/block.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/method/line_search.hpp"

namespace polyhop {

Cap Codec<Cap>::read(const Value& v) {
  if (const auto* text = v.as<std::string>()) {
    if (*text == "none") return {};
    if (*text == "distance") return {Cap::Kind::distance, 1};
    if (*text == "curvature") return {Cap::Kind::curvature, 0};
    // "0.5/sqrt(i+1)" or "2*distance"
    double factor = 0;
    const char* end = text->data() + text->size();
    const auto number = std::from_chars(text->data(), end, factor);
    if (number.ec == std::errc{} && factor > 0 && std::isfinite(factor)) {
      const std::string_view rest(number.ptr, end);
      if (rest == "/sqrt(i+1)") return {Cap::Kind::decaying, factor};
      if (rest == "*distance") return {Cap::Kind::distance, factor};
    }
  } else if (v.as<double>() != nullptr || v.as<std::int64_t>() != nullptr) {
    const double x = Codec<double>::read(v);
    if (x > 0 && std::isfinite(x)) return {Cap::Kind::constant, x};
  }
  throw_mismatch(v, in_words(type()));
}

Value Codec<Cap>::write(const Cap& cap) {
  switch (cap.kind) {
    case Cap::Kind::none:
      return "none";
    case Cap::Kind::constant:
      return cap.value;
    case Cap::Kind::decaying:
      return shortest(cap.value) + "/sqrt(i+1)";
    case Cap::Kind::distance:
      return cap.value == 1 ? "distance" : shortest(cap.value) + "*distance";
    case Cap::Kind::curvature:
      return "curvature";
  }
  return {};
}

StepCap::StepCap(const Cap& cap, Sums sums, const Rows& zeros) : cap_(cap), sums_(sums) {
  if (cap.kind == Cap::Kind::distance) {
    sum_.resize(zeros.rows());
    radius_.resize(zeros.rows());
    start_ = zeros;
  }
  if (cap.kind == Cap::Kind::curvature) {
    differences_.emplace(zeros);
    allowed_.assign(zeros.rows(), 1e-2);
  }
}

void StepCap::register_state(StateRegistry& state) {
  if (cap_.kind == Cap::Kind::distance) {
    state.scalars("gap.sum", sum_);
    state.scalars("gap.radius", radius_);
    state.rows("gap.start", start_);
  }
  if (cap_.kind == Cap::Kind::curvature) {
    differences_->register_state(state, "gap");
    state.scalars("gap.cap", allowed_);
  }
}

void StepCap::limit(const Iterate& at, std::span<const double> energy, Network& network, std::span<double> mu) {
  switch (cap_.kind) {
    case Cap::Kind::none:
      return;
    case Cap::Kind::constant:
      for (double& m : mu) m = std::min(m, cap_.value);
      return;
    case Cap::Kind::decaying:
      for (double& m : mu) m = std::min(m, cap_.value / std::sqrt(static_cast<double>(at.i() + 1)));
      return;
    case Cap::Kind::distance:
      limit_by_distance(at, energy, network, mu);
      return;
    case Cap::Kind::curvature:
      limit_by_curvature(at, network, mu);
  }
}

// Distance over gradients (after DoG, Ivgi et al. 2023), graph-aware: cap_k = r_k / sqrt(S_k), where S_k sums the
// gradient energy g_k.(B G)_k that survives the averaging, and r_k is the farthest that anyone nearby has moved.
void StepCap::limit_by_distance(const Iterate& at, std::span<const double> energy, Network& network,
                                std::span<double> mu) {
  constexpr Index first_limited = 50;
  if (at.i() == 0) copy(at.w(), start_);
  for (std::size_t k = 0; k < mu.size(); ++k) {
    sum_[k] += std::max(energy[k], 0.0);
    const auto agent = static_cast<Index>(k);
    radius_[k] = std::max(radius_[k], std::sqrt(squared_distance(at.w(), agent, start_, agent)));
  }
  if (sums_ == Sums::mixed) {
    const Heard heard = network.hear({sum_, radius_});
    heard.combine(0, sum_);
    heard.max(1, radius_);
  } else {
    network.hear({radius_}).max(0, radius_);
  }
  if (at.i() < first_limited) return;
  for (std::size_t k = 0; k < mu.size(); ++k) {
    if (sum_[k] > 0) mu[k] = std::min(mu[k], cap_.value * radius_[k] / std::sqrt(sum_[k]));
  }
}

// What an agent's own curvature between two points allows, growing by at most half per iteration; then the smallest
// value in the network. With a purely local cap gradient tracking stalls on rings with unlike scales.
void StepCap::limit_by_curvature(const Iterate& at, Network& network, std::span<double> mu) {
  constexpr double most = 1e100;  // for when nobody moves and nothing limits the step
  if (differences_->update(at)) {
    for (std::size_t k = 0; k < mu.size(); ++k) {
      allowed_[k] = std::min(1.5 * allowed_[k], most);
      const double moved = differences_->ss()[k];
      const double turned = differences_->zz()[k];
      if (moved > 0 && turned > 0) allowed_[k] = std::min(allowed_[k], 0.5 * std::sqrt(moved / turned));
    }
  }
  spread_min(allowed_, network);
  for (std::size_t k = 0; k < mu.size(); ++k) mu[k] = std::min(mu[k], allowed_[k]);
}

}  // namespace polyhop

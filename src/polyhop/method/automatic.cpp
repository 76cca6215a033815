// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/automatic.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "polyhop/core/block.hpp"

namespace polyhop {
namespace {

// A window whose late half is above this share of its early half: no progress. Below the other: certain progress.
constexpr double stalled = 0.8;
constexpr double falls = 0.7;

GapOptions graph_aware_options() {
  GapOptions options;
  options.bound = Bound::tight;
  options.damping = Damping::rows;
  options.project = true;
  options.sweeps.count = 5;
  options.relaxation = 1.7;
  options.cap = {Cap::Kind::distance, 1};
  return options;
}

Setting on_diffusion(const Setting& setting) {
  Setting out = setting;
  out.recursion = {};
  return out;
}

}  // namespace

ProgressWatch::ProgressWatch(Index agents_of_block, Index agents)
    : agents_(agents), early_(agents_of_block), late_(agents_of_block) {
  restart();
}

void ProgressWatch::restart() {
  constexpr Index first = 128;
  constexpr Index samples = 512;
  seen_ = 0;
  end_ = first;
  while (end_ * agents_ < samples) end_ *= 2;
  begin_ = end_ / 2;
  std::ranges::fill(early_, 0.0);
  std::ranges::fill(late_, 0.0);
}

bool ProgressWatch::observe(std::span<const double> numbers, Network& network) {
  const Index n = seen_++;
  const bool verdict = n == end_;
  if (verdict) {
    network.spread_sum({early_, late_});
    // Costs below 0 (a loss without its constant) refute the optimum 0 that GAP supposes: as good as stalled.
    const bool below = !(early_[0] >= 0 && late_[0] >= 0);
    ratio_ = below ? std::numeric_limits<double>::infinity() : early_[0] > 0 ? late_[0] / early_[0] : 0;
    begin_ = end_;
    end_ *= 2;
    std::ranges::fill(early_, 0.0);
    std::ranges::fill(late_, 0.0);
  }
  if (n < begin_) return false;
  auto& sum = 2 * n < begin_ + end_ ? early_ : late_;
  for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += numbers[k];
  return verdict;
}

void ProgressWatch::register_state(StateRegistry& state) {
  state.number("auto.seen", seen_);
  state.number("auto.window_begin", begin_);
  state.number("auto.window_end", end_);
  state.scalars("auto.early", early_);
  state.scalars("auto.late", late_);
}

Automatic::Automatic(Rows start, const NoOptions&, const Setting& setting)
    : Algorithm(std::move(start)),
      gap_(graph_aware_options(), on_diffusion(setting)),
      progress_(w_.rows(), setting.network.agents()),
      descent_(zeros()),
      before_(zeros()),
      energy_(mu_.size()) {
  gap_.allow_unknown_smoothness();
}

void Automatic::register_more(StateRegistry& state) {
  state.number("auto.stage", stage_);
  state.number("auto.falling", falling_);
  state.number("auto.cap_factor", cap_factor_);
  gap_.register_state(state);
  progress_.register_state(state);
  descent_.register_state(state);
}

void Automatic::step(Index i, Oracle& oracle, StepSize&, Network& network) {
  const Iterate at = sample(i, w_, oracle, true);
  if (stage_ == 0) {
    const Network::StepAccount account(network);
    if (progress_.observe(at.own_values(), network)) {
      if (progress_.ratio() < falls) cap_factor_ *= 4;
      if (progress_.ratio() > stalled) {
        stage_ = 1;
        progress_.restart();
      }
    }
  }
  if (stage_ == 0) {
    graph_aware_step(at, network);
  } else {
    corrected_step(at, network);
  }
}

void Automatic::graph_aware_step(const Iterate& at, Network& network) {
  gap_.loosen_cap(cap_factor_);
  gap_.choose(at, network, mu_);
  network.adapt_combine(w_, mu_, at.gradients());
}

void Automatic::corrected_step(const Iterate& at, Network& network) {
  constexpr double knee = 200;  // iterations after which falling steps have fallen by the root of 2
  if (stage_ == 2) ++falling_;
  const double share = 1 / std::sqrt(1 + static_cast<double>(falling_) / knee);
  copy(w_, before_);
  descent_.direction(at.gradients());
  descent_.move(w_, at, share, mu_, network);
  if (stage_ == 2) return;
  // ||g_k + d_k||^2 / L_k, d_k the new one, from the move that it made with mu_k = 1/L_k.
  for (std::size_t k = 0; k < mu_.size(); ++k) {
    const auto agent = static_cast<Index>(k);
    energy_[k] = squared_distance(w_, agent, before_, agent) / mu_[k];
  }
  const Network::StepAccount account(network);
  if (progress_.observe(energy_, network) && progress_.ratio() > stalled) stage_ = 2;
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/level_estimate.hpp"

#include <algorithm>
#include <limits>

namespace polyhop {
namespace {

constexpr Index shortest_epoch = 50;
constexpr double progress_below = 0.99;
constexpr double harm_above = 1.05;
// Stands for infinity until something happens; a finite number that a checkpoint can hold.
constexpr double never = std::numeric_limits<double>::max();

}  // namespace

LevelEstimate::LevelEstimate(Index agents) {
  for (auto* zeros : {&level_, &average_, &before_raise_, &mean_, &progress_}) zeros->resize(agents);
  share_.assign(agents, 0.5);
  epoch_before_.assign(agents, never);
  mean_at_raise_.assign(agents, never);
}

void LevelEstimate::register_state(StateRegistry& state) {
  state.number("level.epoch", epoch_);
  state.scalars("level", level_);
  state.scalars("level.share", share_);
  state.scalars("level.average", average_);
  state.scalars("level.epoch_before", epoch_before_);
  state.scalars("level.before_raise", before_raise_);
  state.scalars("level.mean_at_raise", mean_at_raise_);
}

void LevelEstimate::observe(const Iterate& at, Network& network) {
  if (epoch_ == 0) {
    begin(at, network);
  } else {
    for (std::size_t k = 0; k < level_.size(); ++k) {
      average_[k] += (at.values()[k] - average_[k]) / static_cast<double>(epoch_);
    }
  }
  if ((at.i() + 1) % epoch_ == 0) end_epoch(network);
}

// All agents end an epoch together, when the slowest does.
void LevelEstimate::begin(const Iterate& at, Network& network) {
  std::ranges::copy(at.values(), average_.begin());
  std::ranges::fill(mean_, static_cast<double>(std::max(shortest_epoch, at.oracle().epoch())));
  network.spread_max(mean_);
  epoch_ = static_cast<Index>(mean_[0]);
}

void LevelEstimate::end_epoch(Network& network) {
  for (std::size_t k = 0; k < level_.size(); ++k) {
    progress_[k] = average_[k] < progress_below * epoch_before_[k] ? 1 : 0;
  }
  const Heard heard = network.hear({average_, progress_});
  heard.combine(0, mean_);
  heard.max(1, progress_);
  for (std::size_t k = 0; k < level_.size(); ++k) move(k, progress_[k] > 0);
  std::ranges::copy(average_, epoch_before_.begin());
}

void LevelEstimate::move(std::size_t k, bool progress) {
  if (mean_[k] > harm_above * mean_at_raise_[k]) {
    level_[k] = before_raise_[k];
    mean_at_raise_[k] = never;  // a raise is undone only once
    share_[k] /= 2;
  } else if (!progress) {
    before_raise_[k] = level_[k];
    mean_at_raise_[k] = mean_[k];
    level_[k] += share_[k] * (mean_[k] - level_[k]);
  }
  level_[k] = std::min(level_[k], mean_[k]);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/automatic.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/problem/sample_gradients.hpp"

namespace polyhop {
namespace {

// A window whose late half is above this share of its early half: no progress.
constexpr double stalled = 0.8;
constexpr double not_falling = 0.95;  // of losses, under steps that would make them
// Claims of more than this many times the way that models went are not kept, if they have grown since the middle.
constexpr double not_kept = 3;
constexpr double growing = 1.25;
// Steps are worth nothing if they make losses this many times as large as they were at the start.
constexpr double ruined = 2;
// By batches: the epochs that a run must have before it pays to evaluate all samples, and those of batches before that.
constexpr Index long_run = 8;
constexpr Index warm_up = 3;
// The numbers of a model whose second derivatives are affordable: in any run, and in one of so many epochs.
constexpr Index few_numbers = 200;
constexpr Index most_numbers = 1000;
constexpr Index longer_run = 5;
// The least share of all samples on which the last pass may choose how far it goes.
constexpr double least_tested = 0.1;
// How many times 1/L_k a step may be where nothing bounds the curvature. A network averages out what its agents
// disagree about.
constexpr double longest_step = 4;
// The most that a move may change the prediction of an agent's sample, where the next unit may be e times as steep.
constexpr double farthest = 3;

GapOptions graph_aware_options() {
  GapOptions options;
  options.bound = Bound::tight;
  options.damping = Damping::rows;
  options.project = true;
  options.sweeps.count = 5;
  options.relaxation = 1.5;
  return options;
}

Setting on_exact_diffusion(const Setting& setting, double mixing) {
  Setting out = setting;
  out.recursion = {.name = "exact-diffusion", .mixing = mixing, .shifted = true};
  return out;
}

bool is_linear(Oracle* oracle) {
  return oracle != nullptr && oracle->samples() != nullptr && oracle->samples()->is_linear();
}

// How far each agent may move at once: linear models go no further than `farthest` at any of their samples.
std::vector<double> reach_of(Oracle* oracle, Index agents) {
  if (!is_linear(oracle)) return {};
  const SampleGradients& samples = *oracle->samples();
  std::vector<double> reach(agents, std::numeric_limits<double>::infinity());
  for (Index k = 0; k < agents; ++k) {
    double longest = 0;
    for (Index n = 0; n < samples.count(k); ++n) longest = std::max(longest, samples.squared_norm(k, n));
    if (longest > 0) reach[k] = farthest / std::sqrt(longest);
  }
  return reach;
}

}  // namespace

ProgressWatch::ProgressWatch(Index agents_of_block, Index agents, Index first, std::string name)
    : name_(std::move(name)), early_(agents_of_block), late_(agents_of_block) {
  constexpr Index samples = 512;
  end_ = first;
  while (end_ * agents < samples) end_ *= 2;
  begin_ = end_ / 2;
}

bool ProgressWatch::observe(std::span<const double> numbers, Network& network) {
  const Index n = seen_++;
  const bool verdict = n == end_;
  if (verdict) {
    network.spread_sum({early_, late_});
    ratio_ = early_[0] > 0 ? late_[0] / early_[0] : 0;
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
  state.number(name_ + ".seen", seen_);
  state.number(name_ + ".window_begin", begin_);
  state.number(name_ + ".window_end", end_);
  state.scalars(name_ + ".early", early_);
  state.scalars(name_ + ".late", late_);
}

ClaimWatch::ClaimWatch(const Rows& start)
    : from_(start), claimed_(start.rows()), went_(start.rows()), below_(start.rows()) {
  for (auto& list : sums_) list.resize(start.rows());
}

bool ClaimWatch::broken(const Rows& w, const Iterate& at, Network& network) {
  for (std::size_t k = 0; k < below_.size(); ++k) {
    if (at.own_values()[k] < 0) below_[k] = 1;
  }
  const bool is_half = 2 * seen_ == length_;
  if (!is_half && seen_ < length_) return false;
  for (std::size_t k = 0; k < below_.size(); ++k) {
    sums_[0][k] = claimed_[k];
    sums_[1][k] = went_[k];
    sums_[2][k] = below_[k];
    sums_[3][k] = at.gradients().squared_norm(static_cast<Index>(k)) > 0 ? 1 : 0;
  }
  network.spread_sum({sums_[0], sums_[1], sums_[2], sums_[3]});
  if (sums_[0].empty()) return false;  // nobody's block
  const double went = sums_[1][0];
  const double ratio = went > 0 ? sums_[0][0] / went : 0;
  if (sums_[2][0] > 0 || (went == 0 && sums_[3][0] > 0)) return true;
  if (is_half) {
    half_ = ratio;
    return false;
  }
  if (ratio > not_kept && ratio > growing * half_) return true;
  length_ = all_;
  seen_ = 0;
  std::ranges::fill(claimed_, 0.0);
  std::ranges::fill(went_, 0.0);
  copy(w, from_);
  return false;
}

void ClaimWatch::observe(std::span<const double> claims, const Rows& w) {
  for (std::size_t k = 0; k < claims.size(); ++k) {
    const auto agent = static_cast<Index>(k);
    claimed_[k] += claims[k];
    went_[k] = std::max(went_[k], squared_distance(w, agent, from_, agent));
  }
  ++seen_;
  ++all_;
}

void ClaimWatch::register_state(StateRegistry& state) {
  state.rows("auto.window_from", from_);
  state.scalars("auto.claimed", claimed_);
  state.scalars("auto.went", went_);
  state.scalars("auto.below", below_);
  state.number("auto.window_seen", seen_);
  state.number("auto.window_length", length_);
  state.number("auto.window_all", all_);
  state.number("auto.window_half", half_);
}

StartWatch::StartWatch(const Rows& start) : start_(start), agents_(start.rows()) {
  std::iota(agents_.begin(), agents_.end(), Index{0});
  for (auto* list : {&now_, &then_, &values_, &no_steps_}) list->resize(start.rows());
}

bool StartWatch::lost_ground(const Iterate& at, Network& network) {
  bool verdict = false;
  if (seen_ == window) {
    network.spread_sum({now_, then_});
    if (!now_.empty()) {
      is_better_ = now_[0] <= then_[0] ? 0 : 1;
      verdict = !(now_[0] <= ruined * then_[0]);
    }
    std::ranges::fill(now_, 0.0);
    std::ranges::fill(then_, 0.0);
    seen_ = 0;
  }
  at.oracle().values_along(start_, at.gradients(), agents_, no_steps_, values_);
  for (std::size_t k = 0; k < now_.size(); ++k) {
    now_[k] += at.own_values()[k];
    then_[k] += values_[k];
  }
  ++seen_;
  return verdict;
}

void StartWatch::register_state(StateRegistry& state) {
  state.rows("auto.start", start_);
  state.scalars("auto.now", now_);
  state.scalars("auto.then", then_);
  state.number("auto.compared", seen_);
  state.number("auto.start_is_better", is_better_);
}

Automatic::Automatic(Rows start, const NoOptions&, const Setting& setting)
    : Algorithm(std::move(start)),
      mixing_(largest_mixing(setting.network.matrix())),
      iterations_(setting.iterations),
      correction_(w_, mixing_),
      claims_(w_),
      losses_(w_.rows(), setting.network.agents(), 32, "auto.losses"),
      progress_(w_.rows(), setting.network.agents(), 128, "auto.moves"),
      energy_(mu_.size()) {
  const bool is_exact = setting.oracle != nullptr && setting.oracle->is_exact();
  if (is_linear(setting.oracle) && (is_exact || iterations_ > 0)) {
    tree_.emplace(w_, QuasiNewtonOptions{}.memory, !is_exact);
    if (is_exact) {
      epoch_ = 1;
      turn_ = 0;
      return;
    }
    if (w_.columns() <= most_numbers) newton_.emplace(w_, *setting.oracle);
  }
  gap_.emplace(graph_aware_options(), on_exact_diffusion(setting, mixing_));
  gap_->allow_unknown_smoothness();
  if (setting.oracle != nullptr && !is_linear(setting.oracle)) {
    curvature_.emplace(w_.rows(), longest_step);
    start_.emplace(w_);
  }
  if (setting.oracle != nullptr && RememberingDescent::suits(*setting.oracle)) {
    remembering_.emplace(zeros(), mixing_, setting, curvature_ ? &*curvature_ : nullptr);
  } else {
    descent_.emplace(zeros(), reach_of(setting.oracle, w_.rows()));
    before_ = zeros();
  }
}

void Automatic::register_more(StateRegistry& state) {
  if (tree_) tree_->register_state(state);
  if (newton_) newton_->register_state(state);
  if (!gap_) return;
  state.number("auto.epoch", epoch_);
  state.number("auto.turn", turn_);
  state.number("auto.passes_begin", passes_begin_);
  state.number("auto.stage", stage_);
  state.number("auto.falling", falling_);
  gap_->register_state(state);
  correction_.register_state(state);
  claims_.register_state(state);
  if (curvature_) curvature_->register_state(state, "auto");
  if (start_) start_->register_state(state);
  losses_.register_state(state);
  if (remembering_) return remembering_->register_state(state);
  progress_.register_state(state);
  descent_->register_state(state);
}

void Automatic::step(Index i, Oracle& oracle, StepSize&, Network& network) {
  if (i == 0 && tree_ && gap_) plan(oracle, network);
  if (by_newton()) return newton_step(i, oracle, network);
  if (i >= turn_) return descend_whole(i, oracle, network);
  if (i == 0 && (turn_ != never || !oracle.may_fit())) stage_ = 1;
  if (stage_ == 1 && remembering_) {
    oracle.draw(i);
    remembering_->step(i, w_, oracle, share_of_step(i), mu_, network);
    return;
  }
  const Iterate at = sample(i, w_, oracle, true);
  if (stage_ == 0 && must_leave(at, network)) {
    stage_ = 1;
    if (start_ && start_->is_better()) {
      copy(start_->models(), w_);
      if (!remembering_) oracle.evaluate(w_, true);  // what `at` refers to
    }
  }
  if (stage_ == 0) {
    graph_aware_step(at, network);
  } else if (remembering_) {
    remembering_->step(i, w_, oracle, share_of_step(i), mu_, network);
  } else {
    corrected_step(at, network);
  }
}

bool Automatic::must_leave(const Iterate& at, Network& network) {
  const Network::StepAccount account(network);
  const bool is_lost = start_ && start_->lost_ground(at, network);
  const bool judged = losses_.observe(at.own_values(), network);
  return claims_.broken(w_, at, network) || is_lost || (judged && losses_.ratio() > not_falling);
}

// When gradients become whole. The last evaluation ends with the run. Losses whose curvature has no bound have no
// batches before that: a single sample may throw a model far off.
void Automatic::plan(Oracle& oracle, Network& network) {
  const Network::StepAccount account(network);
  std::ranges::fill(energy_, static_cast<double>(oracle.epoch()));
  network.spread_max(energy_);
  epoch_ = energy_.empty() ? 1 : static_cast<Index>(energy_[0]);
  if (epoch_ > 1 && newton_) plan_newton(network);
  if (by_newton()) return;
  if (epoch_ == 1) {
    turn_ = 0;
  } else if (iterations_ >= long_run * epoch_) {
    turn_ = remembering_ ? warm_up * epoch_ + iterations_ % epoch_ : 0;
  }
}

// A pass looks at every sample twice, for h.w with the gradient and for h.p, each of which takes half of its time. What
// is h.0 is known, so the first one begins half an epoch earlier than the run if models begin at 0.
void Automatic::plan_newton(Network& network) {
  if (w_.columns() > few_numbers && iterations_ < longer_run * epoch_) return;
  for (Index k = 0; k < w_.rows(); ++k) energy_[k] = dot(w_, k, w_, k);
  network.spread_max(energy_);
  const bool from_zero = energy_.empty() || energy_[0] == 0;
  const Index begin = from_zero ? 0 : (epoch_ + 1) / 2;
  if (iterations_ - begin >= epoch_ || share_tested(iterations_ - begin) >= least_tested) passes_begin_ = begin;
}

// What the last pass can test when this many iterations are left for it, relative to all samples.
double Automatic::share_tested(Index left) const {
  const auto half = static_cast<double>(epoch_) / 2;
  return (static_cast<double>(left) - half) / half;
}

void Automatic::newton_step(Index i, Oracle& oracle, Network& network) {
  const Index since = i + 1 - passes_begin_;
  if (since <= 0) return;
  const double tested = since % epoch_ == 0 ? 1 : share_tested(since % epoch_);
  const bool ends = since % epoch_ == 0 || (i + 1 == iterations_ && tested >= least_tested);
  if (!ends) return;
  newton_->step(i, tested, w_, oracle, mu_, network);
  if (!newton_->is_lost()) return;
  passes_begin_ = never;
  turn_ = i + 1;
}

// One evaluation per epoch, at its end.
void Automatic::descend_whole(Index i, Oracle& oracle, Network& network) {
  if ((i - turn_) % epoch_ == epoch_ - 1) tree_->step(i, w_, oracle, mu_, network);
}

// Batches are noisy to the end: their steps fall to 0 by the end of the run, or by the turn to whole gradients.
double Automatic::share_of_step(Index i) const {
  if (iterations_ == 0) return 1;
  const double left = 1 - static_cast<double>(i) / static_cast<double>(std::min(turn_, iterations_));
  return std::clamp(left / 0.75, 0.0, 1.0);
}

void Automatic::graph_aware_step(const Iterate& at, Network& network) {
  const Iterate ahead = at.from(correction_.ahead(w_));
  gap_->choose(ahead, network, mu_);
  if (curvature_) {
    curvature_->update(at);
    curvature_->limit(std::min(1.0, static_cast<double>(network.agents() + 1) / 4), mu_);
  }
  {
    const Network::StepAccount account(network);
    gap_->claim(ahead, network, mu_, energy_);
  }
  correction_.apply(w_, mu_, at.gradients(), network);
  claims_.observe(energy_, w_);
}

void Automatic::corrected_step(const Iterate& at, Network& network) {
  constexpr double knee = 200;  // iterations after which falling steps have fallen by the root of 2
  if (stage_ == 2) ++falling_;
  const double share = 1 / std::sqrt(1 + static_cast<double>(falling_) / knee);
  copy(w_, before_);
  descent_->direction(at.gradients());
  descent_->move(w_, at, share, mu_, network);
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

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/gradient_tracking.hpp"

#include <utility>

#include "polyhop/method/row_arithmetic.hpp"

namespace polyhop {
namespace {

// What a rule that asks for values is told: the tracked average, which the tracked gradient belongs to.
std::span<const Real> tracked_values(Index i, const Evaluation& at_w, const StepSize& rule, Tracker& tracker,
                                     Network& network) {
  if (!rule.needs_tracked_values()) return {};
  return tracker.follow(i, at_w.values, network);
}

}  // namespace

const FieldTable<TrackingOptions>& TrackingOptions::fields() {
  static const auto table = FieldTable<TrackingOptions>().add(
      "rounds", &TrackingOptions::rounds, "how often an iteration combines: A^rounds instead of A", {count_from(1)});
  return table;
}

GradientTracking::GradientTracking(Rows start, const TrackingOptions& options)
    : Algorithm(std::move(start)), rounds_(options.rounds), tracker_(w_.rows(), w_.columns()) {}

void GradientTracking::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  oracle.draw(i);
  const Evaluation& at_w = oracle.evaluate(w_, rule.needs_values());
  tracker_.add_then_combine(i, at_w.gradients, network, rounds_);
  const auto values = tracked_values(i, at_w, rule, tracker_, network);
  rule.choose({i, w_, at_w, oracle, w_, tracker_.direction(), values}, network, mu_);
  network.adapt_combine(w_, mu_, tracker_.direction());
  for (Index r = 1; r < rounds_; ++r) network.combine(w_, w_);
}

Diging::Diging(Rows start, const NoOptions&)
    : Algorithm(std::move(start)), tracker_(w_.rows(), w_.columns()), mixed_(zeros()) {}

void Diging::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  oracle.draw(i);
  const Evaluation& at_w = oracle.evaluate(w_, rule.needs_values());
  tracker_.combine_then_add(i, at_w.gradients, network);
  const auto values = tracked_values(i, at_w, rule, tracker_, network);
  network.combine(w_, mixed_);
  rule.choose({i, w_, at_w, oracle, mixed_, tracker_.direction(), values}, network, mu_);
  descend(mixed_, mu_, tracker_.direction(), w_);
}

const FieldTable<NextOptions>& NextOptions::fields() {
  using O = NextOptions;
  static const auto table = FieldTable<O>()
                                .add("gamma", &O::gamma, "multiplies the first step", {within(0, 1)})
                                .add("theta", &O::theta, "how fast that falls", {within(0, 1)});
  return table;
}

Next::Next(Rows start, const NextOptions& options)
    : Algorithm(std::move(start)), options_(options), gamma_(options.gamma), tracker_(w_.rows(), w_.columns()) {}

void Next::register_more(StateRegistry& state) {
  tracker_.register_state(state);
  state.number("next.gamma", gamma_);
}

void Next::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  oracle.draw(i);
  const Evaluation& at_w = oracle.evaluate(w_, rule.needs_values());
  tracker_.combine_then_add(i, at_w.gradients, network);
  if (i > 0) gamma_ *= 1 - options_.theta * gamma_;
  rule.choose({i, w_, at_w, oracle, w_, tracker_.direction(), {}}, network, mu_);  // 1/tau
  for (Real& mu : mu_) mu *= gamma_;
  network.adapt_combine(w_, mu_, tracker_.direction());
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/gradient_tracking.hpp"

#include <utility>

#include "polyhop/core/block.hpp"

namespace polyhop {
namespace {

// Steps go along the tracked gradient; a rule that asks for values gets the tracked average that the gradient belongs
// to.
Iterate tracked(const Iterate& at, const StepSize& rule, Tracker& tracker, Network& network) {
  const Iterate out = at.along(tracker.direction()).with_values({});
  return rule.needs_tracked_values() ? out.with_values(tracker.follow(at.i(), at.own_values(), network)) : out;
}

}  // namespace

const FieldTable<TrackingOptions>& TrackingOptions::fields() {
  static const auto table = FieldTable<TrackingOptions>().add("rounds", &TrackingOptions::rounds,
                                                              "combinations per iteration: A^rounds instead of A",
                                                              {count_within(1, 1'000'000)});
  return table;
}

GradientTracking::GradientTracking(Rows start, const TrackingOptions& options)
    : Algorithm(std::move(start)), rounds_(options.rounds), tracker_(zeros()) {}

void GradientTracking::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  const Iterate at = sample(i, w_, oracle, rule);
  tracker_.add_then_combine(i, at.gradients(), network, rounds_);
  rule.choose(tracked(at, rule, tracker_, network), network, mu_);
  network.adapt_combine(w_, mu_, tracker_.direction(), take_mean());
  for (Index r = 1; r < rounds_; ++r) network.combine(w_, w_);
}

Diging::Diging(Rows start, const NoOptions&) : Algorithm(std::move(start)), tracker_(zeros()), mixed_(zeros()) {}

void Diging::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  const Iterate at = sample(i, w_, oracle, rule);
  tracker_.combine_then_add(i, at.gradients(), network);
  network.combine(w_, mixed_);
  rule.choose(tracked(at, rule, tracker_, network).from(mixed_), network, mu_);
  descend(mixed_, mu_, tracker_.direction(), w_);
}

const FieldTable<NextOptions>& NextOptions::fields() {
  using O = NextOptions;
  static const auto table = FieldTable<O>()
                                .add("gamma", &O::gamma, "multiplies the first step", {within(0, 1)})
                                .add("theta", &O::theta, "how fast the step falls", {within(0, 1)});
  return table;
}

Next::Next(Rows start, const NextOptions& options)
    : Algorithm(std::move(start)), options_(options), gamma_(options.gamma), tracker_(zeros()) {}

void Next::register_more(StateRegistry& state) {
  tracker_.register_state(state);
  state.number("next.gamma", gamma_);
}

void Next::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  const Iterate at = sample(i, w_, oracle, rule);
  tracker_.combine_then_add(i, at.gradients(), network);
  if (i > 0) gamma_ *= 1 - options_.theta * gamma_;
  rule.choose(tracked(at, rule, tracker_, network), network, mu_);  // 1/tau
  for (double& mu : mu_) mu *= gamma_;
  network.adapt_combine(w_, mu_, tracker_.direction(), take_mean());
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/adaptive_moments.hpp"

#include <utility>

#include "polyhop/core/block.hpp"

namespace polyhop {
namespace {

Constraint<double> a_share() {
  return {"in [0, 1)", [](const double& x) { return x >= 0 && x < 1; }};
}

template <class Options>
FieldTable<Options> moment_fields() {
  return FieldTable<Options>()
      .add("beta1", &Options::beta1, "weight of the old value in the mean gradient", {a_share()})
      .add("beta2", &Options::beta2, "weight of the old value in the mean square", {a_share()})
      .add("epsilon", &Options::epsilon, "keeps the divisor away from 0", {above(0)});
}

}  // namespace

const FieldTable<DadamOptions>& DadamOptions::fields() {
  static const auto table = moment_fields<DadamOptions>().add(
      "beta3", &DadamOptions::beta3, "weight of the old value in the raised square", {a_share()});
  return table;
}

Dadam::Dadam(Rows start, const DadamOptions& options)
    : Algorithm(std::move(start)), options_(options), m_(zeros()), v_(zeros()), u_(zeros()) {}

void Dadam::register_more(StateRegistry& state) {
  state.rows("dadam.m", m_);
  state.rows("dadam.v", v_);
  state.rows("dadam.u", u_);
}

void Dadam::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  const Iterate at = sample(i, w_, oracle, rule);
  rule.choose(at, network, mu_);
  update_moments(options_.beta1, options_.beta2, at.gradients(), m_, v_);
  network.combine(w_, w_);
  raise_rows(options_.beta3, v_, u_);
  scaled_step(mu_, m_, u_, 0, options_.epsilon, w_);
}

const FieldTable<DamsgradOptions>& DamsgradOptions::fields() {
  static const auto table = moment_fields<DamsgradOptions>();
  return table;
}

Damsgrad::Damsgrad(Rows start, const DamsgradOptions& options)
    : Algorithm(std::move(start)),
      options_(options),
      m_(zeros()),
      v_(zeros()),
      vhat_(w_.rows(), w_.columns(), options.epsilon, w_.element()),
      t_(vhat_) {}

void Damsgrad::register_more(StateRegistry& state) {
  state.rows("damsgrad.m", m_);
  state.rows("damsgrad.v", v_);
  state.rows("damsgrad.vhat", vhat_);
  state.rows("damsgrad.t", t_);
}

void Damsgrad::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  const Iterate at = sample(i, w_, oracle, rule);
  rule.choose(at, network, mu_);
  update_moments(options_.beta1, options_.beta2, at.gradients(), m_, v_);
  network.combine(w_, w_);
  network.combine(t_, t_);
  scaled_step(mu_, m_, t_, options_.epsilon, 0, w_);
  add(-1, vhat_, t_);
  raise_rows(0, v_, vhat_);
  add(1, vhat_, t_);
}

}  // namespace polyhop

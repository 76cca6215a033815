// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/adaptive_moments.hpp"

#include <utility>

#include "polyhop/method/row_arithmetic.hpp"

namespace polyhop {
namespace {

Constraint<Real> a_share() {
  return {"in [0, 1)", [](const Real& x) { return x >= 0 && x < 1; }};
}

template <class Options>
FieldTable<Options> moment_fields() {
  return FieldTable<Options>()
      .add("beta1", &Options::beta1, "share of the old in the mean gradient", {a_share()})
      .add("beta2", &Options::beta2, "share of the old in the mean square", {a_share()})
      .add("epsilon", &Options::epsilon, "keeps the divisor away from 0", {above(0)});
}

template <class Options>
void update_moments(const Options& options, const Gradients& g, Rows& m, Rows& v) {
  for (Index k = 0; k < m.rows(); ++k) {
    kernels::moments(options.beta1, options.beta2, g.scale[k], g.row[k], m.row(k).data(), v.row(k).data(), m.columns());
  }
}

}  // namespace

const FieldTable<DadamOptions>& DadamOptions::fields() {
  static const auto table = moment_fields<DadamOptions>().add("beta3", &DadamOptions::beta3,
                                                              "share of the old in the raised square", {a_share()});
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
  update_moments(options_, at.gradients(), m_, v_);
  network.combine(w_, w_);
  for (Index k = 0; k < w_.rows(); ++k) {
    kernels::raise(options_.beta3, v_.row(k).data(), u_.row(k).data(), w_.columns());
    kernels::scaled_step(mu_[k], m_.row(k).data(), u_.row(k).data(), 0, options_.epsilon, w_.row(k).data(),
                         w_.row(k).data(), w_.columns());
  }
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
      vhat_(w_.rows(), w_.columns(), options.epsilon),
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
  update_moments(options_, at.gradients(), m_, v_);
  network.combine(w_, w_);
  network.combine(t_, t_);
  for (Index k = 0; k < w_.rows(); ++k) {
    kernels::scaled_step(mu_[k], m_.row(k).data(), t_.row(k).data(), options_.epsilon, 0, w_.row(k).data(),
                         w_.row(k).data(), w_.columns());
  }
  add(-1, vhat_, t_);
  for (Index k = 0; k < w_.rows(); ++k) kernels::raise(0, v_.row(k).data(), vhat_.row(k).data(), w_.columns());
  add(1, vhat_, t_);
}

}  // namespace polyhop

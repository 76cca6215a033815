// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/tree_quasi_newton.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/problem/sample_gradients.hpp"

namespace polyhop {

const FieldTable<QuasiNewtonOptions>& QuasiNewtonOptions::fields() {
  using O = QuasiNewtonOptions;
  static const auto table =
      FieldTable<O>().add("memory", &O::memory, "how many steps it remembers, two vectors each", {count_from(1)});
  return table;
}

TreeDescent::TreeDescent(const Rows& models, Index memory, bool by_batches)
    : descent_(models.columns(), memory, models.element()),
      at_(models.zeros(models.rows())),
      sums_(models.zeros(models.rows())),
      mean_(1, models.columns()),
      penalty_(models.zeros(by_batches ? models.rows() : 0)),
      values_(models.rows()) {}

void TreeDescent::register_state(StateRegistry& state) {
  descent_.register_state(state, "quasi_newton");
  state.number("quasi_newton.begun", begun_);
  state.number("quasi_newton.rests", rests_);
}

void TreeDescent::step(Index i, Rows& w, Oracle& oracle, std::span<double> mu, Network& network) {
  if (rests_ != 0) return;
  const bool first = std::exchange(begun_, 1) == 0;
  if (first) begin(w, network);
  place(descent_.trial(), at_);
  evaluate(i, oracle);
  network.spread_sum(sums_, {values_});
  if (w.rows() == 0) return;  // nobody's block
  const double value = values_[0] / static_cast<double>(network.agents());
  const auto gradient = mean(network);
  const double step = first ? 0 : descent_.step();
  const auto outcome = descent_.take(value, gradient);
  const bool is_finite = std::isfinite(descent_.value()) && std::isfinite(descent_.gradient_norm());
  const bool moved = outcome == QuasiNewton::Outcome::moved;
  if (moved) {
    place(descent_.point(), w);
    std::ranges::fill(mu, step);
  }
  const bool ends = outcome == QuasiNewton::Outcome::stuck || (moved && descent_.is_at_rest());
  rests_ = ends || !is_finite ? 1 : 0;
  if (rests_ != 0) std::ranges::fill(mu, 0.0);
}

// The agents' costs at the trial, and their gradients in the place of the sums.
void TreeDescent::evaluate(Index i, Oracle& oracle) {
  if (oracle.is_exact()) {
    oracle.draw(i);
    const Evaluation& here = oracle.evaluate(at_, true);
    std::ranges::copy(here.values, values_.begin());
    write_out(here.gradients, sums_);
    return;
  }
  SampleGradients& samples = *oracle.samples();
  for (Index k = 0; k < at_.rows(); ++k) {
    values_[k] = samples.whole(k, at_, sums_) + samples.penalty(k, at_, penalty_);
    add_row(1, penalty_, k, sums_, k);
    oracle.charge(samples.batches(k), samples.batches(k));
  }
}

void TreeDescent::begin(const Rows& w, Network& network) {
  copy(w, sums_);
  network.spread_sum(sums_);
  if (w.rows() > 0) descent_.begin(mean(network));
}

// What every agent knows of the sums, divided by their number.
std::span<const double> TreeDescent::mean(const Network& network) {
  read_row(sums_, 0, mean_.row(0));
  scale(1 / static_cast<double>(network.agents()), mean_);
  return mean_.row(0);
}

void TreeDescent::place(std::span<const double> point, Rows& w) {
  for (Index k = 0; k < w.rows(); ++k) write_row(point, w, k);
}

TreeQuasiNewton::TreeQuasiNewton(Rows start, const QuasiNewtonOptions& options, const Setting& setting)
    : Algorithm(std::move(start)), descent_(w_, options.memory) {
  if (setting.oracle == nullptr || setting.oracle->is_exact()) return;
  throw InputError("name",
                   "\"quasi-newton\" needs whole costs, not those of batches; set batch = \"all\" in [problem]");
}

void TreeQuasiNewton::step(Index i, Oracle& oracle, StepSize&, Network& network) {
  descent_.step(i, w_, oracle, mu_, network);
}

}  // namespace polyhop

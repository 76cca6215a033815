// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/exact_diffusion.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop {

namespace {

// The requested c, if the network allows it. Limits come from a lower bound on an eigenvalue: 1 may miss by a rounding.
double allowed_mixing(const Mixing& mixing, double limit, const char* what) {
  constexpr double rounding = 1e-9;
  if (mixing.largest) return limit;
  if (mixing.value <= 0.5) return mixing.value;
  if (mixing.value <= limit + rounding) return std::min(mixing.value, limit);
  throw InputError("mixing", "found " + shortest(mixing.value) + ", which is too much for this network: " + what +
                                 " allows at most " + shortest(limit) + "; \"auto\" takes that");
}

}  // namespace

Mixing Codec<Mixing>::read(const Value& v) {
  if (const auto* text = v.as<std::string>(); text != nullptr && *text == "auto") return {0.5, true};
  const auto* integer = v.as<std::int64_t>();
  const auto* number = v.as<double>();
  const double c = integer != nullptr ? static_cast<double>(*integer) : number != nullptr ? *number : -1;
  if (!(c > 0 && c <= 1)) throw_mismatch(v, in_words(type()));
  return {c, false};
}

double largest_mixing(const CombinationMatrix& matrix) { return 1 / (1 - matrix.least_eigenvalue()); }

double largest_dual_mixing(const CombinationMatrix& matrix) {
  double least = 1;
  for (Index k = 0; k < matrix.agents(); ++k) least = std::min(least, matrix.own_weight(k));
  return least < 0.5 ? 1 / (2 * (1 - std::max(0.0, least))) : 1;
}

const FieldTable<ExactDiffusionOptions>& ExactDiffusionOptions::fields() {
  using O = ExactDiffusionOptions;
  static const auto table =
      FieldTable<O>()
          .add("form", &O::form,
               "dual: reaches w^o with any positive steps, even agent-wise; primal: as published, for a common "
               "step, or GAP's")
          .add("mixing", &O::mixing,
               "c in the combination matrix (1 - c) I + c A; above 0.5 if the network allows it; auto: the largest");
  return table;
}

DualCorrection::DualCorrection(const Rows& zeros, double mixing)
    : mixing_(mixing), dual_(zeros), direction_(zeros), push_(zeros), along_direction_(along(direction_)) {}

const Gradients& DualCorrection::direction(const Gradients& g) {
  copy(dual_, direction_);
  add(1, g, direction_);
  return along_direction_;
}

void DualCorrection::apply(Rows& w, std::span<const double> mu, bool common, Network& network) {
  descend(w, mu, along_direction_, w);   // Psi
  network.differ(w, mu, common, push_);  // (I - A) Psi / mu
  add(mixing_, push_, dual_);            // D+
  for (Index k = 0; k < w.rows(); ++k) {
    const double share = mixing_ * mu[k];  // X+ = Psi - mu (D+ - D)
    add_row(-share, push_, k, w, k);
  }
}

PrimalCorrection::PrimalCorrection(const Rows& start, double mixing)
    : mixing_(mixing), psi_(start), ahead_(start.zeros(start.rows())) {}

const Rows& PrimalCorrection::ahead(const Rows& w) {
  copy(w, ahead_);
  add(1, w, ahead_);
  add(-1, psi_, ahead_);
  return ahead_;
}

void PrimalCorrection::apply(Rows& w, std::span<const double> mu, const Gradients& g, Network& network) {
  descend(w, mu, g, psi_);    // psi_i
  descend(ahead_, mu, g, w);  // phi_i = psi_i + W_{i-1} - psi_{i-1}
  network.combine(w, ahead_);
  mix(mixing_, ahead_, w);
}

ExactDiffusion::ExactDiffusion(Rows start, double mixing) : Algorithm(std::move(start)), correction_(zeros(), mixing) {}

Recursion ExactDiffusion::recursion(const ExactDiffusionOptions& options, const CombinationMatrix& matrix) {
  const double c = allowed_mixing(options.mixing, largest_dual_mixing(matrix), "the dual form");
  return {.name = "exact-diffusion", .mixing = c, .dual = true};
}

void ExactDiffusion::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  const Iterate at = sample(i, w_, oracle, rule);
  rule.choose(at.along(correction_.direction(at.gradients())), network, mu_);
  correction_.apply(w_, mu_, rule.is_common(), network);
}

PrimalExactDiffusion::PrimalExactDiffusion(Rows start, double mixing)
    : Algorithm(std::move(start)), correction_(w_, mixing) {}

Recursion PrimalExactDiffusion::recursion(const ExactDiffusionOptions& options, const CombinationMatrix& matrix) {
  const bool known = !options.mixing.largest && options.mixing.value <= 0.5;  // safe on every network
  const double limit = known ? 0.5 : largest_mixing(matrix);
  return {.name = "exact-diffusion",
          .mixing = allowed_mixing(options.mixing, limit, "the smallest eigenvalue"),
          .shifted = true};
}

void PrimalExactDiffusion::step(Index i, Oracle& oracle, StepSize& rule, Network& network) {
  const Iterate at = sample(i, w_, oracle, rule);
  rule.choose(at.from(correction_.ahead(w_)), network, mu_);
  correction_.apply(w_, mu_, at.gradients(), network);
}

}  // namespace polyhop

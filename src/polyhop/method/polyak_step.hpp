// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/optimum.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// Polyak's rule for each agent alone [eq:polyak]: mu_k = (Jhat_k(w_k) - Jhat_k(w^o)) / (c ||g_k||^2), at least 0 and
/// at most `max`; 0 if the gradient is 0. With c = 1/2 and a maximum it is SPS_max (Loizou et al. 2021). No
/// communication; 1 value.
struct PolyakOptions {
  double c = 1;
  std::optional<double> max;
  Optimum optimum;
  static const FieldTable<PolyakOptions>& fields();
};

/// The same with the defaults of the stochastic Polyak step (c = 1/2).
struct SpsOptions : PolyakOptions {
  SpsOptions() { c = 0.5; }
  static const FieldTable<SpsOptions>& fields();
};

class PolyakStep final : public StepSize {
 public:
  PolyakStep(const PolyakOptions& options, const Setting& setting)
      : options_(options), optimal_(options.optimum, setting) {}
  [[nodiscard]] bool needs_values() const override { return true; }
  [[nodiscard]] std::span<const double> levels() const override { return optimal_.levels(); }
  void register_state(StateRegistry& state) override { optimal_.register_state(state); }

 private:
  void do_choose(const Iterate& at, Network& network, std::span<double> mu) override;
  PolyakOptions options_;
  OptimalValues optimal_;
};

/// DecSPS, a decreasing stochastic Polyak step (Orvieto et al. 2022; constants not verified against the original):
///   mu_k = (1/c_i) min{(Jhat_k(w_k) - l_k)/||g_k||^2, c_{i-1} mu_{k,i-1}},   c_i = c0 sqrt(i+1),
/// at i = 0 only the first term. If an agent fits its sample, its step is 0, but later steps recover, because the
/// second term keeps its last positive value. No communication; 1 value.
struct DecSpsOptions {
  double c0 = 1;
  Optimum optimum;
  static const FieldTable<DecSpsOptions>& fields();
};

class DecSpsStep final : public StepSize {
 public:
  DecSpsStep(const DecSpsOptions& options, const Setting& setting);
  [[nodiscard]] bool needs_values() const override { return true; }
  [[nodiscard]] std::span<const double> levels() const override { return optimal_.levels(); }
  void register_state(StateRegistry& state) override;

 private:
  void do_choose(const Iterate& at, Network& network, std::span<double> mu) override;
  DecSpsOptions options_;
  OptimalValues optimal_;
  std::vector<double> ratchet_;  // c_{i-1} mu_{i-1}
};

/// A squared norm below this counts as no gradient at all: the step is 0.
inline constexpr double vanishing_gradient = 1e-280;

/// (the value - its optimum) / ||y_k||^2 of the block's k-th agent, at least 0; 0 if there is no gradient.
double polyak_ratio(const Iterate& at, std::span<const double> optimal, Index k);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/optimum.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// Polyak's rule of each agent for itself [eq:polyak]: mu_k = (Jhat_k(w_k) - Jhat_k(w^o)) / (c ||g_k||^2), at least 0
/// and at most `max`; 0 where the gradient is. With c = 1/2 and a maximum it is SPS_max (Loizou et al. 2021).
/// No communication; 1 value.
struct PolyakOptions {
  Real c = 1;
  std::optional<Real> max;
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

 private:
  void do_choose(const Iterate& at, Network& network, std::span<Real> mu) override;
  PolyakOptions options_;
  OptimalValues optimal_;
};

/// A squared norm below this counts as no gradient at all: the step is 0.
inline constexpr Real vanishing_gradient = 1e-280;

/// ||g_k||^2 of the block's k-th agent.
Real squared_norm(const Gradients& g, Index k);

}  // namespace polyhop

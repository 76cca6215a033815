// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/fields.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// mu_k = value, for every agent and iteration. No communication.
struct ConstantOptions {
  Real value = 0;
  static const FieldTable<ConstantOptions>& fields();
};

class ConstantStep final : public StepSize {
 public:
  ConstantStep(const ConstantOptions& options, const Setting&) : options_(options) {}

 private:
  void do_choose(const Iterate& at, Network& network, std::span<Real> mu) override;
  ConstantOptions options_;
};

/// mu_k = value / (i+1)^power at iteration i = 0, 1, ... No communication.
struct DecayOptions {
  Real value = 0;
  Real power = 0.5;
  static const FieldTable<DecayOptions>& fields();
};

class DecayingStep final : public StepSize {
 public:
  DecayingStep(const DecayOptions& options, const Setting&) : options_(options) {}

 private:
  void do_choose(const Iterate& at, Network& network, std::span<Real> mu) override;
  DecayOptions options_;
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/method/algorithm.hpp"

namespace polyhop {

/// EXTRA: W_1 = A W_0 - mu G_0, W_{i+2} = (I + A) W_{i+1} - (I + A)/2 W_i - mu (G_{i+1} - G_i). Its correction relies
/// on the previous step, so it takes one constant step, the same for all agents. 1 round, 1 vector per edge.
class Extra final : public Algorithm {
 public:
  explicit Extra(Rows start, const NoOptions& = {})
      : Algorithm(std::move(start)), carried_(zeros()), mixed_(zeros()), next_(zeros()) {}
  static Recursion recursion(const NoOptions&) { return {.name = "extra", .mixing = 0, .shifted = true}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  void register_more(StateRegistry& state) override { state.rows("extra.carried", carried_); }

  Rows carried_;  // (I + A)/2 W_i - mu G_i
  Rows mixed_;
  Rows next_;
};

}  // namespace polyhop

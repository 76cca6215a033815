// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/algorithm.hpp"

namespace polyhop {

struct KuruzovOptions {
  double delta = 0.9;
  double growth = 1;
  double shrink = 0.5;
  double first = 1;
  double mixing = 0.45;
  static const FieldTable<KuruzovOptions>& fields();
};

/// The deterministic method of Kuruzov, Scutari and Gasnikov (2024), with its own global line search. With
/// Wg = (1 - c) I + c A, c < 1/2, and D_0 = 0:
///   Xh = Wg X,   Dh = Wg (G + D);   each agent shrinks a, starting at growth * (last alpha), until x+ = xh - a dh has
///   J_k(x+) <= J_k(x) + g.(x+ - x) + delta/(2a) ||x+ - x||^2 + 1e-12 max(1, |J_k(x)|);   alpha = min_k a;
///   X+ = Xh - alpha Dh,   D+ = Dh + (X - Xh)/alpha - G.
/// 2 vectors per edge, as many scalars as the diameter, and at least 2 values.
class Kuruzov final : public Algorithm {
 public:
  Kuruzov(Rows start, const KuruzovOptions& options);
  static Recursion recursion(const KuruzovOptions& options) { return {.name = "kuruzov", .mixing = options.mixing}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  void register_more(StateRegistry& state) override { state.rows("kuruzov.dual", dual_); }
  void search(const Iterate& at);
  [[nodiscard]] bool accepts(Index k, const Iterate& at);

  KuruzovOptions options_;
  Rows dual_;       // D
  Rows mixed_;      // Xh
  Rows direction_;  // Dh
  Rows move_;       // one row
  Gradients along_direction_;
  std::vector<double> values_;
  std::vector<Index> searching_;
};

}  // namespace polyhop

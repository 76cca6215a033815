// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/fields.hpp"
#include "polyhop/method/algorithm.hpp"
#include "polyhop/method/tracker.hpp"

namespace polyhop {

struct TrackingOptions {
  Index rounds = 1;
  static const FieldTable<TrackingOptions>& fields();
};

/// Gradient tracking (Aug-DGM): W+ = A (W - diag(mu) Y), Y+ = A (Y + G+ - G), Y_0 = G_0; with `rounds` = R every A is
/// A^R. Takes any steps. 2 R rounds, 2 R vectors per edge.
class GradientTracking final : public Algorithm {
 public:
  GradientTracking(Rows start, const TrackingOptions& options);
  static Recursion recursion(const TrackingOptions& options) {
    return {.name = "gradient-tracking", .rounds = options.rounds, .tracked = true};
  }
  [[nodiscard]] bool blends() const override { return rounds_ == 1; }  // else the first combination is not the last
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  void register_more(StateRegistry& state) override { tracker_.register_state(state); }
  Index rounds_;
  Tracker tracker_;
};

/// DIGing: W+ = A W - diag(mu) Y, Y+ = A Y + G+ - G. Takes any steps. 2 rounds, 2 vectors per edge.
class Diging final : public Algorithm {
 public:
  explicit Diging(Rows start, const NoOptions& = {});
  static Recursion recursion(const NoOptions&) {
    return {.name = "diging", .mixing = 0, .shifted = true, .tracked = true};
  }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  void register_more(StateRegistry& state) override { tracker_.register_state(state); }
  Tracker tracker_;
  Rows mixed_;
};

struct NextOptions {
  double gamma = 1;
  double theta = 0.01;
  static const FieldTable<NextOptions>& fields();
};

/// NEXT (Di Lorenzo and Scutari 2016, with linearised costs; constants not verified against the original):
///   Z = W - (gamma_i / tau) Y,   W+ = A Z,   Y+ = A Y + G+ - G,   gamma_i = gamma_{i-1} (1 - theta gamma_{i-1}).
/// Takes one constant step, 1/tau. 2 rounds, 2 vectors per edge.
class Next final : public Algorithm {
 public:
  Next(Rows start, const NextOptions& options);
  static Recursion recursion(const NextOptions&) { return {.name = "next", .tracked = true}; }
  [[nodiscard]] bool blends() const override { return true; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override;

 private:
  void register_more(StateRegistry& state) override;
  NextOptions options_;
  double gamma_;
  Tracker tracker_;
};

}  // namespace polyhop

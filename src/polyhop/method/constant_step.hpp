// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// A step that depends on nothing but the iteration.
class GivenStep : public StepSize {
 public:
  [[nodiscard]] std::optional<double> given(Index i) const override = 0;
  [[nodiscard]] bool is_common() const final { return true; }

 private:
  void do_choose(const Iterate& at, Network& network, std::span<double> mu) final;
};

/// mu_k = value, for every agent and iteration. No communication.
struct ConstantOptions {
  double value = 0;
  static const FieldTable<ConstantOptions>& fields();
};

class ConstantStep final : public GivenStep {
 public:
  ConstantStep(const ConstantOptions& options, const Setting&) : options_(options) {}
  [[nodiscard]] std::optional<double> given(Index i) const override;

 private:
  ConstantOptions options_;
};

/// mu_k = value / (i+1)^power at iteration i = 0, 1, ... No communication.
struct DecayOptions {
  double value = 0;
  double power = 0.5;
  static const FieldTable<DecayOptions>& fields();
};

class DecayingStep final : public GivenStep {
 public:
  DecayingStep(const DecayOptions& options, const Setting&) : options_(options) {}
  [[nodiscard]] std::optional<double> given(Index i) const override;

 private:
  DecayOptions options_;
};

/// mu_k = value min(1, (i+1)/(warmup+1)) factor^floor(i/every) at iteration i = 0, 1, ...: a warm-up, then a drop every
/// `every` iterations (0: no drops). Or the i-th number of `file`, repeating the last one. No communication.
struct ScheduleOptions {
  std::optional<double> value;
  Index warmup = 0;
  Index every = 0;
  double factor = 0.5;
  std::optional<std::string> file;
  static const FieldTable<ScheduleOptions>& fields();
  /// Throws InputError unless exactly one of value and file is given.
  void check(const std::string& path, int line = 0) const;
};

class ScheduledStep final : public GivenStep {
 public:
  /// Throws InputError if the file cannot be read, is empty, or contains a step below 0.
  ScheduledStep(const ScheduleOptions& options, const Setting& setting);
  [[nodiscard]] std::optional<double> given(Index i) const override;

 private:
  [[nodiscard]] double stairs(Index i) const;
  ScheduleOptions options_;
  std::vector<double> listed_;  // read from the file
};

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/level_estimate.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// What a rule uses for Jhat_k(w^o): zero, one number, one number per agent (in the experiment's file or in a separate
/// one), the true value of the current sample at a known w^o, or a level estimated along the way. If the recursion
/// tracks the network's averages, one number is needed, J(w^o): a list is rejected, and "per-sample" means the known
/// optimum.
struct Optimum {
  enum class Kind { number, list, file, per_sample, estimate };
  Kind kind = Kind::number;
  double number = 0;
  std::vector<double> list;
  std::string file;
};

template <>
struct Codec<Optimum> {
  static std::string type() { return "\"zero\" | number | list | { file = \"...\" } | \"per-sample\" | \"estimate\""; }
  static Optimum read(const Value& v);
  static Value write(const Optimum& optimum);
};

/// Jhat_k(w^o) for the agents of a block, according to an Optimum.
class OptimalValues {
 public:
  /// Throws InputError if a list does not have one number per agent, or if a known optimum is needed and there is none.
  OptimalValues(const Optimum& optimum, const Setting& setting);
  /// The values for the current sample; valid until the next call. Call it once per iteration: an estimate learns from
  /// `at.values()` for later iterations.
  std::span<const double> on_sample(const Iterate& at, Network& network);
  /// True if it reads `at.values()`.
  [[nodiscard]] bool needs_values() const { return estimate_.has_value(); }
  /// The levels estimated so far; empty if nothing is estimated.
  [[nodiscard]] std::span<const double> levels() const;
  /// Registers what an estimate remembers.
  void register_state(StateRegistry& state);

 private:
  void know_average(const Optimum& optimum, const Setting& setting);

  std::vector<double> values_;
  Rows minimiser_;  // one row; empty unless per-sample
  std::optional<LevelEstimate> estimate_;
};

/// The known minimiser as a row, or an InputError that says why `path` needs it.
Rows known_minimiser(const Setting& setting, const std::string& path);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// What a rule takes for Jhat_k(w^o): zero, one number, a number for each agent (in the file or in a file of
/// its own), or the true value of the current sample at a known w^o.
struct Optimum {
  enum class Kind { number, list, file, per_sample };
  Kind kind = Kind::number;
  Real number = 0;
  std::vector<Real> list;
  std::string file;
};

template <>
struct Codec<Optimum> {
  static std::string type() { return "\"zero\" | number | list | { file = \"...\" } | \"per-sample\""; }
  static Optimum read(const Value& v);
  static Value write(const Optimum& optimum);
};

/// Jhat_k(w^o) for the agents of a block, as an Optimum says.
class OptimalValues {
 public:
  /// Throws InputError when a list is not one number an agent, or no minimiser is known where one is needed.
  OptimalValues(const Optimum& optimum, const Setting& setting);
  /// The values for the current sample; valid until the next call.
  std::span<const Real> on_sample(Oracle& oracle);

 private:
  std::vector<Real> values_;
  Rows minimiser_;  // one row; empty unless per-sample
};

/// The known minimiser as a row, or an InputError that says why `path` needs one.
Rows known_minimiser(const Setting& setting, const std::string& path);

}  // namespace polyhop

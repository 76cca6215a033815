// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/method/differences.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// An upper limit on the steps: none, a constant, gamma/sqrt(i+1), the distance rule, or what curvature allows.
struct Cap {
  enum class Kind { none, constant, decaying, distance, curvature };
  Kind kind = Kind::none;
  double value = 0;  // the constant, gamma, or the factor of the distance rule
};
template <>
struct Codec<Cap> {
  static std::string type() {
    return "\"none\" | number > 0 | \"GAMMA/sqrt(i+1)\" | \"distance\" | \"FACTOR*distance\" | \"curvature\"";
  }
  static Cap read(const Value& v);
  static Value write(const Cap& cap);
};

/// Whether the energies in the distance rule are averaged over neighbours.
enum class Sums { mixed, own };
template <>
struct EnumNames<Sums> {
  static constexpr std::array<std::pair<Sums, std::string_view>, 2> names = {
      {{Sums::mixed, "mixed"}, {Sums::own, "own"}}};
};

/// Keeps steps below a cap, and remembers what the cap depends on.
class StepCap {
 public:
  /// `zeros`: rows like the models'.
  StepCap(const Cap& cap, Sums sums, const Rows& zeros);
  /// Multiplies the cap of the distance rule from now on.
  void loosen(double factor) { cap_.value = factor; }
  /// Whether `limit` reads the agents' energies.
  [[nodiscard]] bool needs_energy() const { return cap_.kind == Cap::Kind::distance; }
  /// `energy`: g_k.(B G)_k, the part of an agent's gradient that survives the averaging.
  void limit(const Iterate& at, std::span<const double> energy, Network& network, std::span<double> mu);
  void register_state(StateRegistry& state);

 private:
  void limit_by_distance(const Iterate& at, std::span<const double> energy, Network& network, std::span<double> mu);
  void limit_by_curvature(const Iterate& at, Network& network, std::span<double> mu);

  Cap cap_;
  Sums sums_;
  // Remembered for "distance".
  std::vector<double> sum_, radius_;
  Rows start_;
  // Remembered for "curvature".
  std::optional<Differences> differences_;
  std::vector<double> allowed_;
};

}  // namespace polyhop

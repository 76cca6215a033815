// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/agreement.hpp"
#include "polyhop/method/differences.hpp"
#include "polyhop/method/step_size.hpp"

namespace polyhop {

/// The two quotients of Barzilai and Borwein.
enum class Quotient { long_step, short_step };
template <>
struct EnumNames<Quotient> {
  static constexpr std::array<std::pair<Quotient, std::string_view>, 2> names = {
      {{Quotient::long_step, "long"}, {Quotient::short_step, "short"}}};
};

/// Barzilai and Borwein's steps. Each agent uses its own last move: with s = w_i - w_{i-1} and z the difference of its
/// gradients at the two points on the current sample,
///   mu_k = s.s / s.z  (long)   or   s.z / z.z  (short),   clipped to [min, max];
/// `first` at i = 0, and the agent's own previous step if s.z <= 0 or it has not moved. With gradient tracking, this is
/// the method of Gao et al. (2022); with DGD, that of Iyanuoluwa (2022); constants not verified against the originals.
/// Costs 1 more gradient unless batch = "all", and 1 scalar if agents agree on a step.
struct BarzilaiBorweinOptions {
  Quotient kind = Quotient::long_step;
  double first = 1e-3;
  double min = 1e-6;
  double max = 10;
  Agree agree = Agree::none;
  static const FieldTable<BarzilaiBorweinOptions>& fields();
  /// Throws InputError if min > max.
  void check(const std::string& path, int line = 0) const;
};

class BarzilaiBorweinStep final : public StepSize {
 public:
  BarzilaiBorweinStep(const BarzilaiBorweinOptions& options, const Setting& setting);
  void register_state(StateRegistry& state) override;

 private:
  void do_choose(const Iterate& at, Network& network, std::span<double> mu) override;
  [[nodiscard]] double quotient(std::size_t k) const;

  BarzilaiBorweinOptions options_;
  Differences differences_;
  std::vector<double> own_;  // each agent's step, before any agreement
};

}  // namespace polyhop

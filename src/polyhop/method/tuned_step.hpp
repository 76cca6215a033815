// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/rule_table.hpp"

namespace polyhop {

/// What a constant is tuned for: the number of iterations until the last iterates reach the target, or the excess risk
/// at the end of a run, of the last or of the averaged iterates.
enum class TuningGoal { iterations_to_target, final_risk, final_risk_averaged };
template <>
struct EnumNames<TuningGoal> {
  static constexpr std::array<std::pair<TuningGoal, std::string_view>, 3> names = {
      {{TuningGoal::iterations_to_target, "iterations-to-target"},
       {TuningGoal::final_risk, "final-risk"},
       {TuningGoal::final_risk_averaged, "final-risk-averaged"}}};
};

/// A rule whose constant is `factor` times the best one, found by a search over complete runs. It exists only in an
/// experiment's file: before anything runs, the experiment replaces it by the rule that it tunes.
struct TunedStep {
  double factor = 1;
  Value of = Value("constant");
  std::optional<TuningGoal> goal = {};  // none: the experiment's goal
  static const FieldTable<TunedStep>& fields();
};

/// The tuned rule with this constant; its other options as given. Throws InputError if `of` is not a rule in the list
/// that has a constant.
RuleSpec with_constant(const TunedStep& tuned, double constant, const std::string& path,
                       std::span<const RuleEntry> among = rules());

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/rule_table.hpp"

namespace polyhop {

/// A rule whose constant is `factor` times the best one, found by a search over whole runs. A name for an experiment's
/// file: the experiment puts the rule that it tunes in its place before anything runs, so there is no rule to build.
struct TunedStep {
  Real factor = 1;
  Value of = Value("constant");
  static const FieldTable<TunedStep>& fields();
};

/// The rule that is tuned, with this for its constant; its other options as given. Throws InputError where `of` is no
/// rule of the list that has a constant.
RuleSpec with_constant(const TunedStep& tuned, Real constant, const std::string& path,
                       std::span<const RuleEntry> among = rules());

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/tuned_step.hpp"

#include <algorithm>
#include <utility>

namespace polyhop {

const FieldTable<TunedStep>& TunedStep::fields() {
  using O = TunedStep;
  static const auto table =
      FieldTable<O>()
          .add("factor", &O::factor, "multiplies the best constant", {above(0)})
          .add("of", &O::of, "the rule whose constant to search for: \"decay\", or { rule = \"decay\", power = 1 }")
          .add("goal", &O::goal, "what to tune for; default: that of [tuning]");
  return table;
}

RuleSpec with_constant(const TunedStep& tuned, double constant, const std::string& path,
                       std::span<const RuleEntry> among) {
  const std::string where = path + ".of";
  Value rule = tuned.of;
  if (const auto* name = tuned.of.as<std::string>()) rule = Value(Value::Table{{"rule", Value(*name)}});
  const Value* name = rule.find("rule");
  const auto* text = name != nullptr ? name->as<std::string>() : nullptr;
  const auto entry =
      std::ranges::find_if(among, [&](const RuleEntry& e) { return text != nullptr && e.name == *text; });
  if (entry == among.end()) return read_rule(tuned.of, where, among);  // throws with the reason
  if (entry->constant.empty()) {
    std::string tunable;
    for (const RuleEntry& e : among) {
      if (!e.constant.empty()) tunable += (tunable.empty() ? "" : ", ") + in_quotes(e.name);
    }
    throw InputError(where, "rule " + in_quotes(*text) + " has no constant to tune; rules that do: " + tunable,
                     tuned.of.line);
  }
  if (const Value* given = rule.find(entry->constant)) {
    throw InputError(where + "." + entry->constant, "is what the search looks for; leave it out", given->line);
  }
  rule[entry->constant] = Value(constant);
  return read_rule(rule, where, among);
}

}  // namespace polyhop

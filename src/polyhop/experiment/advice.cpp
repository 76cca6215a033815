// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/advice.hpp"

#include <algorithm>

#include "polyhop/core/memory_limit.hpp"
#include "polyhop/method/rule_table.hpp"

namespace polyhop {
namespace {

// The value of one of the rule's options, as it would appear in a file.
std::string option(const Method& method, std::string_view key) {
  const Value* value = method.rule.options.find(key);
  return value != nullptr ? value->text() : "";
}

// Whether this is a built-in rule with such an option, given or not.
bool takes(const Method& method, std::string_view key) {
  const auto rule = std::ranges::find(rules(), method.rule.name, &RuleEntry::name);
  return rule != rules().end() && std::ranges::count(rule->options, key, &FieldInfo::name) > 0;
}

std::string for_gap(const Method& method) {
  // Only the published bound adds ||w_k - w_l||^2 to the step by default: no damping or clipping makes up for it.
  if (option(method, "bound") == "\"paper\"") {
    return "the published steps do not shrink with the gradients, so they can diverge (docs/failures.md); use bound = "
           "\"tight\" (\"linear\" where no smoothness is known), damping = \"rows\", project = true";
  }
  if (option(method, "damping") == "\"paper\"" || option(method, "project") == "false") {
    return "sweeps cannot diverge with damping = \"rows\" and project = true";
  }
  if (option(method, "cap") == "\"none\"") {
    return "the optimum given to the rule may be too low for noisy samples; use cap = \"distance\", or step = "
           "\"auto\"";
  }
  return "use step = \"auto\"";
}

std::string after_divergence(const Method& method) {
  const std::string& rule = method.rule.name;
  if (method.algorithm.name == "auto") return "use step = \"tuned\"; its search rejects steps that diverge";
  if (rule == "gap") return for_gap(method);
  if (method.tuned) return "the step found on other seeds is too large for these; factor = 0.5 takes half of it";
  if (!method.rule.constant.empty()) {
    const std::string tuned = rule == "constant" ? "\"tuned\"" : "{ rule = \"tuned\", of = " + in_quotes(rule) + " }";
    return "the step is too large; step = " + tuned +
           " finds the best one on other seeds, and with factor = 0.5 takes half of it";
  }
  // Rules with differences of gradients can agree on a step; others may have a cap.
  if (takes(method, "agree")) {
    return "made for full gradients (problem.batch = \"all\"); use agree = \"min\", or step = \"auto\"";
  }
  if (takes(method, "max")) return "limit the step: max = ..., or use step = \"auto\"";
  return "use step = \"auto\"";
}

}  // namespace

std::string advice(const Method& method, Status status) {
  if (status == Status::diverged) return after_divergence(method);
  if (status != Status::stalled) return "";
  if (method.rule.options.find("optimum") == nullptr) return "every agent's step is 0; use step = \"tuned\"";
  return "every agent's step is 0: the cost is at or below the optimum given to the rule; give a smaller optimum";
}

std::string kept_note(const std::string& method, double bytes) {
  return "'" + method + "' remembers its samples' last gradients, which takes " + memory_text(bytes) + " per run.";
}

std::string batch_note(const Batch& batch, Index samples) {
  if (batch.all || batch.size <= samples) return "";
  return "A batch of " + std::to_string(batch.size) + " is more than the " + std::to_string(samples) +
         " samples of an agent, so samples repeat within it; a batch of \"all\" takes each once.";
}

std::string batch_note(const Value& config) {
  const Value* problem = config.find("problem");
  const Value* batch = problem != nullptr ? problem->find("batch") : nullptr;
  const Value* samples = problem != nullptr ? problem->find("samples") : nullptr;
  const auto* count = samples != nullptr ? samples->as<std::int64_t>() : nullptr;
  const auto* size = batch != nullptr ? batch->as<std::int64_t>() : nullptr;
  // For other data the number of samples is unknown here: 0.
  return size != nullptr && count != nullptr && *count > 0 ? batch_note(Batch{*size, false}, *count) : "";
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/algorithm_table.hpp"

#include <algorithm>
#include <cstddef>

#include "polyhop/core/named_entry.hpp"
#include "polyhop/method/adaptive_moments.hpp"
#include "polyhop/method/automatic.hpp"
#include "polyhop/method/diffusion.hpp"
#include "polyhop/method/exact_diffusion.hpp"
#include "polyhop/method/extra.hpp"
#include "polyhop/method/gradient_tracking.hpp"
#include "polyhop/method/kuruzov.hpp"
#include "polyhop/method/tree_quasi_newton.hpp"

namespace polyhop {
namespace {

// One name for both forms.
AlgorithmEntry exact_diffusion_entry() {
  using Options = ExactDiffusionOptions;
  auto out = algorithm_entry<ExactDiffusion, Options>("exact-diffusion",
                                                      "exact diffusion (NIDS): no bias when agents' minimisers differ",
                                                      "1 vector, and 1 scalar if steps are agent-wise");
  const auto primal = algorithm_entry<PrimalExactDiffusion, Options>(out.name, out.summary, out.cost);
  out.read = [dual = out.read, primal = primal.read](const Value& table, const std::string& path) {
    const auto form = Options::fields().read(table, path, {"name"}).form;
    return form == DiffusionForm::primal ? primal(table, path) : dual(table, path);
  };
  return out;
}

// "a", "b" or "c"
std::string one_of(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t n = 0; n < names.size(); ++n) {
    out += (n == 0 ? "" : n + 1 < names.size() ? ", " : " or ") + in_quotes(names[n]);
  }
  return out;
}

// Why steps of this kind cannot be taken.
std::string reason(const AlgorithmSpec& algorithm, std::span<const RuleEntry> among) {
  switch (algorithm.takes) {
    case Steps::own:
      return "chooses its own steps; leave `step` out";
    case Steps::constant:
      return "takes one constant step, the same for all agents and iterations: " +
             one_of(rules_for(algorithm.takes, among));
    case Steps::common:
      return "takes a step that is the same for all agents: " + one_of(rules_for(algorithm.takes, among));
    case Steps::agent_wise:
      break;
  }
  return "";
}

// The two keys of a method are easily mixed up.
void refuse_rule(const Value& algorithm, const std::string& path, std::span<const AlgorithmEntry> among) {
  const Value* given = algorithm.as<std::string>() != nullptr ? &algorithm : algorithm.find("name");
  const auto* name = given != nullptr ? given->as<std::string>() : nullptr;
  if (name == nullptr || std::ranges::count(among, *name, &AlgorithmEntry::name) > 0) return;
  if (std::ranges::count(rules(), *name, &RuleEntry::name) == 0) return;
  throw InputError(path, in_quotes(*name) + " is a rule, not an algorithm; write step = " + in_quotes(*name),
                   given->line);
}

}  // namespace

const std::vector<AlgorithmEntry>& algorithms() {
  static const std::vector<AlgorithmEntry> table = {
      algorithm_entry<Diffusion>("atc", "ATC-diffusion: adapt, then combine [eq:atc]", "1 vector"),
      algorithm_entry<CombineFirst>("cta", "CTA-diffusion: combine, then adapt", "1 vector"),
      algorithm_entry<GradientDescent>("dgd", "decentralized gradient descent: A W - mu grad(W)", "1 vector"),
      exact_diffusion_entry(),
      algorithm_entry<Extra>("extra", "EXTRA: no bias, for one constant step", "1 vector", Steps::constant),
      algorithm_entry<GradientTracking, TrackingOptions>(
          "gradient-tracking", "gradient tracking (Aug-DGM): steps along a consensus on the gradient",
          "2 vectors per round"),
      algorithm_entry<Diging>("diging", "DIGing: gradient tracking, combine then adapt", "2 vectors"),
      algorithm_entry<Next, NextOptions>("next", "NEXT: tracking with a falling step; its constant is 1/tau",
                                         "2 vectors", Steps::constant),
      algorithm_entry<Kuruzov, KuruzovOptions>("kuruzov", "deterministic, with a line search over the whole network",
                                               "2 vectors, as many scalars as the diameter, 2 or more loss values",
                                               Steps::own),
      algorithm_entry<TreeQuasiNewton, QuasiNewtonOptions>(
          "quasi-newton", "L-BFGS on sums over a spanning tree, for full gradients",
          "1 vector and 1 scalar along a spanning tree, 1 loss value", Steps::own),
      algorithm_entry<Dadam, DadamOptions>("dadam", "DADAM: one step per coordinate, scaled by a constant", "1 vector",
                                           Steps::common),
      algorithm_entry<Damsgrad, DamsgradOptions>(
          "damsgrad", "decentralized AMSGrad: agents agree on the coordinates' scales", "2 vectors", Steps::common),
      algorithm_entry<Automatic>(
          "auto",
          "Newton or quasi-Newton steps on sums for linear models; otherwise exact diffusion with its own steps",
          "like quasi-newton with full gradients; a matrix and a vector along a tree per epoch; otherwise 1 vector, 13 "
          "scalars",
          Steps::own),
  };
  return table;
}

AlgorithmSpec read_algorithm(const Value& algorithm, const std::string& path, std::span<const AlgorithmEntry> among) {
  refuse_rule(algorithm, path, among);
  return read_named(among, "name", "an algorithm: algorithm = \"atc\" or algorithm = { name = \"atc\", ... }",
                    algorithm, path);
}

void check_pair(const AlgorithmSpec& algorithm, const RuleSpec& rule, const std::string& path, int line,
                std::span<const RuleEntry> among) {
  if (rule.name == "auto" && algorithm.name != "auto") {
    throw InputError(
        path, "rule \"auto\" chooses the algorithm too; leave `algorithm` = " + in_quotes(algorithm.name) + " out",
        line);
  }
  const bool own = rule.gives == Steps::own;
  if (own && algorithm.takes != Steps::own) {
    throw InputError(path, "missing; " + in_quotes(algorithm.name) + " needs a rule: step = \"gap\"", line);
  }
  if (own || (algorithm.takes != Steps::own && rule.gives <= algorithm.takes)) return;
  throw InputError(path,
                   "rule " + in_quotes(rule.name) + " does not go with algorithm " + in_quotes(algorithm.name) +
                       ", which " + reason(algorithm, among),
                   line);
}

}  // namespace polyhop

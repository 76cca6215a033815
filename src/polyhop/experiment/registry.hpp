// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "polyhop/method/algorithm_table.hpp"
#include "polyhop/method/rule_table.hpp"
#include "polyhop/problem/loss_table.hpp"
#include "polyhop/problem/problem_table.hpp"

namespace polyhop {

/// The names that an experiment's file can use: the built-in losses, step-size rules and algorithms, and whatever a
/// program adds. An added entry gets everything that a built-in one has: validation, the store, resuming, tuning,
/// ranking, pages, MPI.
///   Registry registry;
///   registry.add(loss_entry<Quantile, QuantileOptions>("quantile", "..."));
///   registry.add(rule_entry<ShyStep, ShyOptions>("shy", "...", "nothing"));
///   run(read_config_file("mine.toml", {}, registry));
class Registry {
 public:
  Registry();

  /// Throws Error if the name is taken, or if an option is named like one of the keys beside it.
  Registry& add(LossEntry loss);
  Registry& add(ProblemEntry problem);
  Registry& add(RuleEntry rule);
  Registry& add(AlgorithmEntry algorithm);

  [[nodiscard]] std::span<const LossEntry> losses() const { return losses_; }
  [[nodiscard]] std::span<const ProblemEntry> problems() const { return problems_; }
  [[nodiscard]] std::span<const RuleEntry> rules() const { return rules_; }
  [[nodiscard]] std::span<const AlgorithmEntry> algorithms() const { return algorithms_; }

 private:
  std::vector<LossEntry> losses_;
  std::vector<ProblemEntry> problems_;
  std::vector<RuleEntry> rules_;
  std::vector<AlgorithmEntry> algorithms_;
};

/// Only the built-in tables.
const Registry& builtin();

}  // namespace polyhop

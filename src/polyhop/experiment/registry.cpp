// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/registry.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "polyhop/core/error.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/problem/problem_options.hpp"

namespace polyhop {
namespace {

template <class Entry>
void insert(std::vector<Entry>& entries, Entry entry, const std::string& kind) {
  if (std::ranges::find(entries, entry.name, &Entry::name) != entries.end()) {
    throw Error("there is already a " + kind + " called '" + entry.name + "'; choose another name");
  }
  entries.push_back(std::move(entry));
}

// Options of losses and problems are in [problem], beside keys that every problem has.
void refuse_taken_keys(const std::string& kind, const std::string& name, const std::vector<FieldInfo>& options) {
  const std::vector<std::string> taken = ProblemOptions::fields().names();
  for (const FieldInfo& option : options) {
    if (std::ranges::find(taken, option.name) == taken.end()) continue;
    throw Error("the " + kind + " '" + name + "' has an option '" + option.name +
                "', which is already a key of [problem]; choose another name for it");
  }
}

}  // namespace

Registry::Registry() : losses_(polyhop::losses()), rules_(polyhop::rules()), algorithms_(polyhop::algorithms()) {}

Registry& Registry::add(LossEntry loss) {
  refuse_taken_keys("loss", loss.name, loss.options);
  insert(losses_, std::move(loss), "loss");
  return *this;
}

Registry& Registry::add(ProblemEntry problem) {
  refuse_taken_keys("problem", problem.name, problem.options);
  const auto sets = bundled_sets();
  if (problem.name == "synthetic" || problem.name == "file" ||
      std::ranges::find(sets, problem.name, &BundledSet::name) != sets.end()) {
    throw Error("'" + problem.name + "' already names data; choose another name for the problem");
  }
  insert(problems_, std::move(problem), "problem");
  return *this;
}

Registry& Registry::add(RuleEntry rule) {
  insert(rules_, std::move(rule), "rule");
  return *this;
}

Registry& Registry::add(AlgorithmEntry algorithm) {
  insert(algorithms_, std::move(algorithm), "algorithm");
  return *this;
}

const Registry& builtin() {
  static const Registry registry;
  return registry;
}

}  // namespace polyhop

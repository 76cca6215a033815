// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/algorithm.hpp"
#include "polyhop/method/rule_table.hpp"

namespace polyhop {

/// Builds an algorithm on a block, starting from the agents' initial models.
using AlgorithmFactory = std::function<std::unique_ptr<Algorithm>(Rows start, const Setting& setting)>;

/// An algorithm with its options read and validated: ready to be built on every block.
struct AlgorithmSpec {
  std::string name;
  Value options;  // resolved: every field with its value
  Steps takes = Steps::agent_wise;
  std::function<Recursion(const CombinationMatrix&)> recursion;  // on a given network
  AlgorithmFactory build;
};

/// A line in the table of algorithms: everything the command line, docs and Python know about an algorithm.
struct AlgorithmEntry {
  std::string name;
  std::string summary;
  std::string cost;  // of an iteration, as text, without the step size
  Steps takes = Steps::agent_wise;
  std::vector<FieldInfo> options;
  std::function<AlgorithmSpec(const Value& table, const std::string& path)> read;
};

/// The algorithms of polyhop.
const std::vector<AlgorithmEntry>& algorithms();

/// Reads `algorithm = "..."` or `algorithm = { name = "...", ... }`, from polyhop's table or from your own list.
AlgorithmSpec read_algorithm(const Value& algorithm, const std::string& path,
                             std::span<const AlgorithmEntry> among = algorithms());

/// The table line of an algorithm A that has `static Recursion recursion(const Options&)`, optionally with the
/// network's `const CombinationMatrix&` as a second argument, and whose constructor takes (Rows start, const Options&)
/// and optionally (const Setting&). To add your own:
///   std::vector<AlgorithmEntry> mine = algorithms();
///   mine.push_back(algorithm_entry<LazyDiffusion>("lazy-diffusion", "combines by halves", "1 vector"));
///   const AlgorithmSpec lazy = read_algorithm("lazy-diffusion", "algorithm", mine);
template <class A, class Options = NoOptions>
AlgorithmEntry algorithm_entry(std::string name, std::string summary, std::string cost,
                               Steps takes = Steps::agent_wise) {
  auto read = [name, takes](const Value& table, const std::string& path) {
    const Options options = Options::fields().read(table, path, {"name"});
    const auto build = [options](Rows start, const Setting& setting) {
      if constexpr (std::is_constructible_v<A, Rows, const Options&, const Setting&>) {
        return std::make_unique<A>(std::move(start), options, setting);
      } else {
        return std::make_unique<A>(std::move(start), options);
      }
    };
    const auto recursion = [options](const CombinationMatrix& matrix) {
      if constexpr (requires { A::recursion(options, matrix); }) {
        return A::recursion(options, matrix);
      } else {
        return A::recursion(options);
      }
    };
    return AlgorithmSpec{name, Options::fields().write(options), takes, recursion, build};
  };
  return {std::move(name), std::move(summary), std::move(cost), takes, Options::fields().info(), std::move(read)};
}

/// Rejects a rule whose steps the algorithm cannot take; the message gives the reason and the listed rules that work.
void check_pair(const AlgorithmSpec& algorithm, const RuleSpec& rule, const std::string& path, int line,
                std::span<const RuleEntry> among = rules());

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/method/algorithm.hpp"
#include "polyhop/method/rule_table.hpp"

namespace polyhop {

/// Builds an algorithm on a block, from the agents' first models.
using AlgorithmFactory = std::function<std::unique_ptr<Algorithm>(Rows start, const Setting& setting)>;

/// An algorithm, its options read and validated: ready to be built on every block.
struct AlgorithmSpec {
  std::string name;
  Value options;  // resolved: every field with its value
  Steps takes = Steps::agent_wise;
  Recursion recursion;
  AlgorithmFactory build;
};

/// One line of the table of algorithms: everything the command line, docs and Python know about one.
struct AlgorithmEntry {
  std::string name;
  std::string summary;
  std::string cost;  // of an iteration, in words, the step size apart
  Steps takes = Steps::agent_wise;
  std::vector<FieldInfo> options;
  std::function<AlgorithmSpec(const Value& table, const std::string& path)> read;
};

const std::vector<AlgorithmEntry>& algorithms();

/// Reads `algorithm = "..."` or `algorithm = { name = "...", ... }`.
AlgorithmSpec read_algorithm(const Value& algorithm, const std::string& path);

/// Refuses a rule whose steps the algorithm cannot take, with the reason.
void check_pair(const AlgorithmSpec& algorithm, const RuleSpec& rule, const std::string& path, int line);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/experiment/include.hpp"
#include "polyhop/experiment/registry.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/method/algorithm_table.hpp"
#include "polyhop/method/rule_table.hpp"
#include "polyhop/method/tuned_step.hpp"
#include "polyhop/network/faults.hpp"
#include "polyhop/problem/gradient_estimate.hpp"
#include "polyhop/problem/problem_options.hpp"

namespace polyhop {

/// The seeds of an experiment: a number, a list, or "0..19" with both ends.
struct Seeds {
  std::vector<std::uint64_t> list = {0};
};
template <>
struct Codec<Seeds> {
  static std::string type() { return "integer | list | \"first..last\""; }
  static Seeds read(const Value& v);
  static Value write(const Seeds& seeds);
};

/// Over which models the excess risk is averaged: all agents' while K*K*N*M is at most 2e9 (auto), all agents', or n
/// agents'.
struct RecordedAgents {
  enum class Kind { automatic, all, some };
  Kind kind = Kind::automatic;
  Index count = 0;
};
template <>
struct Codec<RecordedAgents> {
  static std::string type() { return "\"auto\" | \"all\" | integer >= 1"; }
  static RecordedAgents read(const Value& v);
  static Value write(const RecordedAgents& agents);
};

enum class RecordedSteps { summary, agents };
template <>
struct EnumNames<RecordedSteps> {
  static constexpr std::array<std::pair<RecordedSteps, std::string_view>, 2> names = {
      {{RecordedSteps::summary, "summary"}, {RecordedSteps::agents, "agents"}}};
};

/// The [record] table.
struct RecordOptions {
  RecordedAgents agents;
  RecordedSteps steps = RecordedSteps::summary;
  static const FieldTable<RecordOptions>& fields();
};

/// The [tuning] table.
struct TuningOptions {
  std::optional<Seeds> seeds;
  TuningGoal goal = TuningGoal::iterations_to_target;
  double resolution = 0.05;
  Index budget = 40;
  static const FieldTable<TuningOptions>& fields();
};

/// The keys outside all tables, and [graph], [problem], [faults], [record], [tuning].
struct ExperimentOptions {
  std::string name = "experiment";
  Seeds seeds;
  Index iterations = 1000;
  Index record_every = 10;
  double target = 1e-6;
  bool stop_at_target = false;
  std::string start = "zero";
  std::optional<double> time_limit;
  double checkpoint_every = 5;
  GraphOptions graph;
  ProblemOptions problem;
  FaultOptions faults;
  RecordOptions record;
  TuningOptions tuning;
  static const FieldTable<ExperimentOptions>& fields();
};

/// A rule whose constant must still be found.
struct TunedRule {
  TunedStep options;
  std::function<RuleSpec(double constant)> with;  // makes the tuned rule with this constant
};

/// One [[method]], with its algorithm and rule read.
struct Method {
  std::string name;
  AlgorithmSpec algorithm;
  RuleSpec rule;
  bool average = true;
  std::optional<TunedRule> tuned = {};
  GradientEstimate gradient = GradientEstimate::plain;
};

/// A whole experiment, validated.
struct Config {
  ExperimentOptions options;
  std::vector<Method> methods;
  Sources sources = {};  // for errors found later, to say where in the files they are
};

/// The keys of a [[method]] table, for docs and help.
std::vector<FieldInfo> method_fields();

/// Reads a [[method]] table.
Method read_method(const Value& table, const std::string& path, const Registry& registry = builtin());

/// Reads a configuration from a tree of values; relative file names start from `folder`. A list as the value of a
/// method's option makes one method per entry. Names are looked up in the registry, which is no longer needed after
/// this returns. Throws InputError.
Config read_config(Value root, const std::string& folder = "", const Registry& registry = builtin());

/// The same from a TOML file, with `settings` applied on top.
Config read_config_file(const std::string& file, const std::vector<KeySetting>& settings = {},
                        const Registry& registry = builtin());

/// All keys outside methods that apply, with their values, as in a file.
Value written(const ExperimentOptions& options);

/// The same in a form that never changes: a store finds runs, even those of earlier versions, by a hash of its text.
Value identity(const ExperimentOptions& options);

/// Adds the method's gradients to the settings by which a store finds a run. Plain gradients are left out, so that runs
/// of earlier versions are found.
void add_gradient(const Method& method, Value& settings);

/// An algorithm as in a file, with every option written out.
Value to_value(const AlgorithmSpec& algorithm);

/// The configuration with every option written out that has an effect; it can be read again.
Value resolved(const Config& config);

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/problem/problem.hpp"
#include "polyhop/problem/sampler.hpp"

namespace polyhop {

/// Everything a problem may know when it is made for the agents of a block: all of them, or those of one process.
struct ProblemSetting {
  Block block;
  Index agents = 0;  // in all processes
  std::uint64_t seed = 0;
  Batch batch = {};
  Sampling sampling = Sampling::uniform;
  Element element = Element::float64;  // the number type of models
};

/// Your own problem with its options read and validated: ready to be made for every block.
struct ProblemSpec {
  std::string name;
  Value options = Value::Table{};  // resolved: every field with its value
  std::function<std::shared_ptr<const Problem>(const ProblemSetting&)> build = {};
};

/// A line in a table of problems, which an experiment selects as its `source`. None is built in: linear models on data
/// are made from a loss (loss_table.hpp).
struct ProblemEntry {
  std::string name;
  std::string summary;
  std::vector<FieldInfo> options;
  std::function<ProblemSpec(const Value& options, const std::string& path)> read;
};

/// The table line of a problem that `make(options, setting)` makes:
///   problem_entry<SensorOptions>("sensors", "where is the source of a signal",
///                                [](const SensorOptions& o, const ProblemSetting& s) { return sensors(o, s); })
template <class Options = NoOptions, class Make>
ProblemEntry problem_entry(std::string name, std::string summary, Make make) {
  const auto read = [name, make](const Value& table, const std::string& path) {
    const Options options = Options::fields().read(table, path);
    return ProblemSpec{name, Options::fields().write(options),
                       [options, make](const ProblemSetting& setting) -> std::shared_ptr<const Problem> {
                         return make(options, setting);
                       }};
  };
  return {std::move(name), std::move(summary), Options::fields().info(), read};
}

}  // namespace polyhop

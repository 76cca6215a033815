// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/problem/data_problem.hpp"
#include "polyhop/problem/linear_problem.hpp"
#include "polyhop/problem/loss.hpp"

namespace polyhop {

/// A loss with its options read and validated: ready to make the costs of any data.
struct LossSpec {
  std::string name;
  Value options = Value::Table{};  // resolved: every field with its value
  Task task = Task::regression;
  bool has_probabilities = false;
  std::shared_ptr<const Loss> loss = nullptr;  // of one prediction; null if there is one prediction per class
  /// `classes`: the number of classes, if the targets are classes.
  std::function<std::unique_ptr<DataProblem>(Dataset data, Index classes, LinearOptions options)> build = {};
};

/// Reads the name only: the loss's options, which stand beside it, are read by whoever has the tables.
template <>
struct Codec<LossSpec> {
  static std::string type();
  static LossSpec read(const Value& v) { return {.name = Codec<std::string>::read(v)}; }
  static Value write(const LossSpec& loss) { return loss.name; }
};

/// A line in the table of losses: everything the command line, model files, docs and Python know about a loss.
struct LossEntry {
  std::string name;
  std::string summary;
  Task task = Task::regression;
  std::vector<FieldInfo> options;
  std::function<LossSpec(const Value& options, const std::string& path)> read;
};

/// The table line of a loss that is one class, with a struct of options if it has any:
///   class Quantile final : public Loss { public: explicit Quantile(const QuantileOptions&); ... };
///   loss_entry<Quantile, QuantileOptions>("quantile", "tau max(r, 0) + (1 - tau) max(-r, 0), r = y - z, smoothed")
template <class L, class Options = NoOptions>
LossEntry loss_entry(std::string name, std::string summary) {
  const auto make = [](const Options& options) -> std::shared_ptr<const Loss> {
    if constexpr (std::is_constructible_v<L, const Options&>) {
      return std::make_shared<L>(options);
    } else {
      return std::make_shared<L>();
    }
  };
  const auto read = [name, make](const Value& table, const std::string& path) {
    const Options options = Options::fields().read(table, path);
    const std::shared_ptr<const Loss> loss = make(options);
    const auto build = [loss](Dataset data, Index, LinearOptions linear) -> std::unique_ptr<DataProblem> {
      return std::make_unique<LinearProblem>(std::move(data), loss, std::move(linear));
    };
    return LossSpec{name, Options::fields().write(options), loss->task(), loss->has_probabilities(), loss, build};
  };
  const Task task = make(Options{})->task();
  return {std::move(name), std::move(summary), task, Options::fields().info(), read};
}

/// The built-in losses.
const std::vector<LossEntry>& losses();

/// A built-in loss by name. Throws InputError on an unknown name, or on options that are not its own.
LossSpec builtin_loss(const std::string& name, const Value& options = Value::Table{});

}  // namespace polyhop

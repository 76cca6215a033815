// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/model_options.hpp"

#include <algorithm>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/named_entry.hpp"

namespace polyhop {
namespace {

bool has_option(const LossEntry& loss, const std::string& name) {
  return std::ranges::find(loss.options, name, &FieldInfo::name) != loss.options.end();
}

// The message for a key that the loss does not have.
std::string foreign_key(const std::string& key, const LossEntry& loss, std::span<const LossEntry> losses,
                        std::vector<std::string> known) {
  for (const LossEntry& other : losses) {
    if (has_option(other, key)) return "is an option of loss = " + in_quotes(other.name) + ", not of " + loss.name;
  }
  for (const FieldInfo& option : loss.options) known.push_back(option.name);
  return "unknown key" + suggestion(key, known);
}

// A loss that follows from the target later has no options.
void settle_without_loss(const ModelOptions& options, std::span<const LossEntry> losses, const std::string& prefix,
                         const std::vector<std::string>& others) {
  for (const auto& [key, value] : *options.loss_options.as<Value::Table>()) {
    for (const LossEntry& loss : losses) {
      if (!has_option(loss, key)) continue;
      throw InputError(prefix + key, "is an option of loss = " + in_quotes(loss.name) + ": name that loss too",
                       value.line);
    }
    throw InputError(prefix + key, "unknown key" + suggestion(key, others), value.line);
  }
}

}  // namespace

const FieldTable<ModelOptions>& ModelOptions::fields() {
  using O = ModelOptions;
  static const auto table =
      FieldTable<O>()
          .add("loss", &O::loss, "loss of the linear model")
          .rest(&O::loss_options, [](const O& o) { return o.loss.options; })
          .add("l2", &O::l2, "adds (l2/2)||w||^2 to every agent's cost", {at_least(0)})
          .add("partition", &O::partition, "how the samples of one file are dealt to the agents")
          .add("standardise", &O::standardise, "scale features to mean 0 and deviation 1, with sums over the network")
          .add("unit_rows", &O::unit_rows, "divide every sample's features by their norm")
          .add("intercept", &O::intercept, "add a feature that is always 1 and not penalised")
          .add("batch", &O::batch, "samples per agent and iteration")
          .add("sampling", &O::sampling, "how samples are drawn");
  return table;
}

void settle(ModelOptions& options, std::span<const LossEntry> losses, const std::string& path,
            const std::vector<std::string>& others) {
  const std::string prefix = path.empty() ? "" : path + ".";
  if (options.loss.name.empty()) return settle_without_loss(options, losses, prefix, others);
  std::vector<InputError> wrong;
  const LossEntry* loss = nullptr;
  try {
    loss = &entry_named(losses, options.loss.name, prefix + "loss");
  } catch (const InputError& e) {
    wrong.push_back(e);
  }
  for (const auto& [key, value] : *options.loss_options.as<Value::Table>()) {
    const auto has_key = [&, &name = key](const LossEntry& entry) { return has_option(entry, name); };
    if (loss != nullptr ? has_key(*loss) : std::ranges::any_of(losses, has_key)) continue;
    const std::string message =
        loss != nullptr ? foreign_key(key, *loss, losses, others) : "unknown key" + suggestion(key, others);
    wrong.emplace_back(prefix + key, message, value.line);
  }
  if (!wrong.empty()) throw InputError(wrong);
  options.loss = loss->read(options.loss_options, path);
}

}  // namespace polyhop

// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/problem/loss_table.hpp"
#include "polyhop/problem/partition.hpp"
#include "polyhop/problem/sampler.hpp"

namespace polyhop {

/// A linear model on data: the options that an experiment's [problem] and `fit` share. Flags, files, pages and messages
/// are generated from this list.
struct ModelOptions {
  LossSpec loss = builtin_loss("least-squares");  // without a name: it follows from the target
  Value loss_options = Value::Table{};            // as given beside the others, until they are read
  double l2 = 0;
  PartitionOptions partition = {};
  bool standardise = false;
  bool unit_rows = false;
  bool intercept = false;
  Batch batch = {};
  Sampling sampling = Sampling::uniform;
  static const FieldTable<ModelOptions>& fields();
};

/// Finds the loss by its name, if it has one, and reads its options. `path` is that of the options, `others` the keys
/// beside them, for messages. Throws InputError.
void settle(ModelOptions& options, std::span<const LossEntry> losses, const std::string& path,
            const std::vector<std::string>& others);

}  // namespace polyhop

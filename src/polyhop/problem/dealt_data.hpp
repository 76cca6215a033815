// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "polyhop/problem/data_table.hpp"
#include "polyhop/problem/dataset.hpp"
#include "polyhop/problem/loss.hpp"
#include "polyhop/problem/partition.hpp"

namespace polyhop {

/// Samples dealt to agents, and what their numbers mean.
struct DealtData {
  Dataset data;
  std::vector<std::string> features;  // names, or empty
  std::string target;                 // its name, or empty
  std::vector<std::string> classes;   // names in the order of their numbers; empty where targets are no classes
};

/// Where samples come from: a bundled set by its name, one file that is dealt to the agents, or, where `file` holds
/// "{agent}", a file of each agent's own, agents numbered from 0.
struct DataSource {
  std::string bundled;
  std::string file;
  std::string target;  // the target's column, by name or number
  PartitionOptions partition;
};

/// Reads and deals. The targets become what the loss takes: -1 and 1 for two classes, 0, 1, ... for softmax, numbers
/// otherwise. Throws InputError, also for targets that the loss cannot take.
DealtData read_dealt(const DataSource& source, LossName loss, Index agents, std::uint64_t seed);

/// Every row divided by its norm; rows of zeros stay.
void scale_to_unit_rows(Dataset& data);

/// A last column of ones.
void add_intercept(Dataset& data);

}  // namespace polyhop
